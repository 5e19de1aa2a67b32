package judge

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// Options of a Judge.
type Options struct {
	Registry *Registry
	// Revision is that of sessions that show none themselves; of traces, which are judged as a
	// whole, it is the revision in any case. NoRevision means that nobody said.
	Revision mcp.Revision
	// Found, if set, is given each finding once, at the moment it is certain. It comes
	// before the Step returns.
	Found func(session int, f *Finding)
	// Broken, if set, is told of a check that panicked; it is not run again in the session.
	Broken func(session int, check string, reason any)
}

// Judge judges the sessions of one log.
type Judge struct {
	options Options
	convs   []*conv
	heads   map[exchangeKey]*Post // of which nobody knows yet whose they are
	event   Event
	parser  jsonrpc.Parser // of answers that were held back
}

// New returns a judge of a log.
func New(o Options) *Judge {
	return &Judge{options: o, heads: map[exchangeKey]*Post{}}
}

// conv is one session being judged.
type conv struct {
	j         *Judge
	index     int
	begun     bool
	trace     bool         // a trace: judged as a whole
	unordered bool         // its recorder numbered frames after they had gone on
	fromStart bool         // the log holds the beginning
	hole      bool         // something is missing since
	partial   bool         // a message was there and could not be read in full
	pinned    mcp.Revision // at which all is judged, whatever messages say
	settled   mcp.Revision // of the handshake
	facts     Facts
	eras      eras
	requests  requests
	posts     posts
	clients   clients
	held      []held
	frames    uint64
	batch     batchMark
	states    []any
	off       []bool // checks that panicked, by slot
	results   [mcp.Latest + 1][]tally
	waiting   []waiting
	notes     []Note
}

// batchMark is the array that the last frame was an element of.
type batchMark struct {
	dir      capture.Dir
	exchange uint64
	on       bool
}

// Len returns the number of sessions seen so far.
func (j *Judge) Len() int { return len(j.convs) }

// at returns session i.
func (j *Judge) at(i int) *conv {
	for len(j.convs) <= i {
		s := &conv{j: j, index: len(j.convs)}
		s.facts.ClientCaps, s.facts.ServerCaps, s.facts.DiscoverCaps = noCaps, noCaps, noCaps
		s.states = make([]any, j.options.Registry.slots)
		j.convs = append(j.convs, s)
	}
	return j.convs[i]
}

// Skip notes that a line of the log could not be read: something is missing from here on.
func (j *Judge) Skip() {
	for _, s := range j.convs {
		s.hole = true
	}
}

// Step takes what the reducer made of a frame. The frame and the step are not kept.
func (j *Judge) Step(f *capture.Frame, st session.Step) {
	s := j.at(st.Session)
	if !s.begun {
		s.begin(f)
	}
	for i := range st.Gaps {
		if st.Gaps[i].Kind != session.Stepped {
			s.hole = true
		}
	}
	switch {
	case f.Dir == capture.Stderr:
		return
	case f.Transport == capture.HTTP && f.Kind == capture.HTTPHead && isAsking(f):
		j.headOf(s, f, st.Guess)
		return
	case f.Kind == capture.Close, f.Kind == capture.End && f.Dir == capture.Meta:
		s.closed(f)
		return
	case f.Dir == capture.Meta && f.Kind != capture.Open:
		return
	}
	s.frames++
	var p *Post
	var reply *Reply
	if f.Transport == capture.HTTP {
		p, reply = s.carry(f, st.Parsed...)
	}
	if f.Kind != capture.Line {
		return
	}
	s.expire(f)
	if len(st.Messages) == 1 && st.Messages[0].Element < 0 && len(st.Parsed) > 0 && st.Parsed[0].Element >= 0 {
		for i := range st.Parsed { // an array that the reducer did not take apart
			one := st.Messages[0]
			one.Element = int32(st.Parsed[i].Element)
			s.message(f, &one, &st.Parsed[i], p, reply)
		}
		return
	}
	for i := range st.Messages {
		s.message(f, &st.Messages[i], element(st.Parsed, st.Messages[i].Element), p, reply)
	}
}

// element returns the parsed message of that place, nil if there is none.
func element(parsed []jsonrpc.Message, place int32) *jsonrpc.Message {
	if place >= 0 && int(place) < len(parsed) && int32(parsed[place].Element) == place {
		return &parsed[place]
	}
	for i := range parsed {
		if int32(parsed[i].Element) == place {
			return &parsed[i]
		}
	}
	return nil
}

// begin notes what the first frame of a session says of its log.
func (s *conv) begin(f *capture.Frame) {
	s.begun = true
	s.trace = f.Flags&capture.Sparse != 0
	s.unordered = f.Mono == capture.NoMono && !s.trace
	s.fromStart = s.trace || f.Transport == capture.Stdio
	if s.trace {
		s.pinned = s.j.options.Revision
	}
}

