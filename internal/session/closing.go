package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

// ended takes what the end of an exchange says: a client that closes the response
// gives up what it asked for, if that is how its revision has it; anybody else who
// closes it before the answer has cut the call. A session that the client deletes is
// over.
func (s *conversation) ended(f *capture.Frame, x *exchange, at Instant) {
	switch {
	case f.Kind == capture.Close:
		s.closed(f, x, at)
	case x.other && refuses(f):
		s.party.listens = false
	case x.ends && f.Dir == capture.S2C && f.Status() >= 200 && f.Status() < 300:
		s.left()
	}
}

func (s *conversation) closed(f *capture.Frame, x *exchange, at Instant) {
	group := s.http.groups[s.r.who.exchange]
	if group == nil {
		return
	}
	by := ByUnknown
	if f.HTTP != nil {
		by = closers[f.HTTP.ClosedBy]
	}
	for c := group.first; c != nil; c = c.links[byGroup].next {
		switch {
		case !c.Open():
		case by == ByClient && mcp.ClosingCancels(c.Revision):
			s.giveUp(c, Cancel{Seq: f.Seq, At: at, Closed: true})
			c.End, c.endAt = at, -1
		default:
			c.cut = Cut{Seq: f.Seq, At: at, Silent: at.Sub(x.last), By: by}
			c.Call.Cut = &c.cut
		}
	}
}

var closers = map[string]Closer{"client": ByClient, "server": ByServer, "upstream": ByUpstream}
