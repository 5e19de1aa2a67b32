package session

import (
	"bytes"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
)

// conversation is the state of one session. Its parts, each in a file of its own,
// keep what they need to tie messages together.
type conversation struct {
	r         *Reducer
	tap       *tap
	index     int
	number    int // in its tap, from 1
	transport capture.Transport
	party     party

	first, last Instant
	counts      Counts
	signs       [4]sign // by direction; the server's stderr counts as a sign of the server
	keep        *keeper // nil unless Options.Keep
	calls       calls
	early       early
	progress    tokens
	retries     retries
	tasks       tasks
	http        posts
	peers       peers
	traces      traces
	revisions   revisions
	offers      offers
	stats       *stats // nil unless wanted
	cutRequests [3]int // by direction: requests cut beyond recognition, perhaps, or in the rest of a batch; their answers match none
}

// event is one message on its way through the parts.
type event struct {
	f      *capture.Frame
	m      *jsonrpc.Message // nil in a frame that holds none
	msg    *Message         // what will stand in the list
	at     Instant
	who    who
	id     uint64    // hash of the id and of who asked; 0 if there is none, or null
	idText uint32    // number of the id's text, once it has one
	x      *exchange // nil if unknown
	index  int32     // of the message in the list, -1 if none is kept
	call   *call     // that the message belongs to, nil if none
	target uint32    // number of the name of msg.Target
}

// frame takes a frame that client or server sent.
func (s *conversation) frame(f *capture.Frame, ref capture.Ref, at Instant) {
	size := f.Size
	if size == 0 {
		size = int64(len(f.Payload))
	}
	s.counts.Frames++
	s.counts.Bytes += size
	s.sign(f.Dir, at)
	if s.early.waiting() {
		s.expireEarly(at)
	}
	base := Message{
		Ref: ref, At: at, Dir: f.Dir, Transport: f.Transport, Frame: f.Kind, Flags: f.Flags,
		Status: int16(min(f.Status(), 999)), Element: -1, Call: -1, Size: size,
	}
	base.Ref.Seq = f.Seq
	if f.Dir == capture.Stderr {
		s.plain(f, &base, NoOutcome)
		return
	}
	switch {
	case f.Flags&capture.Truncated != 0:
		s.truncated(f, &base)
	case f.Kind != capture.Line:
		s.httpFrame(f, &base)
	case s.r.peeked != nil:
		s.parsed(f, &base, s.r.peeked)
	case holdsJSON(f):
		s.parsed(f, &base, s.r.parser.Parse(f.Payload))
	case len(bytes.TrimSpace(f.Payload)) == 0:
		s.httpFrame(f, &base) // on stdio a blank line, which no peer minds
	default:
		s.noMessage(f, &base)
	}
}

// sign notes that a side gave a sign of life.
func (s *conversation) sign(dir capture.Dir, at Instant) {
	if dir == capture.Stderr {
		dir = capture.S2C
	}
	g := &s.signs[dir]
	g.at = at
	g.count++
	g.message = s.nextMessage()
}

// nextMessage returns the index of the message that will be added next.
func (s *conversation) nextMessage() int32 {
	if s.keep == nil {
		return -1
	}
	return int32(s.keep.messages.n)
}

// plain adds a frame that is no message.
func (s *conversation) plain(f *capture.Frame, m *Message, o Outcome) *event {
	e := s.begun(f, m)
	e.msg.Outcome = o
	if f.Dir != capture.Stderr {
		e.msg.Revision = s.revisions.of(f, jsontree.Node{})
	}
	s.finished(e)
	return e
}

// noMessage takes a frame whose payload is no JSON-RPC message.
func (s *conversation) noMessage(f *capture.Frame, m *Message) {
	switch {
	case refuses(f):
		s.httpFrame(f, m) // an error page
	case f.HTTP != nil && f.HTTP.Error != "": // what came of a body that broke off
		s.plain(f, m, NoOutcome)
	case f.Transport == capture.HTTP && !s.mustBeMessage(f):
		s.plain(f, m, NoOutcome)
	default:
		s.counts.Invalid++
		s.plain(f, m, OutcomeBad)
	}
}

