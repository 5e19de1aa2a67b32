package session

import (
	"bytes"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
)

// early holds answers that stand before their requests, as recorders have them that
// number a frame after forwarding it. Each waits a little for its request.
type early struct {
	held   []heldAnswer
	bytes  int
	parser *jsonrpc.Parser // of held answers: the frame's own is in use
}

// heldAnswer is an answer that waits for its request, and what it is if none comes.
type heldAnswer struct {
	frame   *capture.Frame
	message Message
	who     who
	id      uint64
	index   int32
	element int
	until   uint64 // number of the frame, and
	late    time.Time
	fate    fate
	call    int32
}

// Limits of waiting: real ones come within a few frames and a millisecond.
const (
	earlyMost   = 64
	earlyFrames = 256
	earlyTime   = 2 * time.Second
	earlyBytes  = 32 << 20 // in all sessions
)

func (y *early) waiting() bool { return len(y.held) > 0 }

// hold keeps an answer until its request comes, unless that is impossible.
func (s *conversation) hold(e *event, f fate, index int32) bool {
	y := &s.early
	if e.id == 0 || len(y.held) >= earlyMost || s.r.held+len(e.f.Payload) > earlyBytes {
		return false
	}
	frame := e.f.Clone()
	if frame.Flags&capture.Truncated != 0 {
		frame.Payload = bytes.Clone(s.r.mended)
	}
	y.bytes += len(frame.Payload)
	s.r.held += len(frame.Payload)
	y.held = append(y.held, heldAnswer{
		frame: frame, message: *e.msg, who: e.who, id: e.id, index: e.index, element: e.m.Element,
		until: uint64(s.counts.Frames) + earlyFrames, late: e.at.Wall.Add(earlyTime), fate: f, call: index,
	})
	return true
}

// pairEarly gives the request of e the answer that came before it, if one did.
func (s *conversation) pairEarly(e *event) {
	c := e.call
	for i := range s.early.held {
		h := &s.early.held[i]
		if h.id != c.id || !h.who.meets(c.who) || s.find(h.id, h.who) != c {
			continue
		}
		held := s.release(i)
		s.again(&held, func(answer *event) {
			answer.call = c
			s.answer(answer, c)
		})
		return
	}
}

// pairRefusal gives the request of e the error that refused its exchange before it came
// and names another request, or none that is: the status says that it is the answer.
func (s *conversation) pairRefusal(e *event) {
	for i := range s.early.held {
		h := &s.early.held[i]
		if e.x == nil || h.frame.Exchange != e.f.Exchange || !refuses(h.frame) {
			continue
		}
		held := s.release(i)
		s.again(&held, func(answer *event) {
			if !present(answer.m.Error) {
				key, f, index := s.fateOf(answer.id, answer.who)
				s.strayed(answer, key, f, index)
				return
			}
			answer.call = e.call
			s.refusal(answer, e.call)
		})
		return
	}
}

// expireEarly gives up on answers whose request should have come by now.
func (s *conversation) expireEarly(at Instant) {
	for s.early.waiting() {
		h := &s.early.held[0]
		if uint64(s.counts.Frames) <= h.until && !at.Wall.After(h.late) {
			return
		}
		s.giveUpEarly()
	}
}

// giveUpEarly says of the oldest held answer what it is without a request.
func (s *conversation) giveUpEarly() {
	held := s.release(0)
	s.again(&held, func(answer *event) {
		key, f, index := s.fateOf(answer.id, answer.who)
		s.strayed(answer, key, f, index)
	})
}

func (s *conversation) release(i int) heldAnswer {
	y := &s.early
	h := y.held[i]
	copy(y.held[i:], y.held[i+1:])
	y.held[len(y.held)-1] = heldAnswer{}
	y.held = y.held[:len(y.held)-1]
	y.bytes -= len(h.frame.Payload)
	s.r.held -= len(h.frame.Payload)
	return h
}

// again takes a held answer up, and revises what was said of its message.
func (s *conversation) again(h *heldAnswer, do func(*event)) {
	if s.early.parser == nil {
		s.early.parser = new(jsonrpc.Parser)
	}
	var m *jsonrpc.Message
	for i, messages := 0, s.early.parser.Parse(h.frame.Payload); i < len(messages); i++ {
		if messages[i].Element == h.element {
			m = &messages[i]
		}
	}
	if m == nil {
		return // cannot be: it was parsed before
	}
	msg := h.message
	msg.Outcome = NoOutcome
	answer := &event{f: h.frame, m: m, msg: &msg, at: msg.At, who: h.who, id: h.id, index: h.index}
	if h.frame.Exchange != 0 {
		answer.x = s.tap.parties.exchanges.byNumber[h.frame.Exchange]
	}
	do(answer)
	if answer.call != nil {
		s.traces.tells(answer.call, answer)
		msg.Call = answer.call.Index
	}
	if malformed(m) {
		msg.Outcome = OutcomeBad
	}
	if s.keep != nil {
		p := s.keep.messages.edit(int(h.index))
		p.outcome, p.call, p.leg, p.revision = msg.Outcome, msg.Call, msg.Leg, msg.Revision
	}
	if s.r.options.Revised != nil {
		s.r.options.Revised(s.index, &msg)
	}
}
