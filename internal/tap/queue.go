package tap

import (
	"mcpsnoop/internal/capture"
)

// record is a place in the order in which things passed.
type record struct {
	kind   recordKind
	stream stream
	cr     bool  // elided ended with a carriage return
	wall   int64 // nanoseconds since 1970
	mono   int64 // nanoseconds since the tap started
	block  *block
	lo, hi int32
	// elided is how many bytes of the unfinished line passed before these and are
	// not kept, since the recorded copy is full.
	elided int64
	frames int64         // of a loss
	bytes  int64         // of a loss
	broken [streams]bool // of a loss: their unfinished lines are lost too
	start  *capture.StartInfo
	// Of an HTTP exchange:
	ex    *exchange
	part  httpPart
	bits  httpBits
	size  int64 // of a body, up to here
	extra int64 // what the record costs more
}

type recordKind uint8

const (
	chunkRecord recordKind = iota // bytes block.buf[lo:hi] of stream
	endRecord                     // stream ended
	lossRecord                    // here frames passed that found no room
	startRecord                   // the tap began
	httpRecord                    // part of an HTTP exchange
)

// recordCost is what a record is held to cost beside its bytes.
const recordCost = 128

// cost is what a record takes of the queue's bound.
func (r *record) cost() int64 { return int64(r.hi-r.lo) + r.extra + recordCost }

const segmentLen = 128

// segment is a piece of the queue.
type segment struct {
	next    *segment
	n       int
	records [segmentLen]record
}

// queue is a list of records in pieces, so that growing it moves nothing.
type queue struct {
	head, tail *segment
	spare      *segment // a list
	spares     int
}

// maxSpares is how many segments are kept for reuse.
const maxSpares = 32

// push returns the next record, to be filled in.
func (q *queue) push() *record {
	if q.tail == nil || q.tail.n == segmentLen {
		s := q.spare
		if s == nil {
			s = new(segment)
		} else {
			q.spare, s.next = s.next, nil
			q.spares--
		}
		if q.tail == nil {
			q.head = s
		} else {
			q.tail.next = s
		}
		q.tail = s
	}
	r := &q.tail.records[q.tail.n]
	q.tail.n++
	return r
}

// last returns the newest record, nil if there is none.
func (q *queue) last() *record {
	if q.tail == nil {
		return nil
	}
	return &q.tail.records[q.tail.n-1]
}

// take empties the queue and returns what was in it.
func (q *queue) take() *segment {
	s := q.head
	q.head, q.tail = nil, nil
	return s
}

// give takes a segment back, for reuse.
func (q *queue) give(s *segment) {
	if q.spares == maxSpares {
		return
	}
	clear(s.records[:s.n])
	s.next, s.n = q.spare, 0
	q.spare = s
	q.spares++
}