// parsed takes a frame whose payload is JSON.
func (s *conversation) parsed(f *capture.Frame, base *Message, messages []jsonrpc.Message) {
	s.r.step.Parsed = messages
	if len(messages) == 0 {
		s.noMessage(f, base)
		return
	}
	first := &messages[0]
	batch := first.Element >= 0 || first.Defects.Has(jsonrpc.EmptyBatch)
	switch {
	case batch && f.Transport != capture.HTTP && !mcp.HasBatch(s.revisions.of(f, jsontree.Node{})):
		base.Defects = jsonrpc.InBatch | first.Defects&jsonrpc.EmptyBatch
		s.noMessage(f, base)
		return
	case !batch && (first.Kind == jsonrpc.Invalid || refuses(f) && isPage(first)):
		base.Defects = first.Defects
		s.noMessage(f, base)
		return
	}
	errors := s.counts.Errors
	for i := range messages {
		m := *base
		if i > 0 {
			m.Size = 0
		}
		if messages[i].Defects.Has(jsonrpc.RestOfBatch) {
			s.rest(f, &m, &messages[i])
		} else {
			s.message(f, &m, &messages[i])
		}
	}
	if refuses(f) {
		s.refusedWith(errors)
	}
}

// refuses reports whether a frame came with an HTTP status that says no.
func refuses(f *capture.Frame) bool {
	return f.Transport == capture.HTTP && f.Dir == capture.S2C && f.Status() >= 400
}

// isPage reports whether the JSON of a refusal is no answer but an error page that
// happens to have a member "error".
func isPage(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Response && m.ID == nil && m.Defects.Has(jsonrpc.BadVersion) && malformed(m)
}

// message takes one JSON-RPC message.
func (s *conversation) message(f *capture.Frame, base *Message, m *jsonrpc.Message) {
	e := s.begun(f, base)
	e.m = m
	e.msg.Kind, e.msg.Defects, e.msg.Method = m.Kind, m.Defects, m.Method
	e.msg.Element = int32(m.Element)
	if m.ID != nil {
		e.msg.ID = s.r.texts.of(cut(m.ID, maxIDText))
	}
	s.dispatch(e)
	if malformed(m) {
		s.counts.Invalid++
		e.msg.Outcome = OutcomeBad
	}
	s.finished(e)
}

func (s *conversation) dispatch(e *event) {
	switch e.m.Kind {
	case jsonrpc.Request:
		s.request(e)
	case jsonrpc.Notification:
		s.notification(e)
	case jsonrpc.Response:
		s.response(e)
	default:
		e.msg.Revision = s.revisions.of(e.f, jsontree.Node{})
	}
}

// malformed reports whether an object is no MCP message although it has members of
// one: those that say what it is are of a wrong type, or none but params and id is there.
func malformed(m *jsonrpc.Message) bool {
	switch m.Kind {
	case jsonrpc.Invalid:
		return true
	case jsonrpc.Odd:
		return !m.Root.Get("jsonrpc").Exists()
	case jsonrpc.Response:
		return malformedError(m)
	}
	return false
}

// malformedError reports whether the error of a response is of a wrong type, or its
// code or message is. The call is answered all the same.
func malformedError(m *jsonrpc.Message) bool {
	if !present(m.Error) {
		return false
	}
	text := m.Error.Get("message")
	return m.Error.Kind() != jsontree.Object || m.Defects.Has(jsonrpc.BadCode) || present(text) && text.Kind() != jsontree.String
}

// begun starts an event for a message that is added to the step.
func (s *conversation) begun(f *capture.Frame, m *Message) *event {
	r := s.r
	r.step.Messages = append(r.step.Messages, *m)
	r.event = event{
		f: f, msg: &r.step.Messages[len(r.step.Messages)-1], at: m.At, who: r.who, x: r.x, index: s.nextMessage(),
	}
	return &r.event
}

// finished adds the message of an event to the list, and its call to the step.
func (s *conversation) finished(e *event) {
	r := s.r
	c := e.call
	if c != nil {
		s.traces.tells(c, e)
		e.msg.Call, e.msg.Leg = c.Index, max(e.msg.Leg, c.leg())
	}
	if s.keep != nil {
		s.keep.messages.add(packMessage(e.msg, s.idText(e), r.names.ofString(e.msg.Method), e.target))
	}
	var shown *Call
	switch {
	case c != nil:
		s.show(c)
		shown = &c.Call
	case e.msg.Call >= 0 && s.keep != nil: // settled long ago
		shown = s.recall(e.msg.Call)
	}
	r.step.Calls = append(r.step.Calls, shown)
}

// idText returns the number of a message's id text. An answer shares its request's.
func (s *conversation) idText(e *event) uint32 {
	if c := e.call; c != nil && e.idText == 0 && e.msg.ID == *s.keep.ids.at(int(c.idText)) {
		e.idText = c.idText
	}
	if e.idText == 0 {
		e.idText = s.keepID(e.msg.ID)
	}
	return e.idText
}

// keepID keeps the text of an id and numbers it.
func (s *conversation) keepID(id string) uint32 {
	if id == "" {
		return 0
	}
	s.keep.ids.add(id)
	return uint32(s.keep.ids.n - 1)
}
