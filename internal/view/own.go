package view

import (
	"fmt"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// Gap words what a record lacks at one place, or how time jumped there.
func Gap(g *session.GapNote) string {
	switch g.Kind {
	case session.Lost:
		text := Plural(g.Gap.Lost, "frame", "frames") + " lost"
		if g.Gap.Reason != "" {
			text += ": " + cut(g.Gap.Reason)
		}
		return text + ", " + seqs(g.Gap.First, g.Gap.Last)
	case session.Hole:
		return Plural(g.Gap.Lost, "frame", "frames") + " missing, " + seqs(g.Gap.First, g.Gap.Last)
	case session.Skipped:
		text := fmt.Sprintf("log line %d unreadable (%s)", g.Line, Size(int64(g.Bytes)))
		if g.Why != "" {
			text += ": " + cut(g.Why)
		}
		return text
	case session.TornEnd:
		text := "log ends inside a line"
		if g.Line > 0 {
			text = fmt.Sprintf("log ends inside line %d", g.Line)
		}
		return text + ": " + Size(int64(g.Bytes)) + " of a frame"
	case session.Stepped:
		return Jump(g.Clock)
	}
	return "capture incomplete"
}

// Jump words a moment at which wall clock and monotonic clock parted.
func Jump(c capture.ClockInfo) string {
	if slept := c.Wall - c.Mono; slept > 0 {
		return "the machine slept " + Duration(slept) + " meanwhile, not counted"
	}
	return "the clock stepped by -" + Age(c.Mono-c.Wall)
}

func seqs(first, last uint64) string {
	switch {
	case first == 0 && last == 0:
		return "seq unknown"
	case first == last:
		return fmt.Sprintf("seq %d", first)
	}
	return fmt.Sprintf("seq %d–%d", first, last)
}

// ownText words a frame that the tap wrote of its own, "" if a gap note has said
// it already.
func ownText(f *capture.Frame, noted bool) string {
	switch f.Kind {
	case capture.Start:
		return startText(f)
	case capture.End:
		if e, err := capture.ParseEnd(f.Payload); err == nil && (e.ExitCode != nil || e.Signal != "") {
			return "end: server " + End(&e)
		}
		return "end"
	case capture.HTTPHead:
		return httpText(f)
	case capture.Open:
		return joined("stream open", httpText(f))
	case capture.Close:
		by := ""
		if f.HTTP != nil && f.HTTP.ClosedBy != "" {
			by = "by " + cut(f.HTTP.ClosedBy)
		}
		why := ""
		if f.HTTP != nil && f.HTTP.Error != "" {
			why = cut(f.HTTP.Error)
		}
		return joined("closed", by, httpText(f), why)
	case capture.Gap, capture.Clock:
		if noted {
			return ""
		}
		return "gap"
	}
	return "note of the recorder"
}

func startText(f *capture.Frame) string {
	s, err := capture.ParseStart(f.Payload)
	if err != nil {
		return "start"
	}
	what := strings.Join(s.Command, " ")
	if what == "" && s.Target != "" {
		what = s.Listen + " for " + s.Target
	}
	return joined("start", text(what, maxText))
}

func joined(parts ...string) string {
	var w words
	w.add(parts...)
	return w.String()
}

// sinceStart is a moment of a call as an offset from its request: "+500ms".
func sinceStart(c *session.Call, at session.Instant) string { return "+" + Duration(at.Sub(c.Start)) }
