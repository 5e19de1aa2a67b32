package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
)

// truncated takes a frame of which the recorded copy was cut. What stands before the
// cut mostly says what the message is: its id and method, or that it is an answer. A
// frame that does not say it may be a request, whose answer will then match none.
func (s *conversation) truncated(f *capture.Frame, base *Message) {
	s.counts.Truncated++
	if cap(s.r.mended) > keepMended {
		s.r.mended = nil
	}
	text, ok := mend(s.r.mended[:0], f.Payload)
	s.r.mended = text
	if !ok || jsontree.Check(text) != nil {
		s.cut(f, base)
		return
	}
	messages := s.r.parser.Parse(text)
	if len(messages) != 1 || messages[0].Element >= 0 {
		s.cut(f, base)
		return
	}
	m := &messages[0]
	switch m.Kind {
	case jsonrpc.Request, jsonrpc.Notification:
		s.message(f, base, m)
	case jsonrpc.Response:
		if m.ID != nil {
			s.message(f, base, m)
		} else {
			s.cutAnswer(f, base, m)
		}
	default:
		s.cut(f, base)
	}
}

// keepMended is how much memory is kept for the next frame that was cut.
const keepMended = 1 << 20

// cut adds a frame that may have been a request.
func (s *conversation) cut(f *capture.Frame, m *Message) {
	if refuses(f) {
		s.httpFrame(f, m)
		return
	}
	s.plain(f, m, NoOutcome)
	s.cutRequests[f.Dir]++
}

// cutAnswer takes an answer whose id was cut off. It answers the one call that it
// can answer, or else nobody knows which.
func (s *conversation) cutAnswer(f *capture.Frame, base *Message, m *jsonrpc.Message) {
	e := s.begun(f, base)
	e.m = m
	e.msg.Kind, e.msg.Defects = m.Kind, m.Defects
	e.msg.Revision = s.revisions.of(f, jsontree.Node{})
	s.counts.Responses++
	if c := s.onlyOpen(answering(f.Dir), e.who); c != nil {
		e.call = c
		s.answer(e, c)
	}
	s.finished(e)
}

// onlyOpen returns the one call of a side that waits for an answer, nil if there are
// none or several.
func (s *conversation) onlyOpen(asked capture.Dir, w who) (found *call) {
	looked := 0
	for c := s.calls.live.first; c != nil; c = c.links[byAge].next {
		if looked++; looked > maxLook {
			return nil
		}
		reachable := c.id != 0 && c.State == StatePending && c.Dir == asked && c.who.meets(w)
		if !reachable || w.exchange != 0 && c.who.exchange != w.exchange {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}

// mend makes a JSON value of the start of one: it drops what the cut left unfinished
// and closes what is open. ok is false if nothing is open.
func mend(dst, text []byte) (mended []byte, ok bool) {
	var open []byte // the closing brackets of what is open
	end := 0        // text[:end] is whole but for them
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			if len(open) > jsontree.MaxDepth {
				return dst, false
			}
			open = append(open, c+2) // both stand two before their counterparts
			end = i + 1
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return dst, false
			}
			open = open[:len(open)-1]
			end = i + 1
		case ',':
			end = i // what stands before a comma is whole, a number too
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	dst = append(dst, text[:end]...)
	for i := len(open) - 1; i >= 0; i-- {
		dst = append(dst, open[i])
	}
	return dst, len(open) > 0
}
