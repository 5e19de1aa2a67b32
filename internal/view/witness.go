package view

import (
	"fmt"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/session"
)

// Witness collects, while a log is folded, what frames that are not a call's own
// say about it. It remembers a few words for each open call and no frame.
//
// See is called with each frame after Apply; Testify once for each call, from
// [session.Options.Settled].
type Witness struct {
	sessions  map[int]*bystander
	exchanges map[exchangeKey]*exchange
	heads     map[exchangeKey]requestHead
	pieces    Pieces
}

// bystander is what happened in one session so far.
type bystander struct {
	sent    [8]int // messages in each direction
	lost    uint64
	stderr  session.Instant
	jumps   []capture.ClockInfo
	ended   bool
	endedAt session.Instant
	open    map[int32]*testimony // by index of the call
}

// testimony is how things stood when a call's request passed.
type testimony struct {
	sent     int // by the answering side
	own      int // of what it sent since, frames that are this call's
	lost     uint64
	jumps    int
	asks     []string
	exchange exchangeKey
	status   int // of the HTTP response, where it carried no message
}

type exchangeKey struct {
	tap    string
	number uint64
}

// exchange is an HTTP exchange that carries calls still open.
type exchange struct{ calls []*testimony }

// requestHead is the head of an HTTP request that is not answered in full.
type requestHead struct {
	verb, path string
	seq        uint64
	last       session.Instant // when it passed, or the last byte towards the client
}

// maxHeads bounds them; beyond it, what they asked is no longer said.
const maxHeads = 4096

const maxJumps = 64

func (w *Witness) session(i int) *bystander {
	s := w.sessions[i]
	if s == nil {
		if w.sessions == nil {
			w.sessions = map[int]*bystander{}
			w.exchanges = map[exchangeKey]*exchange{}
			w.heads = map[exchangeKey]requestHead{}
		}
		s = &bystander{open: map[int32]*testimony{}}
		w.sessions[i] = s
	}
	return s
}

// See notes a frame and what it did.
func (w *Witness) See(f *capture.Frame, st session.Step) {
	s := w.session(st.Session)
	w.pieces.Look(f)
	for i := range st.Gaps {
		g := &st.Gaps[i]
		switch g.Kind {
		case session.Lost, session.Hole:
			s.lost += g.Gap.Lost
		case session.Stepped:
			if len(s.jumps) < maxJumps {
				s.jumps = append(s.jumps, g.Clock)
			}
		}
	}
	at := session.Instant{Wall: f.Time, Mono: f.Mono}
	if f.Kind == capture.End {
		s.ended, s.endedAt = true, at
	}
	if f.Kind == capture.Line && len(f.Payload) > 0 {
		s.sent[f.Dir&7]++
	}
	if f.Dir == capture.Stderr {
		s.stderr = at
	}
	w.seeExchange(f, at)
	for i := range st.Messages {
		if i >= len(st.Calls) || st.Calls[i] == nil {
			continue
		}
		w.seeMessage(s, f, &st.Messages[i], st.Calls[i])
	}
}

func (w *Witness) seeMessage(s *bystander, f *capture.Frame, m *session.Message, c *session.Call) {
	t := s.open[c.Index]
	if t == nil {
		if m.Kind != jsonrpc.Request || !c.Open() || c.Let {
			return
		}
		t = &testimony{
			sent: s.sent[opposite(c.Dir)], lost: s.lost, jumps: len(s.jumps),
		}
		s.open[c.Index] = t
	}
	if m.Dir == opposite(c.Dir) {
		t.own++
	}
	if m.Outcome == session.OutcomeInput {
		t.asks = w.asks(m)
	}
	if m.Kind == jsonrpc.Request && f.Exchange != 0 {
		w.carry(t, exchangeKey{f.Tap, f.Exchange})
	}
}

// asks names what an answer asks for, the first three.
func (w *Witness) asks(m *session.Message) (names []string) {
	for name := range w.pieces.At(m.Element).Path("result", "inputRequests").Members() {
		if len(names) == 3 {
			break
		}
		names = append(names, name.String())
	}
	return names
}

