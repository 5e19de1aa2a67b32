package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
)

// rest takes the elements of a batch beyond those that are messages of their own, as one
// message. That there are too many for us is no fault of the peer's: the answers among
// them still end their calls, and what answers a request among them is not held to answer
// nothing.
func (s *conversation) rest(f *capture.Frame, base *Message, m *jsonrpc.Message) {
	s.counts.Unread++
	e := s.begun(f, base)
	e.m = m
	e.msg.Kind, e.msg.Defects, e.msg.Element = m.Kind, m.Defects, int32(m.Element)
	e.msg.Revision = s.revisions.of(f, jsontree.Node{})
	for one := range s.r.parser.Rest() {
		switch one.Kind {
		case jsonrpc.Request:
			s.cutRequests[f.Dir]++
		case jsonrpc.Response:
			s.restAnswer(e, one)
		}
	}
	s.finished(e)
}

// restAnswer takes an answer in the rest of a batch, where it is due. It stands in no list.
func (s *conversation) restAnswer(rest *event, m *jsonrpc.Message) {
	msg := *rest.msg
	e := &event{
		f: rest.f, m: m, msg: &msg, at: rest.at, who: rest.who, x: rest.x, index: rest.index,
		id: s.r.idHash(m, answering(rest.f.Dir)),
	}
	if c := s.find(e.id, e.who); c != nil {
		s.answer(e, c)
		return
	}
	switch key, fate, index := s.fateOf(e.id, e.who); fate {
	case fateOpen, fateAsked, fateCancelled:
		s.strayed(e, key, fate, index)
	}
}
