package jsontree

import (
	"bytes"
	"hash/maphash"
)

// pairwise is up to how many members names are compared without a table.
const pairwise = 32

// Repeated returns the first member name that stands a second time in the object n.
func (n Node) Repeated() (string, bool) {
	if n.Kind() != Object {
		return "", false
	}
	return n.t.nameAt(n.t.repeated(n.i))
}

// AnyRepeated returns the first member name that stands a second time in one
// object, anywhere at or below n.
func (n Node) AnyRepeated() (string, bool) {
	if n.t == nil {
		return "", false
	}
	for i, end := n.i, n.node().next; i < end; i++ {
		if n.t.nodes[i].kind != Object {
			continue
		}
		if name := n.t.repeated(i); name != 0 {
			return n.t.nameAt(name)
		}
	}
	return "", false
}

func (t *Tree) nameAt(i int32) (string, bool) {
	if i == 0 {
		return "", false
	}
	return Name{Node{t, i}}.String(), true
}

// repeated returns the node of the first name in an object that stands there a
// second time, or 0, which is no name. A bit for (length, first byte, last byte)
// settles most names without looking back.
func (t *Tree) repeated(object int32) int32 {
	var seen uint64
	first, end := object+1, t.nodes[object].next
	for i, count := first, 0; i < end; count++ {
		k := &t.nodes[i]
		if k.escaped || count == pairwise {
			return t.repeatedOfMany(object)
		}
		name := t.text[k.start:k.end] // quotes included
		bit := uint64(1) << ((len(name) + 5*int(name[1]) + 7*int(name[len(name)-2])) & 63)
		if seen&bit != 0 {
			for j := first; j < i; j = t.nodes[t.nodes[j].next].next {
				if o := &t.nodes[j]; bytes.Equal(t.text[o.start:o.end], name) {
					return i
				}
			}
		}
		seen |= bit
		i = t.nodes[k.next].next
	}
	return 0
}

// repeatedOfMany is repeated for objects of any size and names of any spelling.
func (t *Tree) repeatedOfMany(object int32) int32 {
	t.names.reset(Node{t, object}.Len())
	for i, end := object+1, t.nodes[object].next; i < end; i = t.nodes[t.nodes[i].next].next {
		hash := t.names.hash(t, i)
		for at := hash; ; at++ {
			s := &t.names.slots[at&uint64(len(t.names.slots)-1)]
			if s.name == 0 {
				*s = nameSlot{name: i, tag: uint32(hash >> 32)}
				break
			}
			if s.tag == uint32(hash>>32) && (Name{Node{t, i}}).Equal(Name{Node{t, s.name}}) {
				return i
			}
		}
	}
	return 0
}

// nameTable is a hash table of the names of one object. Peers do not know its
// seed, so they cannot choose names that collide.
type nameTable struct {
	seed  maphash.Seed
	slots []nameSlot // a power of two, at most half of them taken
	buf   []byte
}

type nameSlot struct {
	name int32  // node of the name, 0 if the slot is free
	tag  uint32 // upper half of its hash
}

func (n *nameTable) reset(count int) {
	if n.seed == (maphash.Seed{}) {
		n.seed = maphash.MakeSeed()
	}
	size := 2 * pairwise
	for size < 2*count {
		size *= 2
	}
	if size > cap(n.slots) {
		n.slots = make([]nameSlot, size)
		return
	}
	n.slots = n.slots[:size]
	clear(n.slots)
}

func (n *nameTable) hash(t *Tree, name int32) uint64 {
	k := &t.nodes[name]
	if !k.escaped {
		return maphash.Bytes(n.seed, t.text[k.start+1:k.end-1])
	}
	n.buf = appendUnquote(n.buf[:0], t.text[k.start:k.end])
	return maphash.Bytes(n.seed, n.buf)
}
