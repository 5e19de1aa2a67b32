package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
)

// exchanges follows HTTP requests and the responses to them, as far as they decide
// what became of calls.
type exchanges struct {
	groups map[uint64]*ring // client's requests that still wait, by exchange, else by connection
	notes  map[uint64]exchangeNote
	order  []uint64 // keys of notes, oldest first, as a ring from next on
	next   int
}

// exchangeNote is what is worth remembering of an exchange.
type exchangeNote struct {
	other   bool // its verb is known and is not POST
	counted bool // an error was counted for its status
}

const maxExchanges = 4096

// group is under what the requests of one HTTP request stand together.
func (w who) group() uint64 {
	if w.exchange != 0 {
		return w.exchange
	}
	return w.conn
}

// opened notes a request of the client.
func (x *exchanges) opened(s *conversation, c *call) {
	if c.Dir == capture.C2S {
		s.join(x.groups, c.who.group(), byGroup, c)
	}
}

func (x *exchanges) closed(s *conversation, c *call) { s.quit(x.groups, c.who.group(), byGroup, c) }

// head takes a request head: the verb tells what an error status means.
func (x *exchanges) head(f *capture.Frame, key uint64) {
	if key != 0 && f.HTTP != nil && f.HTTP.Verb != "" && f.HTTP.Verb != "POST" {
		n := x.notes[key]
		n.other = true
		x.note(key, n)
	}
}

func (x *exchanges) note(key uint64, n exchangeNote) {
	if _, known := x.notes[key]; !known {
		if len(x.order) < maxExchanges {
			x.order = append(x.order, key)
		} else {
			delete(x.notes, x.order[x.next])
			x.order[x.next] = key
			x.next = (x.next + 1) % maxExchanges
		}
	}
	x.notes[key] = n
}

// otherVerb reports whether a frame belongs to an exchange that is known to be no POST.
func (x *exchanges) otherVerb(f *capture.Frame, key uint64) bool {
	if f.HTTP != nil && f.HTTP.Verb != "" {
		return f.HTTP.Verb != "POST"
	}
	return x.notes[key].other
}

// httpFrame takes a frame without a message: a head, an error page, a blank line.
func (s *conversation) httpFrame(f *capture.Frame, m *Message) {
	w := s.r.whoOf(f)
	s.http.head(f, w.exchange)
	if f.Transport != capture.HTTP || f.Dir != capture.S2C || f.Status() < 400 {
		s.plain(f, m, NoOutcome)
		return
	}
	e := s.begun(f, m)
	e.msg.Revision = s.revisions.of(f, jsontree.Node{})
	e.msg.Outcome = OutcomeError
	group := s.http.groups[w.group()]
	switch {
	case f.Status() == 405 && s.http.expects405(f, w, group):
		e.msg.Outcome = OutcomeExpected
	case !s.refuseGroup(e, group, w) && !s.countedStatus(w):
		s.counts.Errors++
	}
	s.finished(e)
}

// expects405 reports whether a 405 answers a GET or a DELETE, which a server may
// refuse so. Recorders that note no verbs record no requests but POSTs, so that their
// 405 without one belongs to another verb.
func (x *exchanges) expects405(f *capture.Frame, w who, group *ring) bool {
	if w.exchange == 0 {
		return group == nil
	}
	return x.otherVerb(f, w.exchange)
}

// countedStatus notes that an error is counted for an exchange, and reports whether
// one has been already.
func (s *conversation) countedStatus(w who) bool {
	if w.exchange == 0 {
		return false
	}
	n := s.http.notes[w.exchange]
	was := n.counted
	n.counted = true
	s.http.note(w.exchange, n)
	return was
}

// refuseGroup fails the calls of an exchange that was refused by an HTTP status, and
// reports whether there were any. Where only the connection is known, it must be one.
func (s *conversation) refuseGroup(e *event, group *ring, w who) (refused bool) {
	if group == nil || w.exchange == 0 && group.n != 1 {
		return false
	}
	for c := group.first; c != nil; c = c.links[byGroup].next {
		if !c.Open() {
			refused = refused || c.Status != 0
			continue
		}
		if !s.countedStatus(w) {
			s.fail(c)
		}
		if e.call == nil {
			e.call = c
		}
		refused = true
		s.answered(e, c)
		s.setState(c, StateFailed)
		c.Status = e.msg.Status
		s.stats.answered(c)
		s.lingers(c) // a body may name what was wrong
	}
	return refused
}

// refusedHere returns the call of an exchange that is refused by an error which
// names no call: the status says that it is the answer.
func (s *conversation) refusedHere(e *event) *call {
	if e.f.Transport != capture.HTTP || e.f.Dir != capture.S2C || e.f.Status() < 400 || !e.m.Error.Exists() {
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
	counted := s.countedStatus(e.who)
	switch {
	case c.expects():
		e.msg.Outcome = OutcomeExpected
		c.Expected = true
		if c.Errored {
			c.Errored = false
			s.counts.Errors--
			s.stats.errors(c, -1)
		}
	case !counted:
		s.fail(c)
	}
	s.revisions.refused(c)
	s.settle(c, fateAnswered)
}

// refusedWith ends the calls that a refusal with messages has left open.
func (s *conversation) refusedWith(f *capture.Frame, errors int) {
	w := s.r.whoOf(f)
	group := s.http.groups[w.group()]
	if group == nil || w.exchange == 0 {
		return
	}
	if s.counts.Errors > errors {
		s.countedStatus(w)
	}
	s.refuseGroup(&s.r.event, group, w) // the event of the last message
}

// mayHoldMessage reports whether a payload must be a message: the body of anything
// but a POST need not, so far as the verb is known.
func (s *conversation) mayHoldMessage(f *capture.Frame) bool {
	return !s.http.otherVerb(f, s.r.whoOf(f).exchange)
}
