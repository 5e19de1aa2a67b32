package session

import "math/bits"

// fate is what is remembered of something that was open once: an id of a request,
// or a progress token.
type fate uint8

// The fates. fateToken may be added: the request's progress token was its id, as
// most clients have it, so that the token needs no entry of its own.
const (
	fateNone      fate = iota
	fateAnswered       // by a result, an error or a refusal
	fateCancelled      // given up; no answer so far
	fateOpen           // let go of while it was open
	fateAsked          // let go of while it was open; a server's request
	fateClosed         // superseded, abandoned, refused by an HTTP status, or a token's request is over
	fateMask      = 7
	fateToken     = 8
)

// seen remembers the fates of hashed keys: 8 bytes each, 12 with an index, at
// most 1/0.85 × 1.2 times that in all. It is an open-addressing table, once it is large
// in parts, so that growing moves little at once.
type seen struct {
	parts []seenPart // none, one, or seenParts
	index bool       // remember an index with each key
}

const (
	seenParts = 64
	seenFew   = 1024 // keys that stand in one part
	seenFill  = 85   // per cent, at which a part grows by a fifth
)

type seenPart struct {
	slots []uint64 // hash, its low bits replaced by the fate; 0 is empty
	index []int32
	n     int
}

const fateBits = 4

// locate returns the part of a hash and the key its slots hold.
func (s *seen) locate(hash uint64) (*seenPart, uint64) {
	return &s.parts[hash>>fateBits&uint64(len(s.parts)-1)], hash &^ (1<<fateBits - 1)
}

// slot returns where a key stands or would stand.
func (p *seenPart) slot(key uint64) int {
	hi, _ := bits.Mul64(key, uint64(len(p.slots)))
	for i := int(hi); ; i++ {
		if i == len(p.slots) {
			i = 0
		}
		if v := p.slots[i]; v == 0 || v&^(1<<fateBits-1) == key {
			return i
		}
	}
}

// put remembers, or replaces, the fate of a hash.
func (s *seen) put(hash uint64, f fate, index int32) {
	if len(s.parts) == 0 {
		s.parts = make([]seenPart, 1)
	}
	p, key := s.locate(hash)
	if p.n == seenFew && len(s.parts) == 1 {
		s.divide()
		p, key = s.locate(hash)
	}
	if p.n*100 >= len(p.slots)*seenFill {
		p.grow(s.index)
	}
	i := p.slot(key)
	if p.slots[i] == 0 {
		p.n++
	}
	p.slots[i] = key | uint64(f)
	if s.index {
		p.index[i] = index
	}
}

// get returns the fate of a hash, fateNone if there is none; index is -1 unless
// indexes are kept.
func (s *seen) get(hash uint64) (f fate, index int32) {
	if len(s.parts) == 0 {
		return fateNone, -1
	}
	p, key := s.locate(hash)
	if p.n == 0 {
		return fateNone, -1
	}
	i := p.slot(key)
	if p.slots[i] == 0 {
		return fateNone, -1
	}
	index = -1
	if s.index {
		index = p.index[i]
	}
	return fate(p.slots[i] & (1<<fateBits - 1)), index
}

// divide divides the one part there is.
func (s *seen) divide() {
	old := s.parts[0]
	s.parts = make([]seenPart, seenParts)
	for i, v := range old.slots {
		if v == 0 {
			continue
		}
		index := int32(-1)
		if s.index {
			index = old.index[i]
		}
		s.put(v, fate(v&(1<<fateBits-1)), index)
	}
}

func (p *seenPart) grow(withIndex bool) {
	old, oldIndex := p.slots, p.index
	size := max(8, len(old)+len(old)/5)
	p.slots = make([]uint64, size)
	if withIndex {
		p.index = make([]int32, size)
	}
	for i, v := range old {
		if v == 0 {
			continue
		}
		to := p.slot(v &^ (1<<fateBits - 1))
		p.slots[to] = v
		if withIndex {
			p.index[to] = oldIndex[i]
		}
	}
}
