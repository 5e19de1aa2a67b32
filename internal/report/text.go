package report

import (
	"bufio"
	"fmt"
	"io"

	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

// counter is one number of a session's line. The line is a contract: a name never
// changes, and a number nobody judges is absent rather than 0.
type counter struct {
	name   string
	signal gate.Signal
	of     func(*Session) int // nil: the count of the signal
}

var counters = []counter{
	{name: "errors", signal: gate.Error},
	{name: "invalid", signal: gate.Invalid},
	{name: "warnings", signal: gate.Warn},
	{name: "mismatches", signal: gate.Mismatch},
	{name: "pending", signal: gate.Pending},
	{name: "late_results", signal: gate.LateResult},
	{name: "deprecated", signal: gate.Deprecated},
	{name: "missing_frames", signal: gate.Incomplete, of: func(s *Session) int { return s.Missing }},
	{name: "schema_findings", signal: gate.Schema},
}

// Widths of a finding's columns where nothing longer stands in them.
const (
	signalWidth = 11 // late-result
	placeWidth  = 6  // seq 12
	ruleWidth   = 8  // TRAN-124
)

// WriteText renders the check for readers and for grep: a line a session, a line a
// finding, the verdict last. The palette colours signals and verdict.
func (c *Check) WriteText(w io.Writer, p term.Palette) error {
	out := bufio.NewWriter(w)
	place, rule := c.widths()
	for i := range c.Sessions {
		s := &c.Sessions[i]
		fmt.Fprintln(out, s.line())
		c.findings(out, p, s, place, rule)
	}
	tripped := c.Tripped()
	if c.Frames() == 0 { // what was not observed has not passed
		return out.Flush()
	}
	if tripped == 0 {
		fmt.Fprintln(out, p.Paint(view.RolePassed, "check passed"))
		return out.Flush()
	}
	if s, f := c.First(); f != nil && c.several() {
		fmt.Fprintf(out, "look first at %s seq %d\n", view.SessionID(s.ID), f.Seq)
	}
	fmt.Fprintf(out, "%s: %s\n", p.Paint(view.RoleFailed, "check failed"), tripped)
	return out.Flush()
}

// several reports whether there is a choice of where to look.
func (c *Check) several() bool {
	n := 0
	for i := range c.Sessions {
		for j := range c.Sessions[i].Findings {
			if c.shown(&c.Sessions[i].Findings[j]) {
				n++
			}
		}
	}
	return len(c.Sessions) > 1 || n > 1
}

func (s *Session) line() string {
	line := "session " + view.SessionID(s.ID) + ":"
	for _, n := range counters {
		if !gate.Judged().Has(n.signal) {
			continue
		}
		count := s.Signals[n.signal]
		if n.of != nil {
			count = n.of(s)
		}
		line += fmt.Sprintf(" %s=%d", n.name, count)
	}
	return line
}

func (f *Finding) place() string {
	switch {
	case f.Seq > 0:
		return fmt.Sprintf("seq %d", f.Seq)
	case f.Line > 0:
		return fmt.Sprintf("line %d", f.Line)
	}
	return ""
}

func (c *Check) widths() (place, rule int) {
	place, rule = placeWidth, ruleWidth
	for i := range c.Sessions {
		for j := range c.Sessions[i].Findings {
			if f := &c.Sessions[i].Findings[j]; c.shown(f) {
				place, rule = max(place, len(f.place())), max(rule, len(f.Rule))
			}
		}
	}
	return place, rule
}

// findings lists what was found; the number that is left out follows the listed
// findings of its class.
func (c *Check) findings(out io.Writer, p term.Palette, s *Session, place, rule int) {
	row := func(signal gate.Signal, at, id, text string) {
		name := signal.String()
		pad := max(0, signalWidth-len(name))
		name = p.Paint(view.SignalRole(name), name)
		fmt.Fprintf(out, "  %s%*s  %-*s  %-*s  %s\n", name, pad, "", place, at, rule, id, text)
	}
	for _, gates := range []bool{true, false} {
		for i := range s.Findings {
			f := &s.Findings[i]
			if c.FailOn.Has(f.Signal) == gates && c.shown(f) {
				row(f.Signal, f.place(), f.Rule, f.Text)
			}
		}
		for _, m := range s.More {
			if c.FailOn.Has(m.Signal) == gates && c.shown(&Finding{Signal: m.Signal}) {
				row(m.Signal, "", "", fmt.Sprintf("and %d more", m.N))
			}
		}
	}
}
