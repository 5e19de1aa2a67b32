package judge

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

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
		e.Kind = kindOf(parsed)
		if !array && !s.isMessage(e, m) {
			s.page(e)
			return
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

// isMessage reports whether JSON is a message, or meant to be one: over HTTP there are
// also what authorization servers say, and pages of gateways such as
// {"error":"unauthorized"}. An answer that never claims to be JSON-RPC is one only where
// the status says that all is well. Traces hold nothing but messages.
func (s *conv) isMessage(e *Event, m *session.Message) bool {
	switch {
	case e.Transport != capture.HTTP, s.trace, e.Msg.Root.Get("jsonrpc").Exists():
		return true
	case m.Kind == jsonrpc.Invalid && m.Outcome != session.OutcomeBad:
		return false
	}
	return e.From == Client || e.Reply != nil && e.Reply.Status/100 == 2
}

// page takes JSON that is no message. One that names a request all the same answers it.
func (s *conv) page(e *Event) {
	if e.Kind&Answer == 0 || e.Msg.ID == nil {
		return
	}
	if e.Request = s.answered(e.From, e.Msg.ID, e.Post, e.Seq); e.Request != nil {
		e.Method = e.Request.Method
		s.learn(e)
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
		s.gap = true // nobody knows what it was
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
