package judge

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// headEvent tells of the head of an HTTP request.
func (s *conv) headEvent(f *capture.Frame, p *Post) {
	e := &s.j.event
	*e = Event{Kind: Head, From: Client, Seq: p.Seq, At: p.At, Post: p}
	e.Revision = p.revision
	if p.revision == mcp.NoRevision || s.pinned != mcp.NoRevision || s.trace {
		e.Revision = s.revisionOf(e.with(s, f))
	}
	s.plain(e.with(s, f))
}

// statusEvent tells of the head of an HTTP answer.
func (s *conv) statusEvent(f *capture.Frame, p *Post, r *Reply) {
	e := &s.j.event
	*e = Event{Kind: Status, From: Server, Seq: r.Seq, At: session.Instant{Wall: f.Time, Mono: f.Mono}, Post: p, Reply: r}
	e.with(s, f)
	e.Revision = s.revisionOf(e)
	if p != nil && len(p.Requests) == 0 && p.revision != mcp.NoRevision && s.pinned == mcp.NoRevision && !s.trace {
		e.Revision = p.revision
	}
	s.plain(e)
	if id, ok := r.Header[mcp.SessionHeader]; ok && s.facts.SessionID == "" {
		s.facts.SessionID = id
		if s.clients.initializes > 0 {
			s.j.anonymous--
		}
	}
	if r.Status >= 400 && p != nil && s.facts.Phase == Initializing {
		for _, q := range p.Requests {
			if q.Method == "initialize" {
				s.facts.Phase = Refused
			}
		}
	}
}

// with fills in what an event has of its frame.
func (e *Event) with(s *conv, f *capture.Frame) *Event {
	e.s, e.Frame, e.Transport, e.Facts = s, f, f.Transport, &s.facts
	return e
}

// plain tells of an event that is no message.
func (s *conv) plain(e *Event) {
	reg := s.j.options.Registry
	s.run(reg.before.of(e), e)
	s.run(s.table(e.Revision).of(e), e)
	s.run(reg.after.of(e), e)
}

// closed takes the end of an answer, or of a transport.
func (s *conv) closed(f *capture.Frame) {
	var p *Post
	if f.Exchange != 0 {
		p = s.posts.byExchange[f.Exchange]
		if p == nil && s.j.heads[exchangeKey{f.Tap, f.Exchange}] != nil { // it ended before anything else of it was seen
			p = s.exchange(f, nil)
		}
	}
	e := &s.j.event
	*e = Event{Kind: Closed, From: Server, Seq: f.Seq, At: session.Instant{Wall: f.Time, Mono: f.Mono}, Post: p}
	e.with(s, f)
	if h := f.HTTP; h != nil {
		switch h.ClosedBy {
		case "client":
			e.ClosedBy = Client
		case "server":
			e.ClosedBy = Server
		}
	}
	if f.Dir == capture.C2S {
		e.From = Client
	}
	if p != nil {
		p.Over = true
		delete(s.posts.byExchange, f.Exchange)
	}
	e.Revision = s.revisionOf(e)
	s.plain(e)
}
