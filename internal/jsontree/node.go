package jsontree

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Node is one value of a [Tree]. The zero Node stands for an absent value: every
// method may be called on it and says "nothing". Nodes are compared with ==.
type Node struct {
	t *Tree
	i int32
}

// Exists reports whether the value is present (null is).
func (n Node) Exists() bool { return n.t != nil }

func (n Node) node() *node { return &n.t.nodes[n.i] }

// Kind returns the kind of the value, [None] for an absent one.
func (n Node) Kind() Kind {
	if n.t == nil {
		return None
	}
	return n.node().kind
}

// Text returns the exact JSON text of the value; nil for an absent one.
func (n Node) Text() []byte {
	if n.t == nil {
		return nil
	}
	v := n.node()
	return n.t.text[v.start:v.end:v.end]
}

// Offset returns where the value starts in the parsed text.
func (n Node) Offset() int {
	if n.t == nil {
		return 0
	}
	return int(n.node().start)
}

// Members yields the names and values of an object in the order sent; repeated
// names come as often as they stand. Any other value yields nothing.
func (n Node) Members() iter.Seq2[Name, Node] {
	return func(yield func(Name, Node) bool) {
		if n.Kind() != Object {
			return
		}
		for i, end := n.i+1, n.node().next; i < end; {
			value := n.t.nodes[i].next // a name has nothing below it
			if !yield(Name{Node{n.t, i}}, Node{n.t, value}) {
				return
			}
			i = n.t.nodes[value].next
		}
	}
}

// Elements yields the values of an array. Any other value yields nothing.
func (n Node) Elements() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != Array {
			return
		}
		for i, end := n.i+1, n.node().next; i < end; i = n.t.nodes[i].next {
			if !yield(Node{n.t, i}) {
				return
			}
		}
	}
}

// Len returns the number of members or elements.
func (n Node) Len() (count int) {
	if k := n.Kind(); k != Object && k != Array {
		return 0
	}
	for i, end := n.i+1, n.node().next; i < end; count++ {
		if n.Kind() == Object {
			i = n.t.nodes[i].next
		}
		i = n.t.nodes[i].next
	}
	return count
}

// Get returns the member of that name; of several the last, which is the one
// common parsers keep. It is absent if there is none or n is no object.
func (n Node) Get(name string) (found Node) {
	if n.Kind() != Object {
		return Node{}
	}
	nodes, text := n.t.nodes, n.t.text
	for i, end := n.i+1, nodes[n.i].next; i < end; {
		k := &nodes[i]
		if k.escaped {
			if (Name{Node{n.t, i}}).Is(name) {
				found = Node{n.t, k.next}
			}
		} else if int(k.end-k.start) == len(name)+2 && string(text[k.start+1:k.end-1]) == name {
			found = Node{n.t, k.next}
		}
		i = nodes[k.next].next
	}
	return found
}

// Path follows names down from n.
func (n Node) Path(names ...string) Node {
	for _, name := range names {
		n = n.Get(name)
	}
	return n
}

// Str returns the unescaped text of a string, "" and false for any other value.
func (n Node) Str() (string, bool) {
	if n.Kind() != String {
		return "", false
	}
	return string(n.unquoted()), true
}

// StrBytes is [Node.Str] without a copy where the string has no escapes.
func (n Node) StrBytes() ([]byte, bool) {
	if n.Kind() != String {
		return nil, false
	}
	return n.unquoted(), true
}

// Float returns the value of a number, false beyond what a float64 can hold.
func (n Node) Float() (float64, bool) {
	if n.Kind() != Number {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(n.Text()), 64)
	if err != nil {
		return 0, false // not the infinity that comes with the error
	}
	return v, true
}

// Bool returns the value and whether n is a boolean at all.
func (n Node) Bool() (value, ok bool) {
	k := n.Kind()
	return k == True, k == True || k == False
}

// Name is the name of an object member.
type Name struct{ n Node }

// Is reports whether the name, unescaped, is s.
func (k Name) Is(s string) bool {
	v, t := k.n.node(), k.n.t
	if !v.escaped {
		return string(t.text[v.start+1:v.end-1]) == s
	}
	// An escape is at most six bytes for one of s.
	if inner := int(v.end - v.start - 2); inner < len(s) || inner > 6*len(s) {
		return false
	}
	return string(unquote(t.text[v.start:v.end])) == s
}

// Equal reports whether two names are the same once unescaped.
func (k Name) Equal(other Name) bool { return bytes.Equal(k.Bytes(), other.Bytes()) }

// Bytes returns the unescaped name, without a copy where it has no escapes.
func (k Name) Bytes() []byte { return k.n.unquoted() }

// String returns the unescaped name.
func (k Name) String() string { return string(k.n.unquoted()) }

// unquoted returns the text of a string, aliasing it if it has no escapes.
func (n Node) unquoted() []byte {
	v := n.node()
	if v.escaped {
		return appendUnquote(nil, n.t.text[v.start:v.end])
	}
	return n.t.text[v.start+1 : v.end-1 : v.end-1]
}

// unquote returns the text of a valid JSON string, aliasing it if it has no escapes.
func unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return appendUnquote(nil, quoted)
}

// appendUnquote appends the text of a valid JSON string; U+FFFD stands in the
// place of half a surrogate pair.
func appendUnquote(dst, quoted []byte) []byte {
	dst, _ = jsontext.AppendUnquote(dst, quoted)
	return dst
}
