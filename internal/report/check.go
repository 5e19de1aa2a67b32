// Package report renders what a check found. A [Collector] is fed while a log is
// folded and forgotten; the [Check] it gives at the end is plain data, which each
// format renders.
package report

import (
	"cmp"
	"slices"

	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/view"
)

// Check is what a check of a log found.
type Check struct {
	FailOn   gate.Set
	All      bool // findings of signals that FailOn does not name are shown too
	Sessions []Session
}

// Session is what a check found in one session.
type Session struct {
	ID       string
	Frames   int // that passed: with none, nothing was judged
	Signals  gate.Counts
	Missing  int       // frames that the numbering says were there
	Findings []Finding // those of FailOn first, then by seq; of each signal a bounded number
	More     []More    // findings that are counted and not listed
}

// Finding is one thing that was found, at one place of a session.
type Finding struct {
	Signal gate.Signal
	Seq    uint64 // frame, 0 where there is none
	Line   int    // line of the log, where there is no frame
	At     session.Instant
	Rule   string // id of the clause, "" if none was judged
	Text   string
}

// More says how many findings of a signal are not listed.
type More struct {
	Signal gate.Signal
	N      int
}

// Frames returns how many frames passed in all sessions.
func (c *Check) Frames() (n int) {
	for i := range c.Sessions {
		n += c.Sessions[i].Frames
	}
	return n
}

// Tripped returns the signals that fail the check.
func (c *Check) Tripped() gate.Set {
	var sum gate.Counts
	for i := range c.Sessions {
		sum.Add(c.Sessions[i].Signals)
	}
	return sum.Tripped(c.FailOn)
}

// shown reports whether a finding has a line of its own: those that gate, calls
// that hang or came late, and what of the log could not be read.
func (c *Check) shown(f *Finding) bool {
	switch {
	case c.All, c.FailOn.Has(f.Signal), f.Signal == gate.Pending, f.Signal == gate.LateResult:
		return true
	}
	return f.Signal == gate.Incomplete && f.Line > 0
}

// First returns the finding to look at first: of those that gate the earliest.
func (c *Check) First() (s *Session, f *Finding) {
	for i := range c.Sessions {
		for j := range c.Sessions[i].Findings {
			g := &c.Sessions[i].Findings[j]
			if !c.FailOn.Has(g.Signal) || g.Seq == 0 || f != nil && !g.At.Wall.Before(f.At.Wall) {
				continue
			}
			s, f = &c.Sessions[i], g
		}
	}
	return s, f
}

// collectGaps makes findings of what the record of a session lacks.
func (k *kept) collectGaps(gaps []session.GapNote) {
	for i := range gaps {
		g := &gaps[i]
		if g.Kind == session.Stepped {
			continue
		}
		k.add(gate.Incomplete, func() Finding {
			if g.Kind == session.Skipped || g.Kind == session.TornEnd {
				return Finding{Line: g.Line, Text: view.Gap(g)}
			}
			return Finding{Seq: g.Seq, Text: view.Gap(g)}
		})
	}
}

// order sorts findings as they are listed: signals that gate first, then by seq.
func order(list []Finding, failOn gate.Set) {
	rank := func(f *Finding) int {
		if failOn.Has(f.Signal) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Line, b.Line))
	})
}
