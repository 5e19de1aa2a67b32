package term

import (
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a writer for JSON that is to be shown on a terminal. What [Escape]
// would not let pass can stand in its strings only, where it becomes \u009b and the
// like: another spelling of the same. Carriage returns and tabs between tokens become
// blanks.
func JSON(w io.Writer) io.Writer { return &jsonWriter{w: w} }

type jsonWriter struct {
	w    io.Writer
	rest []byte // of a character that is not yet complete
	buf  []byte
}

func (j *jsonWriter) Write(p []byte) (int, error) {
	text := p
	if len(j.rest) > 0 {
		text = append(j.rest, p...)
	}
	j.buf = j.buf[:0]
	for len(text) > 0 {
		if c := text[0]; c < utf8.RuneSelf {
			j.ascii(c)
			text = text[1:]
			continue
		}
		if !utf8.FullRune(text) {
			break
		}
		r, size := utf8.DecodeRune(text)
		if strconv.IsGraphic(r) {
			j.buf = append(j.buf, text[:size]...)
		} else {
			j.escape(r)
		}
		text = text[size:]
	}
	j.rest = append([]byte(nil), text...)
	if _, err := j.w.Write(j.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (j *jsonWriter) ascii(c byte) {
	switch {
	case c == '\r' || c == '\t':
		j.buf = append(j.buf, ' ')
	case c < ' ' && c != '\n' || c == 0x7f:
		j.escape(rune(c))
	default:
		j.buf = append(j.buf, c)
	}
}

// escape writes a character as JSON escapes it, as two halves where one is not enough.
func (j *jsonWriter) escape(r rune) {
	const hex = "0123456789abcdef"
	for _, unit := range utf16.AppendRune(nil, r) {
		j.buf = append(j.buf, '\\', 'u', hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
	}
}
