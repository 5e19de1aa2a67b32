package judge

import "mcpsnoop/internal/mcp"

// tell tells all who asked for it of an event, and keeps the books.
func (s *conv) tell(e *Event) {
	switch {
	case e.Kind == Request:
		e.Request = s.ask(e)
	case e.Kind&Answer != 0:
		if e.Request == nil && e.Msg.ID != nil {
			e.Request = s.answered(e.From, e.Msg.ID, e.Post, e.Seq)
		}
		if e.Request != nil {
			e.Method = e.Request.Method
			if e.Request.Post != nil && e.From == Server { // a client answers with a POST of its own
				e.Post = e.Request.Post
				s.resolve(e)
			}
		}
	}
	if e.Kind == Request && e.From == Client && e.Method == "initialize" && s.facts.Messages == 0 && !s.gapped() {
		s.fromStart = true // over HTTP too: a session begins with it
	}
	e.Revision = s.revisionOf(e)
	if e.Kind == Request {
		e.Request.Revision = e.Revision
	}
	reg := s.j.options.Registry
	s.run(reg.before.of(e), e)
	s.run(s.table(e.Revision).of(e), e)
	s.run(reg.after.of(e), e)
	if e.Kind == Request {
		s.opened(e.Request)
	}
	s.clients.see(e)
	s.learn(e)
	s.declares(e)
}

// table returns the checks to be run at a revision; for an open one those of all that it
// may turn out to be.
func (s *conv) table(rev mcp.Revision) *table {
	reg := s.j.options.Registry
	switch {
	case rev != mcp.NoRevision:
		return &reg.byRev[rev]
	case s.facts.Phase != BeforeInitialize && !s.trace:
		return &reg.legacy
	}
	return &reg.all
}

// run calls all that are bound to an event.
func (s *conv) run(c *calls, e *Event) {
	s.each(c.any, e)
	if e.Method != "" && c.byMethod != nil {
		s.each(c.byMethod[e.Method], e)
	}
}

func (s *conv) each(list []call, e *Event) {
	for done := 0; done < len(list); {
		done += s.some(list[done:], e)
	}
}

// some calls as many of a list as it can, and returns how many: the last of them may
// have panicked.
func (s *conv) some(list []call, e *Event) (done int) {
	defer func() {
		if reason := recover(); reason != nil {
			s.broke(list[done-1], reason)
		}
	}()
	e.counts = nil
	if len(list) > 0 && list[0].check != nil { // trackers have tables of their own
		e.counts = s.counts(e.Revision)
	}
	for i := range list {
		c := &list[i]
		done++
		if s.off != nil && s.off[c.slot] {
			continue
		}
		e.call = c
		c.do(e)
	}
	return done
}

// broke switches a check off.
func (s *conv) broke(c call, reason any) {
	if s.off == nil {
		s.off = make([]bool, s.j.options.Registry.slots)
	}
	s.off[c.slot] = true
	if s.j.options.Broken != nil {
		name := "a tracker"
		if c.check != nil {
			name = c.check.ID
		}
		s.j.options.Broken(s.index, name, reason)
	}
}

func (s *conv) state(slot int, create func() any) any {
	if s.states[slot] == nil {
		s.states[slot] = create()
	}
	return s.states[slot]
}
