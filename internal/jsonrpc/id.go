package jsonrpc

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"mcpsnoop/internal/jsontree"
)

// maxIDDigits bounds what is looked at in an id that is a number, and its exponent.
const maxIDDigits = 512

func idDefects(id jsontree.Node) Defects {
	switch id.Kind() {
	case jsontree.String:
		return 0
	case jsontree.Number:
		if !IsIntegerID(id) {
			return FracID
		}
		return 0
	case jsontree.Null:
		return NullID
	}
	return BadID
}

// IsIntegerID reports whether an id that is a number is an integer. Its value
// decides: 1.0 and 1e3 are. A number of more than 512 bytes, or beyond what a
// double holds (1e400), is none that a peer could send back, and is refused unread.
func IsIntegerID(id jsontree.Node) bool {
	text := id.Text()
	if len(text) <= 15 && isDigits(text) {
		return true
	}
	if len(text) > maxIDDigits || !id.IsInt() {
		return false
	}
	_, ok := id.Float()
	return ok
}

func isDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// IDKey returns what ids are compared by and calls are kept under, given the exact
// JSON text of an id. Two ids are the same if their keys are.
//
// The key is the text itself: 1, "1" and 1.0 are three ids, since peers send an id
// back as they got it and compare what they sent. Strings alone are rewritten, and
// only if they have escapes, to the one shortest spelling: "\u0031" has the key "1"
// and "a\/b" the key "a/b". (A string with half a surrogate pair stands for no text
// and keeps its own spelling.)
//
// The key is id itself or new memory, never a view of anything else.
func IDKey(id []byte) []byte {
	if len(id) < 2 || id[0] != '"' || bytes.IndexByte(id, '\\') < 0 {
		return id
	}
	text, err := jsontext.AppendUnquote(nil, id)
	if err != nil {
		return id
	}
	key, err := jsontext.AppendQuote(make([]byte, 0, len(id)), text)
	if err != nil {
		return id
	}
	return key
}
