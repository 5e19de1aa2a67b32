package session

import (
	"strings"
	"unicode/utf8"
)

// Limits of texts that are kept, in bytes.
const (
	maxIDText     = 1024
	maxTarget     = 512
	maxReason     = 200
	maxError      = 300
	maxProgress   = 200
	maxCapability = 1 << 20
	maxSelf       = 64 << 10 // instructions, and what a peer calls itself
)

// texts makes strings of short-lived bytes, many to one allocation.
type texts struct{ block *strings.Builder }

const textBlock = 4096

func (t *texts) of(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > textBlock/4 {
		return string(b)
	}
	if t.block == nil || t.block.Cap()-t.block.Len() < len(b) {
		t.block = new(strings.Builder)
		t.block.Grow(textBlock)
	}
	// Within its capacity a Builder never moves nor changes what it holds.
	start := t.block.Len()
	t.block.Write(b)
	return t.block.String()[start:]
}

// cut shortens a text to n bytes, not within a character.
func cut(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// names gives equal names one string and a number: methods, and what they name.
// Beyond maxNames each name is a string of its own.
type names struct {
	index map[string]uint32
	list  []string // list[0] is ""
	keep  bool     // number the names beyond maxNames too
}

const maxNames = 1 << 14

func newNames(keep bool) names {
	return names{index: map[string]uint32{"": 0}, list: []string{""}, keep: keep}
}

// of returns the number of a name, and the name.
func (n *names) of(name []byte, t *texts) (uint32, string) {
	if i, ok := n.index[string(name)]; ok {
		return i, n.list[i]
	}
	s := t.of(name)
	return n.add(s), s
}

// ofString is of for a name that is a string already.
func (n *names) ofString(name string) uint32 {
	if i, ok := n.index[name]; ok {
		return i
	}
	return n.add(name)
}

func (n *names) add(s string) uint32 {
	fits := len(n.index) < maxNames
	if !fits && !n.keep {
		return 0
	}
	i := uint32(len(n.list))
	n.list = append(n.list, s)
	if fits {
		n.index[s] = i
	}
	return i
}
