package session

import (
	"net/url"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
)

// posts ties the requests of one HTTP request together: what its status says, it
// says of all of them.
type posts struct {
	groups map[uint64]*ring // client's requests that still wait, by exchange, else by connection
}

// group is under what the requests of one HTTP request stand together.
func (w who) group() uint64 {
	if w.exchange != 0 {
		return w.exchange
	}
	return w.conn
}

// opened notes a request of the client.
func (x *posts) opened(s *conversation, c *call) {
	if c.Dir == capture.C2S {
		s.join(x.groups, c.who.group(), byGroup, c)
	}
}

func (x *posts) closed(s *conversation, c *call) { s.quit(x.groups, c.who.group(), byGroup, c) }

// httpFrame takes a frame without a message: a head, an error page, a blank line.
func (s *conversation) httpFrame(f *capture.Frame, m *Message) {
	if !refuses(f) {
		s.plain(f, m, NoOutcome)
		return
	}
	e := s.begun(f, m)
	e.msg.Revision = s.revisions.of(f, jsontree.Node{})
	e.msg.Outcome = OutcomeError
	group := s.http.groups[e.who.group()]
	switch {
	case f.Status() == 405 && e.expects405(group):
		e.msg.Outcome = OutcomeExpected
	case !s.refuseGroup(e, group):
		s.refusedEarly(e)
		if !e.counted() {
			s.counts.Errors++
		}
	}
	s.finished(e)
}

// expects405 reports whether a 405 answers a GET or a DELETE, which a server may
// refuse so. Recorders that note no verbs record no requests but POSTs, so that their
// 405 without one belongs to another verb.
func (e *event) expects405(group *ring) bool {
	if e.x == nil {
		return group == nil
	}
	return e.x.other
}

// counted notes that an error is counted for the exchange of an event, and reports
// whether one has been already.
func (e *event) counted() (was bool) {
	if e.x == nil {
		return false
	}
	was, e.x.counted = e.x.counted, true
	return was
}

// refusedEarly notes a refusal that comes before the body that it refuses.
func (s *conversation) refusedEarly(e *event) {
	if e.x != nil && !e.x.asked && !e.x.other {
		e.x.refused = refusal{e.msg.Status, e.msg.Ref, e.at, e.index}
	}
}

// refuseLate fails a call that was refused before its request had come.
func (s *conversation) refuseLate(e *event, c *call) {
	if e.x == nil || e.x.refused.status == 0 || c.Dir != capture.C2S || !c.Open() {
		return
	}
	if s.pairRefusal(e); !c.Open() {
		return
	}
	f := &e.x.refused
	c.Response, c.responseAt = f.ref, f.index
	c.End, c.endAt = f.at, f.index
	s.setState(c, StateFailed)
	c.Status = f.status
	if !e.counted() {
		s.fail(c)
	}
	s.stats.answered(c)
	s.lingers(c)
}

// refuseGroup fails the calls of an exchange that was refused by an HTTP status, and
// reports whether there were any. Where only the connection is known, it must be one,
// or a batch.
func (s *conversation) refuseGroup(e *event, group *ring) (refused bool) {
	if group == nil || e.x == nil && group.n != 1 && !group.first.batch {
		return false
	}
	for c := group.first; c != nil; c = c.links[byGroup].next {
		switch {
		case !c.Open():
			refused = refused || c.Status != 0
			continue
		case group.first.batch && !c.batch && e.x == nil:
			continue // asked by itself
		}
		more := e.x == nil && e.call != nil // of a batch that is counted already
		if e.call == nil {
			e.call = c
		}
		refused = true
		s.answered(e, c)
		s.setState(c, StateFailed)
		c.Status = e.msg.Status
		if f := e.f.HTTP; f != nil {
			c.ErrorText = s.r.texts.of(cut([]byte(f.Error), maxError))
		}
		switch {
		case c.expects():
			c.Expected = true
			if group.n == 1 {
				e.msg.Outcome = OutcomeExpected
			}
		case !more && !e.counted():
			s.fail(c)
		}
		s.stats.answered(c)
		s.lingers(c) // a body may name what was wrong
	}
	return refused
}

// refusedHere returns the call of an exchange that is refused by an error which
// names no call: the status says that it is the answer.
func (s *conversation) refusedHere(e *event) *call {
	if !refuses(e.f) || !present(e.m.Error) {
		return nil
	}
	c := s.http.groups[e.who.group()].only()
	if c == nil || !c.Open() && c.Status == 0 {
		return nil
	}
	return c
}

// refusal takes an error that refuses the exchange of c without naming it.
func (s *conversation) refusal(e *event, c *call) {
	s.refusedBody(e, c)
	if e.id != 0 {
		e.msg.Outcome = OutcomeUnmatched
	}
}

// refusedBody takes the message that comes with a refusal by HTTP status, after the
// status itself or with it.
func (s *conversation) refusedBody(e *event, c *call) {
	e.msg.Revision = c.Revision
	e.msg.Outcome = OutcomeError
	if c.Open() {
		s.answered(e, c)
		s.setState(c, StateFailed)
		s.stats.answered(c)
	}
	c.Status = e.msg.Status
	s.errorOf(c, e.m.Error)
	counted := e.counted()
	switch {
	case c.expects():
		e.msg.Outcome = OutcomeExpected
		c.Expected = true
		if c.Errored {
			c.Errored = false
			s.counts.Errors--
			s.stats.errors(c, -1)
			s.traces.errors(c, -1)
		}
	case !counted:
		s.fail(c)
	}
	s.revisions.refused(c)
	s.settle(c, fateClosed)
}

// refusedWith ends the calls that a refusal with messages has left open.
func (s *conversation) refusedWith(errors int) {
	e := &s.r.event // of the last message
	if e.x == nil {
		return
	}
	if s.counts.Errors > errors {
		e.counted()
	}
	if group := s.http.groups[e.who.group()]; group != nil {
		s.refuseGroup(e, group)
	} else {
		s.refusedEarly(e)
	}
}

// mustBeMessage reports whether a payload must be a message: an event of a stream, and
// the body of a POST where messages are posted. Others belong to authorization.
func (s *conversation) mustBeMessage(f *capture.Frame) bool {
	x := s.r.x
	switch {
	case f.HTTP != nil && f.HTTP.SSE != nil:
		return true
	case x == nil:
		return f.HTTP == nil || f.HTTP.Verb == "" || f.HTTP.Verb == "POST"
	case x.other:
		return false
	}
	p := &s.tap.parties
	return x.path == 0 || p.posts(x.path) || len(p.paths) == 0 && s.tap.mayBeEndpoint(x.path)
}

// mayBeEndpoint reports whether messages may be posted to a path, while none was: the
// target's own path leads to its endpoint, and so does the root.
func (t *tap) mayBeEndpoint(path uint64) bool {
	if t.start.Target == "" {
		return true
	}
	target, err := url.Parse(t.start.Target)
	if err != nil {
		return true
	}
	r := t.parties.r
	return path == r.hashString(target.Path)|1 || path == r.hashString("/")|1
}
