package session

import (
	"strings"

	"mcpsnoop/internal/capture"
)

// notification takes a notification: most concern a call, a few what the server offers.
func (s *conversation) notification(e *event) {
	s.counts.Notifications++
	p := &s.r.params
	*p = pickParams(e.m.Params)
	e.msg.Revision = s.revisions.of(e.f, p.meta.protocol)
	if e.f.Dir == capture.C2S {
		s.revisions.declared(e.f, p.meta.protocol)
		s.peers.modernClient(&p.meta)
	}
	switch e.m.Method {
	case "notifications/initialized":
		s.party.greeted = false
	case "notifications/progress":
		s.progressed(e, p)
	case "notifications/cancelled":
		s.cancelled(e, p)
	case "notifications/tasks/status", "notifications/tasks":
		s.tasks.told(s, e, p)
	}
	if p.meta.subscription.Exists() {
		s.subscribed(e, p)
	}
	if e.call == nil && p.meta.related.Exists() {
		e.call = s.tasks.named(s, p.meta.related)
	}
	if e.f.Dir == capture.S2C && strings.HasSuffix(e.m.Method, "/list_changed") {
		s.offers.changed(e.m.Method)
	}
}