// message takes one message, or a line that should have been one.
func (s *conv) message(f *capture.Frame, m *session.Message, parsed *jsonrpc.Message, p *Post, reply *Reply) {
	at := session.Instant{Wall: f.Time, Mono: f.Mono}
	e := &s.j.event
	*e = Event{From: actorOf(f.Dir), Seq: f.Seq, At: at, Transport: f.Transport, Frame: f, Msg: parsed, Post: p, Reply: reply, Facts: &s.facts, s: s}
	array := parsed != nil && (parsed.Element >= 0 || parsed.Defects.Has(jsonrpc.EmptyBatch)) || f.Flags&capture.Batch != 0
	e.Kind = Malformed
	switch {
	case f.Flags&(capture.Truncated|capture.Redacted) != 0:
		s.unread(e)
		return
	case parsed == nil && m.Outcome != session.OutcomeBad:
		return // a blank line, an error page, a step of an authorization
	case parsed != nil:
		if e.Kind = kindOf(parsed); e.Kind == Malformed && m.Outcome != session.OutcomeBad && !array && f.Transport == capture.HTTP && !s.trace {
			return // JSON, but nobody's message: what authorization servers say
		}
		if e.Kind&Asking != 0 {
			e.Method = parsed.Method
		}
	}
	if array && !s.batched(e, m) {
		return
	}
	if !array {
		s.batch = batchMark{}
	}
	if e.Kind&Answer != 0 && s.hold(e) {
		return
	}
	s.tell(e)
	if e.Kind == Request {
		s.deliver(e.Request)
	}
}

// batched takes an element of an array. Where arrays are part of the protocol, elements
// are messages. Elsewhere the array is one thing that is no message, and its elements
// only keep the books in order. It reports whether the element is to be judged.
func (s *conv) batched(e *Event, m *session.Message) bool {
	rev := s.revisionOf(e)
	if rev == mcp.V2025_03_26 || rev == mcp.V2024_11_05 { // the latter says nothing of them
		return true
	}
	mark := batchMark{e.Frame.Dir, e.Frame.Exchange, true}
	first := m.Element == 0 || m.Element < 0 && (s.batch != mark || e.Frame.Flags&capture.Batch == 0)
	s.batch = mark
	if first {
		array := *e
		array.Kind, array.Method = Malformed, ""
		s.tell(&array)
		e.metaSet = false
	}
	s.unread(e)
	return false
}

// unread takes a message of which only the kind counts: it opens and answers requests,
// and no check sees it.
func (s *conv) unread(e *Event) {
	s.partial = true
	if e.Msg == nil {
		s.hole = true // nobody knows what it was
		return
	}
	if e.Kind == Malformed {
		e.Kind = kindOf(e.Msg)
	}
	e.Method = e.Msg.Method
	switch {
	case e.Kind == Request && e.Msg.ID != nil:
		e.Request = s.ask(e)
		e.Request.Revision = s.revisionOf(e)
		s.opened(e.Request)
	case e.Kind&Answer != 0 && e.Msg.ID != nil:
		if e.Request = s.answered(e.From, e.Msg.ID, e.Post, e.Seq); e.Request != nil {
			e.Method = e.Request.Method
		}
	}
	s.learn(e)
}

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
	if e.Kind == Request && e.From == Client && e.Method == "initialize" && s.facts.Messages == 0 && !s.hole {
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
	if e.Kind == Request && string(e.Msg.ID) != "null" {
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
	for i := range list {
		c := &list[i]
		done++
		if s.off != nil && s.off[c.slot] {
			continue
		}
		e.check, e.slot, e.make, e.result = c.check, c.slot, c.make, nil
		if c.check != nil {
			e.result = s.tally(e.Revision, c.slot)
		}
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

func (s *conv) state(slot int, make func() any) any {
	if s.states[slot] == nil {
		s.states[slot] = make()
	}
	return s.states[slot]
}

func actorOf(d capture.Dir) Actor {
	if d == capture.C2S {
		return Client
	}
	return Server
}

// kindOf says what a JSON value is by its members alone.
func kindOf(m *jsonrpc.Message) Kind {
	if m.Defects == 0 && m.Kind != jsonrpc.Response {
		switch m.Kind {
		case jsonrpc.Request:
			return Request
		case jsonrpc.Notification:
			return Notification
		}
	}
	if m.Root.Kind() != jsontree.Object {
		return Malformed
	}
	method := m.Root.Get("method")
	switch result, failed := m.Result.Exists(), m.Error.Exists(); {
	case method.Kind() == jsontree.String && m.ID != nil:
		return Request
	case method.Kind() == jsontree.String:
		return Notification
	case method.Exists(), result && failed, !result && !failed:
		return Malformed
	case result:
		return Result
	}
	return Error
}
