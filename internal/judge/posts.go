package judge

import (
	"maps"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// exchangeKey names an exchange among all taps of a log.
type exchangeKey struct {
	tap string
	n   uint64
}

// posts are the HTTP exchanges of a session.
//
// Our own logs number them. Traces do not: there a request head belongs to the next
// message of the client if no other stands before it, and an answer's head to the only
// exchange that waits for one, or else to the one that the message after it answers; what
// stays ambiguous is not paired. Other logs say of a message only with which status it came.
type posts struct {
	byExchange map[uint64]*Post
	waiting    []*Post // of a trace: not answered so far
	last       *Post   // of a trace: its body comes next
	overlaid   int     // of a trace: bodies to come of which nobody knows whose they are
	reply      *Reply  // of a trace: the last answer's head
	whose      *Post   // whose it is, nil if unknown
	fresh      bool    // nothing of the server came since

	asked, said headers // of the last heads
}

// headers are what heads hold, which must not change: most heads hold the same as one
// before them.
type headers map[string]string

func (h *headers) keep(now map[string]string) map[string]string {
	if !maps.Equal(*h, now) {
		*h = maps.Clone(now)
	}
	return *h
}

// maxPosts is how many exchanges of a session are remembered at once.
const maxPosts = 1 << 12

func isAsking(f *capture.Frame) bool {
	return f.HTTP != nil && f.Status() == 0 && (f.Dir == capture.C2S || f.Dir == capture.Meta && f.HTTP.Verb != "")
}

// headOf takes the head of a request. Where a body follows, it is told of with it.
func (j *Judge) headOf(s *conv, f *capture.Frame, guess bool) {
	p := s.newPost(f)
	switch {
	case f.Exchange == 0:
		q := &s.posts
		if len(q.waiting) >= maxPosts {
			q.waiting = nil
		}
		q.expect(p)
		q.waiting = append(q.waiting, p)
		s.headEvent(f, p)
	case guess || p.Verb == "POST":
		if len(j.heads) >= maxPosts {
			clear(j.heads)
		}
		j.heads[p.key] = p
	default:
		s.keep(p)
		s.headEvent(f, p)
	}
}

// expect says of a trace whose body comes next. Where the heads of several requests with
// bodies stand before the first body, nobody knows.
func (q *posts) expect(p *Post) {
	switch {
	case q.last != nil && p.Verb != "" && p.Verb != "POST":
	case q.overlaid > 0:
		q.overlaid++
	case q.last != nil && q.last.hasBody() && q.last.Reply == nil:
		q.last, q.overlaid = nil, 2
	default:
		q.last = p
	}
}

// hasBody reports whether a request is known to have a body.
func (p *Post) hasBody() bool {
	_, typed := p.Header["content-type"]
	return typed || p.Verb == "POST"
}

func (s *conv) newPost(f *capture.Frame) *Post {
	p := &Post{
		Seq: f.Seq, Exchange: f.Exchange, At: session.Instant{Wall: f.Time, Mono: f.Mono}, key: exchangeKey{f.Tap, f.Exchange},
		Complete: f.Exchange != 0 || s.trace,
	}
	if h := f.HTTP; h != nil {
		p.Verb, p.Path, p.Header = h.Verb, h.Path, s.posts.asked.keep(h.Request)
	}
	return p
}

func (s *conv) keep(p *Post) {
	q := &s.posts
	if q.byExchange == nil || len(q.byExchange) >= maxPosts {
		q.byExchange = map[uint64]*Post{}
	}
	q.byExchange[p.Exchange] = p
}

// carry returns the exchange that a frame belongs to, and the head of the answer if it
// is part of one. A head that was not told of so far is told of now.
func (s *conv) carry(f *capture.Frame, parsed ...jsonrpc.Message) (*Post, *Reply) {
	if s.trace {
		return s.carryTrace(f)
	}
	if f.Exchange == 0 {
		return s.carryOld(f)
	}
	p := s.exchange(f, parsed)
	if f.Dir == capture.C2S {
		p.body = true
		if p.Over { // it was answered before it was read
			delete(s.posts.byExchange, p.Exchange)
		}
		return p, nil
	}
	event := f.HTTP != nil && f.HTTP.SSE != nil
	if status := f.Status(); p.Reply == nil && status >= 200 {
		p.Reply = &Reply{Seq: f.Seq, Status: status, Complete: !event} // events do not repeat the head
		if f.HTTP != nil {
			p.Reply.Header = s.posts.said.keep(f.HTTP.Response)
		}
		p.Stream = event || f.Kind == capture.Open
		s.statusEvent(f, p, p.Reply)
	}
	if p.Reply != nil && !p.Stream {
		s.over(p)
	}
	return p, p.Reply
}

// exchange returns the exchange of a frame. The head of its request is told of with the
// first frame after it, which shows whose it is.
func (s *conv) exchange(f *capture.Frame, parsed []jsonrpc.Message) *Post {
	if p := s.posts.byExchange[f.Exchange]; p != nil {
		return p
	}
	p := s.headBefore(f)
	told := p != nil || f.Dir == capture.C2S
	switch {
	case p == nil:
		p = s.newPost(f)
		p.Complete = f.HTTP != nil && told
	case f.Dir == capture.C2S:
		p.Seq = f.Seq
	}
	s.keep(p)
	if p.Complete {
		p.revision = declaredIn(parsed)
		s.headEvent(f, p)
	}
	return p
}

// headBefore returns the head that stood before a frame and was not told of, nil if there
// is none.
func (s *conv) headBefore(f *capture.Frame) *Post {
	key := exchangeKey{f.Tap, f.Exchange}
	p := s.j.heads[key]
	if p != nil {
		delete(s.j.heads, key)
	}
	return p
}

// over notes that an exchange has ended. Its body may still come: some servers answer
// before they have read it.
func (s *conv) over(p *Post) {
	p.Over = true
	if p.body || p.Verb != "POST" {
		delete(s.posts.byExchange, p.Exchange)
	}
}

// declaredIn returns the revision that a body declares itself.
func declaredIn(parsed []jsonrpc.Message) mcp.Revision {
	if len(parsed) == 0 {
		return mcp.NoRevision
	}
	text, ok := parsed[0].Params.Path("_meta", mcp.MetaProtocolVersion).StrBytes()
	r := mcp.ParseRevision(string(text))
	if ok && !mcp.PerRequest(r) {
		return mcp.Modern.Newest()
	}
	return r
}

// carryOld takes a frame of a log that knows no exchanges and some headers.
func (s *conv) carryOld(f *capture.Frame) (*Post, *Reply) {
	if f.Dir == capture.C2S {
		return s.newPost(f), nil
	}
	if status := f.Status(); status != 0 {
		return nil, &Reply{Seq: f.Seq, Status: status}
	}
	return nil, nil
}

// carryTrace takes a frame of a trace.
func (s *conv) carryTrace(f *capture.Frame) (*Post, *Reply) {
	q := &s.posts
	switch {
	case f.Dir == capture.C2S && f.Kind == capture.Line:
		p := q.last
		q.last, q.overlaid = nil, max(q.overlaid-1, 0)
		return p, nil
	case f.Dir == capture.S2C && f.Kind == capture.HTTPHead:
		q.reply = &Reply{Seq: f.Seq, Status: f.Status(), Complete: true}
		if f.HTTP != nil {
			q.reply.Header = q.said.keep(f.HTTP.Response)
		}
		q.whose, q.fresh = nil, true
		if len(q.waiting) == 1 {
			q.overlaid = 0
			s.replied(q.waiting[0])
		}
		s.statusEvent(f, q.whose, q.reply)
		return q.whose, q.reply
	case f.Dir == capture.S2C && f.Kind == capture.Line:
		return q.whose, q.reply
	}
	return nil, nil
}

// replied says whose the last answer's head is.
func (s *conv) replied(p *Post) {
	q := &s.posts
	q.whose, p.Reply = p, q.reply
	for i, w := range q.waiting {
		if w == p {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return
		}
	}
}

// resolve says whose answer's head it was that stood before an answer, in a trace where
// several waited for one.
func (s *conv) resolve(e *Event) {
	q := &s.posts
	p := e.Request.Post
	if s.trace && q.fresh && q.whose == nil && p.Reply == nil {
		s.replied(p)
	}
	q.fresh = false
	e.Reply = p.Reply
	if p.Reply == nil && !s.trace && e.Frame.Exchange == 0 { // the status came with the message
		_, e.Reply = s.carryOld(e.Frame)
	}
}
