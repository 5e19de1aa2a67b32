// Package jsontree holds one parsed JSON text as a flat, reusable tree of
// views into that text.
//
// Grammar and UTF-8 are judged by jsontext; this package only indexes what
// jsontext has accepted. A Tree keeps no copy of the text: every Node and every
// byte slice taken from one is valid until the next Parse of the same Tree or
// until the text changes. Duplicate member names are legal here and are
// remembered, because a recorder must show them rather than refuse them.
//
// Everything here is linear in the text, whatever it holds: peers are not trusted.
package jsontree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is the deepest nesting of arrays and objects that is accepted:
// deeper texts make other readers of our logs fail.
const MaxDepth = 1000

// Reasons for which a text is refused.
var (
	ErrSyntax = errors.New("not one JSON value in valid UTF-8")
	ErrDepth  = fmt.Errorf("nested deeper than %d", MaxDepth)
	ErrSize   = errors.New("too large to index")
)

// Kind is the kind of a JSON value: its first byte, except that all numbers
// are '0'. The zero Kind is that of an absent value.
type Kind byte

// The kinds of JSON values.
const (
	None   Kind = 0
	Null   Kind = 'n'
	False  Kind = 'f'
	True   Kind = 't'
	Number Kind = '0'
	String Kind = '"'
	Array  Kind = '['
	Object Kind = '{'
)

// node is a value, or a member name directly followed by its value.
type node struct {
	start, end int32 // extent of the exact text, quotes and brackets included
	next       int32 // index of the node after this one and all below it
	kind       Kind
	escaped    bool // a string with at least one backslash
}

// Tree is one parsed text. The zero Tree is ready to use.
type Tree struct {
	text  []byte
	nodes []node
	names nameTable // scratch of Node.Repeated
}

// Check reports whether text is one JSON value in valid UTF-8, nested no deeper
// than [MaxDepth]: the texts that may stand verbatim in a log. Duplicate names pass,
// and so do escapes of lone surrogates ("\ud83d"): JavaScript writes them for strings
// cut inside an emoji, and every peer reads them.
func Check(text []byte) error {
	if !valid(text) {
		return refusal(text)
	}
	if Deep(text) {
		return ErrDepth
	}
	return nil
}

func valid(text []byte) bool {
	if len(text) >= longText {
		return validLong(text)
	}
	// Half a surrogate pair is invalid UTF-8 to jsontext, to others it is not.
	return jsontext.Value(text).IsValid(allowDuplicates) ||
		utf8.Valid(text) && jsontext.Value(text).IsValid(allowDuplicates, allowSurrogates)
}

// What jsontext is told to pass. Surrogates come with bytes that are not UTF-8,
// so those must be looked for apart.
var (
	allowDuplicates = jsontext.AllowDuplicateNames(true)
	allowSurrogates = jsontext.AllowInvalidUTF8(true)
)

// refusal says why jsontext refused a text: it has a depth limit too, ten times ours.
func refusal(text []byte) error {
	if depth(text) > 10*MaxDepth {
		return ErrDepth
	}
	return ErrSyntax
}

// Deep reports whether a valid text is nested deeper than [MaxDepth].
func Deep(text []byte) bool {
	// Counting brackets runs at memory speed and settles all but odd texts.
	return bytes.Count(text, openBrace)+bytes.Count(text, openBracket) > MaxDepth && depth(text) > MaxDepth
}

var openBrace, openBracket = []byte("{"), []byte("[")

// depth returns the deepest nesting of a text. For invalid texts it is a guess.
func depth(text []byte) (deepest int) {
	at := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end, _ := stringEnd(text, i)
			i = end - 1
		case '{', '[':
			at++
			deepest = max(deepest, at)
		case '}', ']':
			at--
		}
	}
	return deepest
}

// Parse checks text and indexes it.
func (t *Tree) Parse(text []byte) error {
	if err := Check(text); err != nil {
		t.Reset()
		return err
	}
	return t.Index(text)
}

// Reset empties the tree and lets go of the text.
func (t *Tree) Reset() { t.text, t.nodes = nil, t.nodes[:0] }

// keepNodes is how many nodes a tree keeps for the next text whatever it is: 256 KiB.
const keepNodes = 1 << 14

// Index indexes a text that [Check] has accepted; it must not be called with any
// other. It fails only for texts of 2 GiB and more.
func (t *Tree) Index(text []byte) error {
	t.Reset()
	if len(text) > math.MaxInt32 {
		return ErrSize
	}
	// Memory that a huge text needed is kept only while texts come that may need it.
	if cap(t.nodes) > keepNodes && cap(t.nodes)/2 > len(text) {
		t.nodes, t.names = nil, nameTable{}
	}
	t.text = text
	t.index(text)
	return nil
}

// index appends a node for every value and member name. Open containers form a
// stack threaded through their own next fields.
func (t *Tree) index(text []byte) {
	nodes := t.nodes
	open := int32(-1) // innermost open container
	for i := 0; i < len(text); {
		c := text[i]
		switch c {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		case '}', ']':
			i++
			o := &nodes[open]
			up := o.next
			o.end, o.next = int32(i), int32(len(nodes))
			open = up
			continue
		case '{', '[':
			nodes = append(nodes, node{start: int32(i), next: open, kind: Kind(c)})
			open = int32(len(nodes) - 1)
			i++
			continue
		}
		end, kind, escaped := i, Kind(c), false
		switch c {
		case '"':
			end, escaped = stringEnd(text, i)
		case 't', 'n':
			end += 4
		case 'f':
			end += 5
		default:
			kind = Number
			for end < len(text) && !delimiter[text[end]] {
				end++
			}
		}
		nodes = append(nodes, node{start: int32(i), end: int32(end), next: int32(len(nodes) + 1), kind: kind, escaped: escaped})
		i = end
	}
	t.nodes = nodes
}

var delimiter = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, ':': true, '}': true, ']': true}

// stringEnd returns the index after the closing quote of the string at text[i],
// and whether a backslash stands in it.
func stringEnd(text []byte, i int) (end int, escaped bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i++; ; {
		// Eight bytes at a time: the lowest high bit left in hit marks the first
		// quote or backslash.
		for i+8 <= len(text) {
			word := binary.LittleEndian.Uint64(text[i:])
			quote, slash := word^('"'*ones), word^('\\'*ones)
			hit := ((quote-ones)&^quote | (slash-ones)&^slash) & highs
			if hit != 0 {
				i += bits.TrailingZeros64(hit) / 8
				break
			}
			i += 8
		}
		for i < len(text) && text[i] != '"' && text[i] != '\\' {
			i++
		}
		switch {
		case i >= len(text): // not in a valid text
			return len(text), escaped
		case text[i] == '"':
			return i + 1, escaped
		}
		escaped = true
		i += 2
	}
}

// Root returns the value of the whole text, or an absent Node for an empty Tree.
func (t *Tree) Root() Node {
	if len(t.nodes) == 0 {
		return Node{}
	}
	return Node{t, 0}
}
