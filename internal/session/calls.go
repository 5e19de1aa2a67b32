package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
)

// calls ties answers to requests.
type calls struct {
	open   map[uint64]*call // by id and scope: whatever an answer can still reach
	byID   map[uint64]*ring // HTTP: the same by id alone
	live   ring             // open calls, oldest first
	linger ring             // no longer open, but something may still come: an answer after a cancel, a task's result
	seen   seen             // fates of ids that are in open no longer
}

// Limits of what is held at once, in all sessions. Real ones stay far below; beyond, the oldest
// is let go of and only its fate is remembered.
const (
	maxLive   = 8192
	maxLinger = 2048
)

// request takes a request: a new call, or a retry of one that waits for input.
func (s *conversation) request(e *event) {
	s.counts.Requests++
	p := &s.r.params
	*p = pickParams(e.m.Params)
	e.id = s.r.idHash(e.m, e.f.Dir)
	e.target, e.msg.Target = s.targetOf(e.m.Method, p)
	e.msg.Revision = s.revisions.of(e.f, p.meta.protocol)
	switch {
	case e.f.Dir != capture.C2S:
	case e.m.Method == methodInitialize:
		s.proposed(e, p)
	default:
		s.revisions.declared(e.f, p.meta.protocol)
		s.peers.modernClient(&p.meta)
	}
	s.supersede(e)
	c := s.retried(e, p)
	if c == nil {
		c = s.begin(e)
		c.paged = present(p.cursor)
	} else {
		s.counts.Retries++
	}
	e.call = c
	s.traced(e, c, p.meta.traceparent)
	s.reach(c, e)
	s.openToken(c, p.meta.token)
	s.tasks.asked(s, c, p)
	s.within(c, e, p)
	if s.early.waiting() {
		s.pairEarly(e)
	}
	s.refuseLate(e, c)
}

// idHash hashes an id as asked in a direction; 0 for no id and for null, by which
// nothing can be found.
func (r *Reducer) idHash(m *jsonrpc.Message, asked capture.Dir) uint64 {
	if m.ID == nil || m.Defects.Has(jsonrpc.NullID) {
		return 0
	}
	return r.hash(jsonrpc.IDKey(m.ID)) ^ sideOf(asked)
}

// targetOf returns what a request names: a tool, a prompt or a resource.
func (s *conversation) targetOf(method string, p *params) (uint32, string) {
	var name jsontree.Node
	switch method {
	case methodCall, "prompts/get":
		name = p.name
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		name = p.uri
	default:
		return 0, ""
	}
	text, _ := name.StrBytes()
	return s.r.names.of(cut(text, maxTarget), &s.r.texts)
}

// begin makes a new call of a request.
func (s *conversation) begin(e *event) *call {
	c := s.r.pool.get()
	c.Call = Call{
		Index: int32(s.counts.Calls), Dir: e.f.Dir, ID: e.msg.ID, Method: e.m.Method, Target: e.msg.Target,
		Revision: e.msg.Revision, Request: e.msg.Ref, Start: e.at, TaskOf: -1, Within: -1,
	}
	c.targetName = e.target
	c.requestAt, c.responseAt, c.endAt, c.signAt = e.index, -1, -1, -1
	c.signs = s.signs[answering(c.Dir)].count
	s.counts.Calls++
	if s.keep != nil {
		e.idText = s.keepID(e.msg.ID)
		c.idText, c.methodName = e.idText, s.r.names.ofString(e.m.Method)
		s.keep.calls.add(packedCall{})
	}
	c.s = s
	s.calls.live.push(byAge, c)
	s.r.live.push(byAll, c)
	if c.Method == methodListen {
		c.State = StateStreaming
		c.Call.Stream = &c.stream
		if e.msg.Outcome == NoOutcome {
			e.msg.Outcome = OutcomeStream
		}
	} else if c.Dir == capture.C2S {
		s.counts.Pending++
	}
	s.stats.began(c)
	s.r.boundLive()
	return c
}

// reach makes a call reachable for what names the id that e asked with.
func (s *conversation) reach(c *call, e *event) {
	c.who, c.id, c.batch = e.who, e.id, e.f.Flags&capture.Batch != 0
	c.Call.Cut = nil // of an earlier leg
	if e.f.Transport == capture.HTTP {
		s.http.opened(s, c)
	}
	if c.id == 0 {
		return
	}
	c.keys[0] = under(c.id, c.who.peer())
	s.calls.open[c.keys[0]] = c
	if e.f.Transport != capture.HTTP {
		return
	}
	if x := c.who.exchange; x != 0 && x != c.who.peer() {
		c.keys[1] = under(c.id, x)
		s.calls.open[c.keys[1]] = c
	}
	s.join(s.calls.byID, c.id, byID, c)
}

// join puts a call into the ring of a key.
func (s *conversation) join(rings map[uint64]*ring, key uint64, kind int, c *call) {
	in := rings[key]
	if in == nil {
		if n := len(s.r.rings); n > 0 {
			in, s.r.rings = s.r.rings[n-1], s.r.rings[:n-1]
		} else {
			in = new(ring)
		}
		rings[key] = in
	}
	in.push(kind, c)
}

// quit takes a call out of the ring of a key.
func (s *conversation) quit(rings map[uint64]*ring, key uint64, kind int, c *call) {
	if in := c.leave(kind); in != nil && in.n == 0 {
		delete(rings, key)
		s.r.rings = append(s.r.rings, in)
	}
}

