package session

import "mcpsnoop/internal/capture"

// within ties a server's request to the client's call in which it was asked, where
// that is certain: it names the task the call became, or it came on the response of
// the exchange in which that call alone was asked.
func (s *conversation) within(c *call, e *event, p *params) {
	if c.Dir != capture.S2C {
		return
	}
	outer := s.tasks.named(s, p.meta.related)
	if outer == nil && e.who.exchange != 0 {
		outer = s.http.groups[e.who.group()].only()
	}
	if outer != nil {
		c.Within = outer.Index
	}
}
