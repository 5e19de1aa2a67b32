package session

import (
	"math"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
)

// retries ties a request to the call that it goes on with: one whose last answer
// asked for input (input_required) and which has waited since.
type retries struct {
	byState map[uint64]*ring // waiting calls, by the requestState they were given
	byInput map[uint64]*ring // by method, target and names of the inputs asked for
}

// wait is what a waiting call was given.
type wait struct {
	on    bool
	state uint64 // hash of the requestState, 0 if none was given
	input uint64 // hash of method, target and input names
}

// park takes an answer that asks for input: the call goes on with a retry.
func (s *conversation) park(e *event, c *call, r *result) {
	if len(c.Legs) == 0 {
		c.legs = append(c.legs[:0], Leg{ID: c.Call.ID, Request: c.Request, Asked: c.Start})
		c.Legs = c.legs
	}
	c.closeLeg(e)
	c.legs[len(c.legs)-1].Input = true
	e.msg.Outcome = OutcomeInput
	s.revisions.accepted(c)
	s.unreach(c, fateAnswered)
	c.waiting = wait{
		on:    true,
		input: s.inputHash(c.Method, c.Target, r.inputs),
	}
	if present(r.state) {
		c.waiting.state = s.r.hash(r.state.Text()) | 1
		s.join(s.retries.byState, c.waiting.state, byState, c)
	}
	s.join(s.retries.byInput, c.waiting.input, byInput, c)
}

// inputHash hashes what a retry without its requestState is known by. The names of
// the inputs stand in no order.
func (s *conversation) inputHash(method, target string, inputs jsontree.Node) uint64 {
	var names, n uint64
	for name := range inputs.Members() {
		names += scramble(s.r.hash(name.Bytes()))
		n++
	}
	return scramble(s.r.hashString(method)) ^ scramble(s.r.hashString(target)+1) ^ scramble(names+n)
}

// retried returns the waiting call that a request goes on with, nil if it is a call
// of its own.
func (s *conversation) retried(e *event, p *params) *call {
	if e.f.Dir != capture.C2S || len(s.retries.byInput) == 0 || !p.state.Exists() && !p.responses.Exists() {
		return nil
	}
	var state uint64
	if present(p.state) {
		state = s.r.hash(p.state.Text()) | 1
	}
	input := s.inputHash(e.m.Method, e.msg.Target, p.responses)
	c, link := s.waiting(state, input, e.who)
	if c == nil {
		return nil
	}
	echo := NoEcho
	switch {
	case state != 0 && state == c.waiting.state:
		echo = EchoSame
	case state != 0 && c.waiting.state != 0:
		echo = EchoChanged
	case state != 0:
		echo = EchoInvented
	case c.waiting.state != 0:
		echo = EchoMissing
	}
	s.retries.forget(s, c)
	c.Asking += e.at.Sub(c.Legs[len(c.Legs)-1].Answered)
	c.Retries++
	if len(c.legs) == MaxLegs {
		c.legs = c.legs[:MaxLegs-1]
	}
	c.legs = append(c.legs, Leg{ID: e.msg.ID, Request: e.msg.Ref, Asked: e.at, Link: link, Echo: echo})
	c.Legs = c.legs
	return c
}

// waiting returns the one waiting call that fits: by state, of several of that state
// by input too; else by input.
func (s *conversation) waiting(state, input uint64, w who) (*call, Link) {
	if same := s.retries.byState[state]; state != 0 && same != nil {
		if c := same.one(byState, w, 0); c != nil {
			return c, ByState
		}
		return same.one(byState, w, input), ByState
	}
	if same := s.retries.byInput[input]; same != nil {
		return same.one(byInput, w, 0), ByInput
	}
	return nil, NoLink
}

// one returns the only call of a ring that meets w and, unless input is 0, waits for
// just that input; nil if there are none or several.
func (r *ring) one(kind int, w who, input uint64) (found *call) {
	looked := 0
	for c := r.first; c != nil; c = c.links[kind].next {
		if looked++; looked > maxLook {
			return nil
		}
		if !c.who.meets(w) || input != 0 && c.waiting.input != input {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}

// maxLook is how many calls that wait for the same are compared; beyond, no link.
const maxLook = 64

// forget takes a call out of those that wait.
func (t *retries) forget(s *conversation, c *call) {
	if !c.waiting.on {
		return
	}
	s.quit(t.byState, c.waiting.state, byState, c)
	s.quit(t.byInput, c.waiting.input, byInput, c)
	c.waiting.on = false
}

// leg returns the number of a call's last leg.
func (c *call) leg() int16 { return int16(min(c.Retries, math.MaxInt16)) }

// closeLeg notes what answered the last leg.
func (c *call) closeLeg(e *event) {
	if n := len(c.Legs); n > 0 && c.Legs[n-1].Response.Seq == 0 {
		c.Legs[n-1].Response, c.Legs[n-1].Answered = e.msg.Ref, e.at
	}
}
