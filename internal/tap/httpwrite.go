package tap

import (
	"cmp"
	"sync"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/sse"
)

// httpWriter is what a writer needs for HTTP.
type httpWriter struct {
	on       bool
	notes    *capture.Notes
	hints    hints
	sessions *sessionLogs // nil: all goes to one log
	root     *writer      // of the log of a session
	facts    capture.HTTPFacts
	event    capture.SSEEvent
	parked   int64 // bytes of unfinished messages
	reported int64 // of them, that count against the queue's bound
	spare    [][]byte
}

func (h *httpWriter) transport() capture.Transport {
	if h.on {
		return capture.HTTP
	}
	return capture.Stdio
}

// mutex returns what is held except while a log is at work: all logs of a tap share
// one.
func (h *httpWriter) mutex(w *writer) *sync.Mutex {
	if h.root != nil {
		return &h.root.mu
	}
	return &w.mu
}

// moreParked returns by how much what is held of unfinished messages has grown: so
// much less of the queue is free.
func (h *httpWriter) moreParked() int64 {
	n := h.parked - h.reported
	h.reported = h.parked
	return n
}

// exchangeCopy is what the writer knows of an exchange.
type exchangeCopy struct {
	session         string // Mcp-Session-Id in force
	known           bool   // no answer will change that
	asked, answered map[string]string
	up, down        bodyCopy
	events          *sse.Decoder
	coded           *decoding // of the events
	undecoded       string    // why no more events are decoded
	parked          int64
	out             *writer     // the log it goes to, with a log for each session
	held            []heldFrame // until that is known
}

// bodyCopy is a body, as far as it has come.
type bodyCopy struct {
	buf   []byte
	wire  int64 // bytes of it that came to us
	coded *decoding
	raw   []byte // as it came, until something was decoded
	cut   bool   // it is longer than we keep
	begun bool
	hole  bool // a part was lost
}

// httpRecord handles a record of an exchange.
func (w *writer) httpRecord(rec *record, hurry bool) {
	ex := rec.ex
	if hurry {
		w.loseHTTP(rec)
	} else {
		switch rec.part {
		case partAsked:
			w.httpAsked(rec, ex)
		case partAnswer:
			w.httpAnswer(rec, ex)
		case partBody:
			w.httpBody(rec, ex)
		case partClosed:
			w.httpClosed(rec, ex)
		}
	}
	c := &ex.copies
	parked := int64(len(c.up.buf) + len(c.up.raw) + len(c.down.buf) + len(c.down.raw))
	if c.events != nil {
		parked += int64(c.events.Pending())
	}
	for i := range c.held {
		parked += int64(len(c.held[i].frame.Payload))
	}
	w.http.parked += parked - c.parked
	c.parked = parked
	if rec.block != nil {
		rec.block.release(1)
	}
}

// loseHTTP counts the frames that a record would have become.
func (w *writer) loseHTTP(rec *record) {
	frames := int64(1)
	switch {
	case rec.part == partAnswer && !rec.ex.bare && !rec.ex.stream:
		frames = 0 // it comes with the body
	case rec.part != partBody:
	case rec.ex.stream && rec.bits&bitUp == 0:
		frames = eventEnds(rec.data())
		if rec.bits&bitLast != 0 {
			frames++
		}
	case rec.bits&bitLast == 0:
		frames = 0
	}
	w.lose(frames, int64(rec.hi-rec.lo), "still queued at exit")
}

// data returns the bytes of a record.
func (rec *record) data() []byte {
	if rec.block == nil {
		return nil
	}
	return rec.block.buf[rec.lo:rec.hi]
}

// httpFrame sends a frame of an exchange on to its log.
func (w *writer) httpFrame(rec *record, ex *exchange, f capture.Frame, facts capture.HTTPFacts) {
	w.http.facts = facts
	f.HTTP = &w.http.facts
	f.Conn, f.Exchange, f.MCPSession = ex.conn, ex.n, ex.copies.session
	f.Mono = time.Duration(rec.mono)
	if f.Payload != nil && f.Form == capture.NoPayload {
		f.Form = capture.Unjudged
	}
	w.frame = f
	if w.http.sessions != nil {
		w.http.sessions.send(w, rec, ex)
		return
	}
	w.emit(&w.frame, f.Size)
}

// mark returns a frame of the tap's own about an exchange.
func (w *writer) mark(kind capture.Kind) (f capture.Frame) {
	w.http.notes.Mark(&f, kind)
	return f
}

func (w *writer) askedFacts(ex *exchange) capture.HTTPFacts {
	c := &ex.copies
	if c.asked == nil {
		c.asked = headerFacts(ex.asked, ex.host)
	}
	return capture.HTTPFacts{Verb: ex.verb, Path: ex.path, Query: ex.query, Request: c.asked}
}

func (w *writer) answeredFacts(ex *exchange) capture.HTTPFacts {
	return capture.HTTPFacts{Status: ex.status, Response: ex.copies.answered}
}

func (w *writer) httpAsked(rec *record, ex *exchange) {
	ex.copies.session, ex.copies.known = ex.session, ex.session != ""
	w.httpFrame(rec, ex, w.mark(capture.HTTPHead), w.askedFacts(ex))
}

