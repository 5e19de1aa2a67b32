package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
)

// cancelled takes a notifications/cancelled: the side that asked gives its call up.
// A server may so end a subscription, which the client asked for. What names no open
// call is ignored, as its receiver does.
func (s *conversation) cancelled(e *event, p *params) {
	c := s.named(e, p, e.f.Dir)
	if c == nil && e.f.Dir == capture.S2C {
		if c = s.named(e, p, capture.C2S); c != nil && c.State != StateStreaming {
			c = nil
		}
	}
	if c == nil {
		return
	}
	e.call = c
	if !c.Open() {
		return
	}
	reason, _ := p.reason.StrBytes()
	s.giveUp(c, Cancel{Seq: e.f.Seq, At: e.at, Reason: s.r.texts.of(cut(reason, maxReason))})
	e.msg.Outcome = OutcomeCancelled
	c.End, c.endAt = e.at, e.index
}

// giveUp ends a call whose answer is not wanted any more, and may come all the same.
func (s *conversation) giveUp(c *call, how Cancel) {
	c.cancel = how
	c.Call.Cancel = &c.cancel
	s.setState(c, StateCancelled)
	// The token goes: progress that was on its way still finds its call by the id's fate.
	s.closeToken(c)
	s.lingers(c)
}

// named returns the call of a side that requestId names.
func (s *conversation) named(e *event, p *params, asked capture.Dir) *call {
	text := p.requestID.Text()
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	return s.find(s.r.hash(jsonrpc.IDKey(text))^sideOf(asked), e.who)
}
