package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
)

// subscribed takes a notification that names its subscription, the id of a
// subscriptions/listen.
func (s *conversation) subscribed(e *event, p *params) {
	text := p.meta.subscription.Text()
	if e.f.Dir != capture.S2C || string(text) == "null" {
		return
	}
	c := s.find(s.r.hash(jsonrpc.IDKey(text))^sideOf(capture.C2S), e.who)
	if c == nil || c.Call.Stream == nil {
		return
	}
	e.call = c
	c.stream.Notes++
	if e.m.Method == "notifications/subscriptions/acknowledged" && c.stream.Acknowledged.Seq == 0 {
		c.stream.Acknowledged = e.msg.Ref
	}
}
