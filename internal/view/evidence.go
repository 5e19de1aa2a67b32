package view

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// EvidenceOf gives what a kept session says about one of its calls: all that a
// [Witness] knows but what only payloads and streams tell.
func EvidenceOf(s *session.Snapshot, c *session.Call) (e Evidence) {
	until := ^uint64(0)
	if !c.Open() && c.Response.Seq > c.Request.Seq {
		until = c.Response.Seq
	}
	within := func(seq uint64) bool { return seq > c.Request.Seq && seq < until }
	for i := range s.Messages.Len() {
		m := s.Messages.At(i)
		switch {
		case !within(m.Ref.Seq):
		case m.Dir == capture.Stderr:
			if m.At.Sub(c.Start) > 0 {
				e.Stderr = m.At
			}
		case m.Dir == opposite(c.Dir) && m.Call != c.Index && m.Frame == capture.Line && m.Element <= 0 && m.Size > 0:
			e.Others++
		}
	}
	for i := range s.Gaps {
		g := &s.Gaps[i]
		if g.Seq < c.Request.Seq || g.Seq >= until {
			continue
		}
		switch g.Kind {
		case session.Lost, session.Hole:
			e.Lost += g.Gap.Lost
		case session.Stepped:
			e.Jumps = append(e.Jumps, g.Clock)
		}
	}
	if s.End != nil && c.Open() {
		e.Ended, e.EndedAt = true, s.Last
	}
	return e
}
