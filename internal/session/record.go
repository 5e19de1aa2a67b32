package session

import (
	"mcpsnoop/internal/capture"
)

// call is the working record of a call: the call as it is shown, and what the parts
// need to go on with it. Records are used again once their call is settled.
type call struct {
	Call
	links [rings]link
	ring  [rings]*ring // the rings it is in

	s         *conversation
	who       who
	id        uint64    // hash of direction and id in force; 0 if it has none to be found by
	keys      [2]uint64 // under which it stands in conversation.open
	token     uint64    // under which it stands in conversation.tokens, 0 if it does not
	tokenIsID bool      // its token and its id are one text
	waiting   wait      // for input
	task      taskState
	paged     bool // a list request that names a cursor
	trace     int  // number of the trace that its last request belongs to, 0 if none
	batch     bool // its request is one element of a batch that a recorder took apart
	settled   bool // handed over, or about to be
	given     bool // handed over

	idText, methodName, targetName uint32
	requestAt, responseAt          int32 // indexes of messages, -1 if none or not kept
	endAt, signAt                  int32
	keptTrace                      uint32
	signs                          uint32 // frames of the answering side before it began

	// What the pointers of Call point into.
	cancel   Cancel
	cut      Cut
	progress Progress
	told     Task
	stream   Stream
	legs     []Leg
}

// ring is a list of calls, oldest first, of which any can leave at once. A call can
// be in one ring of each kind.
type ring struct {
	first, last *call
	n           int
}

type link struct{ prev, next *call }

// The kinds of rings.
const (
	byAge   = iota // open, or no longer open but not settled either
	byAll          // the same over all sessions
	byID           // calls of one direction and id, whoever asked
	byGroup        // requests of one HTTP exchange
	byState        // calls that wait for input, by their requestState
	byInput        // the same by what they wait for
	rings
)

func (r *ring) push(kind int, c *call) {
	c.ring[kind] = r
	c.links[kind] = link{prev: r.last}
	if r.last == nil {
		r.first = c
	} else {
		r.last.links[kind].next = c
	}
	r.last = c
	r.n++
}

// leave takes a call out of its ring of a kind, which it returns.
func (c *call) leave(kind int) *ring {
	r := c.ring[kind]
	if r == nil {
		return nil
	}
	l := c.links[kind]
	if l.prev == nil {
		r.first = l.next
	} else {
		l.prev.links[kind].next = l.next
	}
	if l.next == nil {
		r.last = l.prev
	} else {
		l.next.links[kind].prev = l.prev
	}
	c.ring[kind], c.links[kind] = nil, link{}
	r.n--
	return r
}

// only returns the single call of a ring, nil if there are none or several.
func (r *ring) only() *call {
	if r == nil || r.n != 1 {
		return nil
	}
	return r.first
}

// pool hands out records.
type pool struct{ free []*call }

// What a pool keeps: so many records, each with room for so many legs.
const (
	keepFree = 256
	keepLegs = 16
)

func (p *pool) get() *call {
	n := len(p.free)
	if n == 0 {
		return new(call)
	}
	c := p.free[n-1]
	p.free = p.free[:n-1]
	return c
}

func (p *pool) put(c *call) {
	if len(p.free) >= keepFree {
		return
	}
	legs := c.legs[:0]
	clear(c.legs)
	if cap(legs) > keepLegs {
		legs = nil
	}
	*c = call{legs: legs}
	p.free = append(p.free, c)
}

// answering returns the direction in which a call asked in dir is answered.
func answering(dir capture.Dir) capture.Dir {
	if dir == capture.C2S {
		return capture.S2C
	}
	return capture.C2S
}

// sign is the last frame of a side: a sign of life.
type sign struct {
	at      Instant
	count   uint32
	message int32
}
