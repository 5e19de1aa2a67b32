package jsontree

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Scanner reads the members of one object in the order sent and judges the text
// as it goes: every byte once, nested values as a whole. It is for texts of which
// only the top level is wanted, and accepts what [Check] accepts, except that each
// member may be as deep as jsontext allows; [Deep] tells which are deeper than
// MaxDepth.
//
// The zero Scanner is ready for Reset. Slices are views of the text.
type Scanner struct {
	text        []byte
	at          int // first byte not yet read
	colon       int // first byte after the colon before the value
	first, done bool
	name, value []byte
	plain       bool // the value is a string without escapes
	err         error
	dec         jsontext.Decoder
	buf         bytes.Buffer
}

// Reset makes the scanner start on text.
func (s *Scanner) Reset(text []byte) {
	s.text, s.at, s.first, s.done, s.err = text, 0, true, false, nil
	s.name, s.value = nil, nil
}

// Err says why Next returned false: nil at the end of an object that was all right.
func (s *Scanner) Err() error { return s.err }

// Name returns the unescaped name of the member.
func (s *Scanner) Name() []byte { return s.name }

// Text returns the exact text of the value.
func (s *Scanner) Text() []byte { return s.value }

// Spaced returns the text of the value with the space around it.
func (s *Scanner) Spaced() []byte {
	end := s.space(s.at)
	return s.text[s.colon:end:end]
}

// Kind returns the kind of the value.
func (s *Scanner) Kind() Kind {
	switch c := s.value[0]; c {
	case '"', '{', '[', 't', 'f', 'n':
		return Kind(c)
	}
	return Number
}

// Escaped reports whether a value that is a string has escapes.
func (s *Scanner) Escaped() bool { return !s.plain && bytes.IndexByte(s.value, '\\') >= 0 }

// StrBytes returns the unescaped text of a value that is a string, without a copy
// where it has no escapes.
func (s *Scanner) StrBytes() []byte {
	if s.Escaped() {
		return s.AppendStr(nil)
	}
	return s.value[1 : len(s.value)-1]
}

// AppendStr appends the unescaped text of a value that is a string.
func (s *Scanner) AppendStr(dst []byte) []byte {
	dst, _ = jsontext.AppendUnquote(dst, s.value) // half a surrogate pair becomes U+FFFD
	return dst
}

// Next goes to the next member and reports whether there is one.
func (s *Scanner) Next() bool {
	if s.done || s.err != nil {
		return false
	}
	i := s.space(s.at)
	switch {
	case s.first:
		if s.byteAt(i) != '{' {
			return s.fail(i)
		}
		s.first = false
		if i = s.space(i + 1); s.byteAt(i) == '}' {
			return s.end(i + 1)
		}
	case s.byteAt(i) == '}':
		return s.end(i + 1)
	case s.byteAt(i) != ',':
		return s.fail(i)
	default:
		i = s.space(i + 1)
	}
	return s.member(i)
}

// member reads a name, a colon and a value.
func (s *Scanner) member(i int) bool {
	if s.byteAt(i) != '"' {
		return s.fail(i)
	}
	s.plain = false
	end := plainString(s.text, i)
	if end > 0 {
		s.name = s.text[i+1 : end-1]
	} else {
		if end = s.nested(i); end < 0 {
			return s.fail(i)
		}
		s.value = s.text[i:end]
		s.name = s.StrBytes()
	}
	if i = s.space(end); s.byteAt(i) != ':' {
		return s.fail(i)
	}
	s.colon = i + 1
	i = s.space(s.colon)
	if end = s.valueEnd(i); end < 0 {
		return s.fail(i)
	}
	s.value, s.at = s.text[i:end:end], end
	return true
}

// valueEnd returns the index after the value at i, or -1. Plain strings, integers
// and literals are settled here, the rest by jsontext.
func (s *Scanner) valueEnd(i int) int {
	s.plain = false
	switch c := s.byteAt(i); c {
	case '"':
		if end := plainString(s.text, i); end > 0 {
			s.plain = true
			return end
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end := i + 1
		for c = s.byteAt(end); c >= '0' && c <= '9'; c = s.byteAt(end) {
			end++
		}
		if c != '.' && c != 'e' && c != 'E' {
			return end
		}
	case 't', 'f', 'n':
		for _, literal := range literals {
			if bytes.HasPrefix(s.text[i:], literal) {
				return i + len(literal)
			}
		}
		return -1
	}
	return s.nested(i)
}

var literals = [...][]byte{[]byte("true"), []byte("false"), []byte("null")}

// nested returns the index after the value at i, which jsontext judges, or -1.
func (s *Scanner) nested(i int) int {
	if i >= len(s.text) {
		return -1
	}
	s.buf = *bytes.NewBuffer(s.text[i:])
	s.dec.Reset(&s.buf, allowDuplicates)
	value, err := s.dec.ReadValue()
	if err == nil {
		return i + len(value)
	}
	s.buf = *bytes.NewBuffer(s.text[i:]) // see Check: half a surrogate pair is no reason to refuse
	s.dec.Reset(&s.buf, allowDuplicates, allowSurrogates)
	if value, err = s.dec.ReadValue(); err != nil || !utf8.Valid(value) {
		return -1
	}
	return i + len(value)
}

func (s *Scanner) space(i int) int {
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\t' || s.text[i] == '\r' || s.text[i] == '\n') {
		i++
	}
	return i
}

// byteAt returns 0, which stands nowhere in JSON, beyond the end of the text.
func (s *Scanner) byteAt(i int) byte {
	if i < len(s.text) {
		return s.text[i]
	}
	return 0
}

func (s *Scanner) end(i int) bool {
	if i = s.space(i); i < len(s.text) {
		return s.fail(i)
	}
	s.done = true
	return false
}

func (s *Scanner) fail(i int) bool {
	if s.err = fmt.Errorf("%w: unexpected byte %q at %d", ErrSyntax, s.byteAt(i), i); i >= len(s.text) {
		s.err = fmt.Errorf("%w: unexpected end", ErrSyntax)
	}
	return false
}

// plainString returns the index after the string at text[i] if it holds nothing
// but printable ASCII without escapes, else -1.
func plainString(text []byte, i int) int {
	for i++; i < len(text) && plain[text[i]]; i++ {
	}
	if i < len(text) && text[i] == '"' {
		return i + 1
	}
	return -1
}

var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()