// carry says that an exchange is to bring the answer of a call.
func (w *Witness) carry(t *testimony, key exchangeKey) {
	if t.exchange == key {
		return
	}
	w.drop(t)
	e := w.exchanges[key]
	if e == nil {
		e = new(exchange)
		w.exchanges[key] = e
	}
	e.calls = append(e.calls, t)
	t.exchange = key
}

func (w *Witness) drop(t *testimony) {
	e := w.exchanges[t.exchange]
	if e == nil {
		return
	}
	for i, other := range e.calls {
		if other == t {
			e.calls = append(e.calls[:i], e.calls[i+1:]...)
			break
		}
	}
	if len(e.calls) == 0 {
		delete(w.exchanges, t.exchange)
	}
}

func (w *Witness) seeExchange(f *capture.Frame, at session.Instant) {
	if f.Exchange == 0 {
		return
	}
	key := exchangeKey{f.Tap, f.Exchange}
	w.seeHead(f, key, at)
	e := w.exchanges[key]
	if e == nil {
		return
	}
	if f.Dir != capture.C2S && f.Status() != 0 && f.Kind != capture.Line {
		for _, t := range e.calls {
			t.status = f.Status()
		}
	}
}

func (w *Witness) seeHead(f *capture.Frame, key exchangeKey, at session.Instant) {
	switch {
	case f.Kind == capture.HTTPHead && f.HTTP != nil && f.HTTP.Verb != "" && f.HTTP.Status == 0:
		if len(w.heads) >= maxHeads {
			clear(w.heads)
		}
		w.heads[key] = requestHead{f.HTTP.Verb, f.HTTP.Path, f.Seq, at}
	case f.Kind == capture.Close:
		delete(w.heads, key)
	case f.Dir == capture.S2C && f.Status() != 0 && f.Status() < 400:
		h, ok := w.heads[key]
		switch {
		case !ok:
		case h.verb == "POST" && f.HTTP.SSE == nil:
			delete(w.heads, key) // answered
		default:
			h.last = at
			w.heads[key] = h
		}
	}
}

// HTTPFailure words an HTTP answer without a message whose status is an error, with
// what it answers where that is known. The frame has been seen.
func (w *Witness) HTTPFailure(f *capture.Frame) string {
	text := fmt.Sprintf("HTTP %d without a JSON-RPC answer", f.Status())
	why := ""
	if f.HTTP != nil && f.HTTP.Error != "" {
		why = ": " + cut(f.HTTP.Error)
	}
	if f.Exchange == 0 {
		return text + why
	}
	h, ok := w.heads[exchangeKey{f.Tap, f.Exchange}]
	if !ok {
		return text + fmt.Sprintf(" (exchange %d)", f.Exchange) + why
	}
	text = fmt.Sprintf("HTTP %d to %s %s (seq %d)", f.Status(), cut(h.verb), cut(h.path), h.seq)
	silent := session.Instant{Wall: f.Time, Mono: f.Mono}.Sub(h.last)
	if silent >= minSilence {
		text += fmt.Sprintf(" after %s without a byte", Seconds(silent))
	}
	for _, b := range idleBullet(silent) {
		text += "; " + b
	}
	return text + why
}

// minSilence is from when on silence before a failure is worth a word.
const minSilence = 5 * time.Second

func opposite(d capture.Dir) capture.Dir {
	if d == capture.C2S {
		return capture.S2C
	}
	return capture.C2S
}

// Testify gives what is known about a call, and forgets it.
func (w *Witness) Testify(sessionIndex int, c *session.Call) (e Evidence) {
	s := w.sessions[sessionIndex]
	if s == nil {
		return e
	}
	e.Ended, e.EndedAt = s.ended, s.endedAt
	t := s.open[c.Index]
	if t == nil {
		return e
	}
	delete(s.open, c.Index)
	w.drop(t)
	e.Others = max(0, s.sent[opposite(c.Dir)]-t.sent-t.own)
	e.Lost = s.lost - t.lost
	if len(s.jumps) > t.jumps {
		e.Jumps = append(e.Jumps, s.jumps[t.jumps:]...)
	}
	e.Asks, e.Status = t.asks, t.status
	if !s.stderr.Wall.IsZero() && s.stderr.Sub(c.Start) > 0 {
		e.Stderr = s.stderr
	}
	return e
}