func (w *writer) httpAnswer(rec *record, ex *exchange) {
	c := &ex.copies
	c.answered, c.known = headerFacts(ex.answered, ""), true
	if c.session == "" {
		c.session = ex.session
	}
	if s := ex.answered.Get(sessionHeader); s != "" {
		c.session = s
	}
	w.http.hints.challenge(w, ex)
	switch {
	case ex.bare:
		facts := w.answeredFacts(ex)
		facts.Error = ex.failure
		w.httpFrame(rec, ex, capture.Frame{Dir: capture.S2C, Kind: capture.HTTPHead}, facts)
	case ex.stream:
		c.events = sse.New(w.limits.MessageBytes)
		c.events.Borrow(w.http.buffer, w.http.recycle)
		c.coded = newDecoding(ex.answered["Content-Encoding"])
		w.httpFrame(rec, ex, w.mark(capture.Open), w.answeredFacts(ex))
	}
}

func (w *writer) httpBody(rec *record, ex *exchange) {
	c := &ex.copies
	last := rec.bits&bitLast != 0
	switch {
	case rec.bits&bitUp != 0:
		if payload, ok := c.up.take(&w.http, rec, ex.asked["Content-Encoding"], w.limits.MessageBytes); ok && rec.size > 0 {
			w.httpFrame(rec, ex, c.up.frame(capture.C2S, payload, rec.size), w.askedFacts(ex))
		}
		if last {
			c.up.drop(&w.http)
		}
	case ex.stream:
		w.httpEvents(rec, ex, last)
		if last {
			w.httpClose(rec, ex, "server", "")
		}
	default:
		if payload, ok := c.down.take(&w.http, rec, ex.answered["Content-Encoding"], w.limits.MessageBytes); ok {
			w.httpAnswerBody(rec, ex, payload, "")
		}
		if last {
			c.down.drop(&w.http)
		}
	}
}

// httpAnswerBody makes the one frame of an answer that is no event stream. If the body
// broke off, the frame says why: half a message is none, and nobody's mistake.
func (w *writer) httpAnswerBody(rec *record, ex *exchange, payload []byte, broken string) {
	facts := w.answeredFacts(ex)
	if rec.size == 0 {
		w.httpFrame(rec, ex, capture.Frame{Dir: capture.S2C, Kind: capture.HTTPHead}, facts)
		return
	}
	w.http.hints.metadata(w, ex, payload)
	facts.Error = broken
	w.httpFrame(rec, ex, ex.copies.down.frame(capture.S2C, payload, rec.size), facts)
}

// httpClosed makes the frames of an exchange that ended too early: what came, and
// that it ended.
func (w *writer) httpClosed(rec *record, ex *exchange) {
	c := &ex.copies
	c.known = true
	switch {
	case ex.stream && c.events != nil:
		w.httpEvents(rec, ex, true)
	case ex.status == 0 || ex.bare || rec.bits&bitHole != 0:
	case ex.down.done: // the answer had passed, but not to its end
	default:
		payload := c.down.finish()
		w.httpAnswerBody(rec, ex, payload, cmp.Or(ex.why, "the client hung up"))
	}
	w.httpClose(rec, ex, ex.ended, ex.why)
	c.up.drop(&w.http)
	c.down.drop(&w.http)
}

func (w *writer) httpClose(rec *record, ex *exchange, by, why string) {
	c := &ex.copies
	if c.undecoded != "" {
		if why != "" {
			why += "; "
		}
		why += "not decoded to its end: " + c.undecoded
	}
	if c.coded != nil {
		c.coded.stop()
	}
	w.httpFrame(rec, ex, w.mark(capture.Close), capture.HTTPFacts{ClosedBy: by, Error: why})
	c.events, c.coded = nil, nil
}

// httpEvents makes frames of the events that a piece of a stream completes.
func (w *writer) httpEvents(rec *record, ex *exchange, last bool) {
	c := &ex.copies
	if c.events == nil {
		return
	}
	each := func(e *sse.Event) { w.httpEvent(rec, ex, e) }
	if rec.bits&bitHole != 0 {
		if c.events.Lost() {
			w.lose(1, 0, "queue full")
		}
		if c.coded != nil && c.undecoded == "" { // nothing can be decoded behind a hole
			c.undecoded = "a part was lost"
		}
	}
	switch {
	case c.undecoded != "":
		return
	case c.coded == nil:
		c.events.Feed(rec.data(), each)
	default:
		c.coded.feed(rec.data(), last, func(out []byte) bool {
			c.events.Feed(out, each)
			return true
		})
		if err := c.coded.err; err != nil && !(last && rec.part == partClosed) {
			c.undecoded = err.Error()
		}
	}
	if last || c.undecoded != "" {
		c.events.End(each)
	}
}

// httpEvent makes a frame of an event.
func (w *writer) httpEvent(rec *record, ex *exchange, e *sse.Event) {
	w.http.event = capture.SSEEvent{ID: e.ID, Event: e.Name, Retry: e.Retry, Comment: e.Comment}
	facts := capture.HTTPFacts{Status: ex.status, SSE: &w.http.event}
	var f capture.Frame
	if len(e.Data) > 0 && (e.Name == "" || e.Name == "message") {
		f = capture.Frame{Dir: capture.S2C, Form: capture.Unjudged, Payload: e.Data}
		if e.Cut {
			f.Payload = wholeRunes(f.Payload)
		}
		if e.Broken {
			facts.Error = "the stream ended inside this event"
		}
	} else {
		f = w.mark(capture.HTTPHead)
		facts.Status = 0
		w.http.event.Data = string(e.Data)
		if e.Name == endpointEvent {
			w.http.event.Data = withoutCredentials(w.http.event.Data)
			w.http.event.Rewritten = withoutCredentials(ex.rewritten)
		}
	}
	f.Size = e.Size
	if e.Cut {
		f.Flags |= capture.Truncated
	}
	if e.Broken {
		f.EOL = capture.NoEOL
	}
	w.httpFrame(rec, ex, f, facts)
}