// unreach takes a call away from its id, whose fate is remembered.
func (s *conversation) unreach(c *call, f fate) {
	if s.transport == capture.HTTP {
		s.http.closed(s, c)
	}
	if c.id == 0 {
		return
	}
	for i, key := range c.keys {
		if key != 0 && s.calls.open[key] == c {
			delete(s.calls.open, key)
		}
		if i == 0 {
			if c.tokenIsID {
				f |= fateToken
			}
			s.calls.seen.put(key, f, c.Index)
		}
	}
	c.keys = [2]uint64{}
	s.quit(s.calls.byID, c.id, byID, c)
	c.id = 0
}

// find returns the call that an id names, asked by the side that id was hashed for:
// within the same exchange, else the same session, else the same connection, else
// the only one there is.
func (s *conversation) find(id uint64, w who) *call {
	if id == 0 {
		return nil
	}
	if s.transport != capture.HTTP {
		return s.calls.open[id]
	}
	for _, scope := range w.scopes() {
		if c := s.calls.open[under(id, scope)]; c != nil && c.who.meets(w) {
			return c
		}
	}
	if c := s.calls.byID[id].only(); c != nil && c.who.meets(w) {
		return c
	}
	return nil
}

// fateOf returns what is remembered of an id that names no call any more.
func (s *conversation) fateOf(id uint64, w who) (key uint64, f fate, index int32) {
	if id == 0 {
		return 0, fateNone, -1
	}
	for _, scope := range w.scopes() {
		if s.transport != capture.HTTP {
			scope = 0
		}
		key = under(id, scope)
		if f, index = s.calls.seen.get(key); f&fateMask != fateNone || s.transport != capture.HTTP {
			return key, f & fateMask, index
		}
	}
	return 0, fateNone, -1
}

// supersede ends the call whose id a new request takes while it is open.
func (s *conversation) supersede(e *event) {
	if e.id == 0 {
		return
	}
	old := s.calls.open[under(e.id, e.who.peer())]
	if old == nil {
		return
	}
	if old.Open() {
		e.msg.Outcome = OutcomeSuperseded
		s.setState(old, StateSuperseded)
		old.End, old.endAt = e.at, e.index
	}
	s.settle(old, fateClosed)
}

// setState changes the state of a call, and the count of what is pending.
func (s *conversation) setState(c *call, st State) {
	was, is := c.State == StatePending, st == StatePending
	if was != is && c.Dir == capture.C2S {
		d := 1
		if was {
			d = -1
		}
		s.counts.Pending += d
		s.stats.pending(c, d)
	}
	if c.Open() && !(st == StatePending || st == StateStreaming) {
		s.lastSign(c)
	}
	c.State = st
}

// lastSign notes the last sign of life of the answering side.
func (s *conversation) lastSign(c *call) {
	if g := &s.signs[answering(c.Dir)]; g.count != c.signs {
		c.LastSign, c.signAt = g.at, g.message
	}
}

// fail counts an operation as an error, once.
func (s *conversation) fail(c *call) {
	if !c.Errored {
		c.Errored = true
		s.counts.Errors++
		s.stats.errors(c, 1)
		s.traces.errors(c, 1)
	}
}

// settle ends the life of a record: nothing but a duplicate answer will change its
// call any more.
func (s *conversation) settle(c *call, f fate) {
	if c.settled {
		return
	}
	c.settled = true
	s.unreach(c, f)
	s.closeToken(c)
	s.tasks.forget(s, c)
	s.retries.forget(s, c)
	for kind := range rings {
		c.leave(kind)
	}
	if s.keep != nil {
		s.keep.pack(c)
	}
	s.r.settled = append(s.r.settled, settled{s, c})
}

// lingers keeps a call that is no longer open, because something may still come.
func (s *conversation) lingers(c *call) {
	if c.ring[byAge] == &s.calls.linger {
		return
	}
	c.leave(byAge)
	c.leave(byAll)
	s.calls.linger.push(byAge, c)
	s.r.linger.push(byAll, c)
	if s.r.linger.n > maxLinger {
		s.r.letGo(s.r.linger.first)
	}
}

func (r *Reducer) boundLive() {
	if r.live.n > maxLive {
		r.letGo(r.live.first)
	}
}

// letGo settles a call of which the fate is not known. What comes of it later changes
// the counts, but not the sums of its tool, which nobody knows any more.
func (r *Reducer) letGo(c *call) {
	c.s.show(c)
	c.Let = true
	if c.State == StatePending && c.Dir == capture.C2S {
		c.s.stats.pending(c, -1)
	}
	c.s.settle(c, c.fate())
	c.s.counts.Let++
}

// fate is what is remembered of a call's id when it is let go of.
func (c *call) fate() fate {
	switch {
	case c.State == StatePending && c.Dir == capture.C2S:
		return fateOpen
	case c.State == StatePending:
		return fateAsked
	case c.State == StateCancelled && !c.Late && c.Method != methodListen:
		return fateCancelled
	case c.Status != 0:
		return fateClosed // refused: the id may be used again
	case c.State == StateCompleted, c.State == StateFailed:
		return fateAnswered
	}
	return fateClosed
}

// show brings what is worked out late up to date in a call that is handed out.
func (s *conversation) show(c *call) {
	if c.Open() {
		s.lastSign(c)
	}
}
