package tracectx

import (
	"bytes"
	"fmt"
)

// Limits of a tracestate.
const (
	MaxMembers = 32
	maxKey     = 256
	maxValue   = 256
)

// Member is one entry of a tracestate, which a tracing system keeps under its key.
type Member struct{ Key, Value string }

// ParseState reads a tracestate by level 2 of the specification, the wider one: keys may begin
// with a digit and hold one or several @. Members without text between their commas
// are allowed and not counted.
func ParseState(tracestate []byte) ([]Member, error) {
	var list []Member
	for part := range bytes.SplitSeq(tracestate, []byte{','}) {
		part = trim(part)
		if len(part) == 0 {
			continue
		}
		key, value, ok := bytes.Cut(part, []byte{'='})
		switch {
		case !ok:
			return nil, fmt.Errorf("has a member without an equals sign: %q", clip(part))
		case !isKey(key):
			return nil, fmt.Errorf("has a key that its grammar does not allow: %q", clip(key))
		case !isValue(value):
			return nil, fmt.Errorf("has a value that its grammar does not allow, under the key %q", clip(key))
		case len(list) == MaxMembers:
			return nil, fmt.Errorf("has more than %d members", MaxMembers)
		}
		for _, known := range list {
			if known.Key == string(key) {
				return nil, fmt.Errorf("has the key %q twice", clip(key))
			}
		}
		list = append(list, Member{string(key), string(value)})
	}
	return list, nil
}

// trim takes the spaces and tabs off that may stand around a member.
func trim(text []byte) []byte { return bytes.Trim(text, " \t") }

func isKey(key []byte) bool {
	if len(key) == 0 || len(key) > maxKey || !isLower(key[0]) && !isDigit(key[0]) {
		return false
	}
	for _, c := range key {
		if !isLower(c) && !isDigit(c) && bytes.IndexByte([]byte("_-*/@"), c) < 0 {
			return false
		}
	}
	return true
}

// isValue reports whether a value whose outer space is gone fits: printable ASCII but comma
// and equals sign, and something of it.
func isValue(value []byte) bool {
	if len(value) == 0 || len(value) > maxValue {
		return false
	}
	for _, c := range value {
		if c < ' ' || c > '~' || c == '=' {
			return false
		}
	}
	return true
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// clip shortens what is quoted in an error.
func clip(text []byte) []byte {
	const maxQuoted = 64
	return text[:min(len(text), maxQuoted)]
}

// CheckBaggage reports whether a baggage value is what the grammar of W3C Baggage allows:
// key=value members with commas between them, each followed by properties
// if it has any. Limits of size bind those who pass it on, and are not looked at.
func CheckBaggage(baggage []byte) error {
	for part := range bytes.SplitSeq(baggage, []byte{','}) {
		if part = trim(part); len(part) == 0 {
			continue
		}
		first := true
		for pair := range bytes.SplitSeq(part, []byte{';'}) {
			key, value, ok := bytes.Cut(trim(pair), []byte{'='})
			key, value = trim(key), trim(value)
			switch {
			case !isToken(key):
				return fmt.Errorf("has a key that is no token: %q", clip(key))
			case first && !ok:
				return fmt.Errorf("has a member without an equals sign: %q", clip(part))
			case !isBaggageValue(value):
				return fmt.Errorf("has a value that is not percent-encoded, under the key %q", clip(key))
			}
			first = false
		}
	}
	return nil
}

// isToken reports whether text is a token of HTTP.
func isToken(text []byte) bool {
	for _, c := range text {
		if !isLower(c|0x20) && !isDigit(c) && bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) < 0 {
			return false
		}
	}
	return len(text) > 0
}

// isBaggageValue reports whether all of text may stand in a value as it is.
func isBaggageValue(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' || bytes.IndexByte([]byte(`",;\`), c) >= 0 {
			return false
		}
	}
	return true
}
