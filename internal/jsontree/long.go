package jsontree

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Large texts are large because of a few long strings. Those are judged here, eight
// bytes at a time; jsontext judges the rest of the text, in which each of them
// stands as "". That changes no verdict: up to its first fault a text is cut into
// strings here just as jsontext would cut it, and behind that nothing matters.

const (
	longText   = 4 << 10 // texts below go to jsontext as they are
	longString = 64      // strings below do
)

var outlines = sync.Pool{New: func() any { return new([]byte) }}

// keepOutline is how much memory an outline keeps for the next text.
const keepOutline = 1 << 20

// validLong is the verdict on a large text.
func validLong(text []byte) bool {
	held := outlines.Get().(*[]byte)
	defer outlines.Put(held)
	outline, ok := appendOutline((*held)[:0], text)
	if cap(outline) <= keepOutline {
		*held = outline
	}
	return ok && jsontext.Value(outline).IsValid(allowDuplicates, allowSurrogates)
}

// appendOutline appends text with its strings emptied, where they are long. It
// returns false if one of the strings is not valid.
func appendOutline(dst, text []byte) ([]byte, bool) {
	for {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			// What is no string is ASCII, or jsontext refuses it.
			return append(dst, text...), true
		}
		end, ok := validString(text, quote+1)
		if !ok {
			return dst, false
		}
		dst = append(dst, text[:quote]...)
		if s := text[quote:end]; len(s) < longString {
			dst = append(dst, s...)
		} else {
			dst = append(dst, `""`...)
		}
		text = text[end:]
	}
}

const (
	each  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special returns a word whose lowest set bit is in the first of eight bytes that is
// a control character, a quote, a backslash or no ASCII; 0 if none is.
func special(w uint64) uint64 {
	quote, slash := w^each*'"', w^each*'\\'
	return (w | (w - each*' ') | (quote - each) | (slash - each)) & highs
}

// validString returns the end of the string whose content begins at i, behind the
// closing quote, and whether it is a JSON string in valid UTF-8.
func validString(text []byte, i int) (end int, ok bool) {
	for {
		for i+8 <= len(text) {
			m := special(binary.LittleEndian.Uint64(text[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
			break
		}
		if i >= len(text) {
			return i, false
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1, true
		case c == '\\':
			n := escapeLen(text[i+1:])
			if n == 0 {
				return i, false
			}
			i += 1 + n
		case c < ' ':
			return i, false
		case c < 0x80:
			i++
		default:
			n := runeLen(text[i:])
			if n == 0 {
				return i, false
			}
			i += n
		}
	}
}

// escapeLen returns how long an escape is, backslash excluded; 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) >= 5 && hexDigit[b[1]]&hexDigit[b[2]]&hexDigit[b[3]]&hexDigit[b[4]] != 0 {
			return 5
		}
	}
	return 0
}

var hexDigit = func() (t [256]byte) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		t[c] = 1
	}
	return t
}()

// runeLen returns the length of the character of several bytes that b begins with; 0
// if it is not valid UTF-8.
func runeLen(b []byte) int {
	switch c := b[0]; {
	case c < 0xC2:
		return 0
	case c < 0xE0:
		if len(b) >= 2 && follows(b[1]) {
			return 2
		}
	case c < 0xF0:
		if len(b) >= 3 && follows(b[1]) && follows(b[2]) && (c != 0xE0 || b[1] >= 0xA0) && (c != 0xED || b[1] < 0xA0) {
			return 3
		}
	case c < 0xF5:
		if len(b) >= 4 && follows(b[1]) && follows(b[2]) && follows(b[3]) && (c != 0xF0 || b[1] >= 0x90) && (c != 0xF4 || b[1] < 0x90) {
			return 4
		}
	}
	return 0
}

func follows(c byte) bool { return c&0xC0 == 0x80 }
