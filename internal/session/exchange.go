package session

import (
	"mcpsnoop/internal/capture"
)

// exchange is an HTTP request and what answers it, as far as it is known. Its frames
// belong to one session.
type exchange struct {
	prev, next *exchange
	number     uint64
	s          *conversation
	guess      bool // s is where it most likely belongs: nothing that tells has come so far
	headRef    capture.Ref
	head, last Instant // when it began; when the last byte of it passed
	path       uint64  // hash of the path, 0 if unknown
	other      bool    // its verb is known and is not POST
	ends       bool    // its verb is DELETE
	asked      bool    // the body of the request has come
	stream     bool    // it is answered by an event stream
	over       bool    // it is answered, or was broken off
	counted    bool    // an error was counted for its status
	refused    refusal
}

// refusal is an error status that came before the body that it refuses.
type refusal struct {
	status int16
	ref    capture.Ref
	at     Instant
	index  int32
}

// Limits of what is remembered of exchanges: so many in all, beyond which the oldest
// that is over goes, and so many if none is.
const (
	keepExchanges = 4096
	maxExchanges  = 65536
	lookExchanges = 8 // that are looked at for one that is over
)

// exchanges are those of a tap, oldest first.
type exchanges struct {
	byNumber    map[uint64]*exchange
	first, last *exchange
	free        *exchange // to be used again
}

// at returns an exchange, a new one if it is not known, or not any more.
func (x *exchanges) at(number uint64) *exchange {
	if e := x.last; e != nil && e.number == number {
		return e
	}
	if e := x.byNumber[number]; e != nil {
		return e
	}
	if x.byNumber == nil {
		x.byNumber = make(map[uint64]*exchange)
	}
	x.shrink()
	e := x.free
	if e == nil {
		e = new(exchange)
	} else {
		x.free = e.next
		*e = exchange{}
	}
	e.number = number
	x.byNumber[number] = e
	x.push(e)
	return e
}

func (x *exchanges) push(e *exchange) {
	e.prev, e.next = x.last, nil
	if x.last == nil {
		x.first = e
	} else {
		x.last.next = e
	}
	x.last = e
}

// shrink makes room for one more: open ones that are met on the way are put last.
func (x *exchanges) shrink() {
	for looked := 0; len(x.byNumber) >= keepExchanges && looked < lookExchanges; looked++ {
		e := x.first
		x.first = e.next
		if x.first == nil {
			x.last = nil
		} else {
			x.first.prev = nil
		}
		if !e.over && len(x.byNumber) < maxExchanges {
			x.push(e)
			continue
		}
		delete(x.byNumber, e.number)
		e.next, x.free = x.free, e
		return
	}
}

// see notes what a frame says of its exchange.
func (e *exchange) see(r *Reducer, f *capture.Frame, at Instant) {
	if f.Kind != capture.Close {
		e.last = at
	}
	if e.head == (Instant{}) {
		e.head = at
	}
	if h := f.HTTP; h != nil && h.Verb != "" {
		e.other, e.ends = h.Verb != "POST", h.Verb == "DELETE"
		if e.path == 0 && h.Path != "" {
			e.path = r.hashString(h.Path) | 1
		}
	}
	switch {
	case f.Kind == capture.Open, f.Kind == capture.Line && f.HTTP != nil && f.HTTP.SSE != nil:
		e.stream = true
	case f.Kind == capture.Close, f.Dir == capture.S2C && !e.stream:
		e.over = true
	case f.Dir == capture.C2S && f.Kind == capture.Line:
		e.asked = true
	}
}

// isRequest reports whether a frame is the head of a request, or its body.
func isRequest(f *capture.Frame) bool {
	switch f.Dir {
	case capture.C2S:
		return f.Kind == capture.Line || f.Kind == capture.HTTPHead
	case capture.Meta:
		return f.Kind == capture.HTTPHead && f.HTTP != nil && f.HTTP.Verb != ""
	}
	return false
}
