package tap

import (
	"bytes"
	"net/http"
)

// exchange is an HTTP request and what answers it.
//
// The traffic fills it in; each part of the record may be read by the writer from
// when it was placed, and is not changed any more.
type exchange struct {
	conn, verb, path, query string
	host                    string // as the client sent it
	session                 string // Mcp-Session-Id of the request
	asked                   http.Header

	status    int // of the answer, with partAnswer
	answered  http.Header
	stream    bool   // the answer is an event stream
	bare      bool   // the answer has no body that is recorded
	failure   string // why we answered ourselves
	rewritten string // data of the endpoint event as it went on, if it is not as it came
	ended     string // who ended it, with partClosed
	why       string // and what is known of the reason

	n      uint64 // of the exchange; recorder.mu
	up     flow   // recorder.mu
	down   flow   // recorder.mu
	copies exchangeCopy
}

// flow is what the queue's entrance knows of a body.
type flow struct {
	kept   int64 // bytes in the queue, or written
	size   int64 // bytes that passed
	broken bool  // some of it found no room
	hole   bool  // and nothing came after that yet
	done   bool
}

// httpPart is what part of an exchange a record is.
type httpPart uint8

const (
	partAsked  httpPart = iota // head of the request
	partAnswer                 // head of the answer
	partBody                   // bytes of a body, block.buf[lo:hi]
	partClosed                 // it ended before the answer was complete
)

// httpBits say more of a partBody.
type httpBits uint8

const (
	bitUp   httpBits = 1 << iota // it is the request's
	bitLast                      // it ends the body
	bitHole                      // before it, bytes were lost
)

const (
	// slabSize is how much the blocks hold that small pieces are copied to.
	slabSize = blockSize
	// handOver is from which size on a piece is not copied but its block handed over.
	handOver = 8 << 10
)

// asked records the head of a request and numbers its exchange.
func (r *recorder) asked(ex *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges++
	ex.n = r.exchanges
	r.part(ex, partAsked, headerSize(ex.asked))
}

// answered records the head of an answer.
func (r *recorder) answered(ex *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.part(ex, partAnswer, headerSize(ex.answered))
}

// cut records that an exchange ended before its answer was complete.
func (r *recorder) cut(ex *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.part(ex, partClosed, 0)
}

// part puts a part down. The end of what the writer holds something of finds room
// always.
func (r *recorder) part(ex *exchange, part httpPart, extra int64) {
	if r.closed {
		return
	}
	ends := part == partClosed && ex.up.kept+ex.down.kept > 0
	if r.held+extra+recordCost > r.bound && !ends {
		r.lose(c2s, 1, extra)
		return
	}
	rec := record{kind: httpRecord, ex: ex, part: part, extra: extra}
	if part == partClosed {
		if rec.size = ex.down.size; ex.down.hole {
			rec.bits = bitHole
		}
	}
	r.placed(rec)
}

// body records a piece of a body, which may be empty if it is the last. If it is in
// a block that may be handed over it is b.buf[lo:], and kept tells that it was.
func (r *recorder) body(ex *exchange, bits httpBits, data []byte, b *block, lo int) (kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &ex.down
	if bits&bitUp != 0 {
		f = &ex.up
	}
	if r.closed || f.done {
		return false
	}
	f.done = bits&bitLast != 0
	f.size += int64(len(data))
	events := bits&bitUp == 0 && ex.stream
	switch {
	case f.broken && !events:
		r.loseBody(ex, f, bits, data)
		return false
	case !events && f.kept > r.copyN: // the copy is full
		data, b = nil, nil
		if !f.done {
			return false
		}
	}
	if r.held+int64(len(data))+recordCost > r.bound {
		r.loseBody(ex, f, bits, data)
		return false
	}
	if f.hole {
		f.hole = false
		bits |= bitHole
	}
	f.kept += int64(len(data))
	rec := record{kind: httpRecord, ex: ex, part: partBody, bits: bits, size: f.size}
	switch {
	case len(data) == 0:
	case b != nil && len(data) >= handOver:
		b.refs.Add(1)
		rec.block, rec.lo, rec.hi = b, int32(lo), int32(lo+len(data))
		kept = true
	default:
		rec.block, rec.lo, rec.hi = r.inSlab(data)
	}
	r.placed(rec)
	return kept
}

// loseBody takes a piece that found no room. With it, the message that it is of is
// lost; of an event stream those that end in it, the next goes on behind it. Where
// the writer holds a beginning, it is told to let go of that.
func (r *recorder) loseBody(ex *exchange, f *flow, bits httpBits, data []byte) {
	frames := int64(0)
	if bits&bitUp == 0 && ex.stream {
		frames = eventEnds(data)
	} else if f.done {
		frames = 1
	}
	r.lose(c2s, frames, int64(len(data)))
	f.broken, f.hole = true, true
	if f.done && f.kept > 0 {
		r.placed(record{kind: httpRecord, ex: ex, part: partBody, bits: bits | bitHole, size: f.size})
	}
}

// noMore tells that nothing more comes of a request. A body that did not come to its
// end is no message: the writer lets go of it.
func (r *recorder) noMore(ex *exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || ex.up.done {
		return
	}
	ex.up.done = true
	if ex.up.kept > 0 {
		r.placed(record{kind: httpRecord, ex: ex, part: partBody, bits: bitUp | bitHole | bitLast})
	}
}

// placed puts a record of an exchange down, whatever there is of room.
func (r *recorder) placed(rec record) {
	at := r.add()
	*at = rec
	r.stamp(at)
	r.signal(at.cost())
}

// inSlab copies a small piece to where others of its kind are, so that none of them
// keeps a block of its own from being used.
func (r *recorder) inSlab(data []byte) (b *block, lo, hi int32) {
	if r.slab == nil || len(r.slab.buf)-r.slabAt < len(data) {
		if r.slab != nil {
			r.slab.release(1)
		}
		r.slab, r.slabAt = r.slabPool.get(max(slabSize, len(data))), 0
	}
	at := r.slabAt
	r.slabAt += copy(r.slab.buf[at:], data)
	r.slab.refs.Add(1)
	return r.slab, int32(at), int32(r.slabAt)
}

// eventEnds counts the blank lines that end events, as well as it can be done in
// passing.
func eventEnds(data []byte) int64 {
	return int64(bytes.Count(data, []byte("\n\n")) + bytes.Count(data, []byte("\n\r\n")))
}

// httpQueue is what the queue's entrance needs for HTTP.
type httpQueue struct {
	exchanges uint64 // mu
	slabPool  pool
	slab      *block // mu
	slabAt    int    // mu
}
