package term

import (
	"strconv"
	"unicode/utf8"
)

// Escape returns text, which may come from a peer, as it may be printed: on one
// line, and with nothing in it that a terminal would obey.
//
// Line feed, carriage return and tab become \n, \r and \t. Other controls, format
// characters (joiners, direction marks, tags), line and paragraph separators,
// unassigned and private code points become \u{1b}; bytes that are no UTF-8 become
// \x{ff}. All else stays, the backslash too: what is shown reads well and may be
// escaped again without harm, but cannot be turned back.
func Escape(text string) string {
	clean := cleanLen(text)
	if clean == len(text) {
		return text
	}
	dst := make([]byte, 0, len(text)+len(text)/4+16)
	return string(AppendEscape(append(dst, text[:clean]...), text[clean:]))
}

// AppendEscape is [Escape] for text that comes in pieces. A piece must not end
// inside a character.
func AppendEscape(dst []byte, text string) []byte {
	for {
		clean := cleanLen(text)
		dst = append(dst, text[:clean]...)
		if text = text[clean:]; text == "" {
			return dst
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == utf8.RuneError && size == 1:
			dst = appendHex(dst, 'x', uint64(text[0]))
		default:
			dst = appendHex(dst, 'u', uint64(r))
		}
		text = text[size:]
	}
}

func appendHex(dst []byte, letter byte, value uint64) []byte {
	return append(strconv.AppendUint(append(dst, '\\', letter, '{'), value, 16), '}')
}

// cleanLen returns how many bytes at the start of text may stay as they are.
func cleanLen(text string) int {
	for n := 0; n < len(text); {
		if c := text[n]; c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f {
				return n
			}
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[n:])
		if r == utf8.RuneError && size == 1 || !strconv.IsGraphic(r) {
			return n
		}
		n += size
	}
	return len(text)
}
