package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// RunCall is a call as a row of a run.
type RunCall struct {
	Session int    // in RunPage.Sessions
	Server  string // its name
	Call    *session.Call
	Depth   int
	Wide    bool            // it carried no trace id: it belongs to its session, whatever run that is in
	Upto    session.Instant // an open call is measured up to here
	Over    bool            // its session is over: an open call stays unanswered
}

// end is when the call ended, or up to when it is measured.
func (c *RunCall) end() session.Instant {
	if c.Call.Open() || c.Call.End == (session.Instant{}) {
		return c.Upto
	}
	return c.Call.End
}

// Start is when the call began, by the wall clock.
func (c *RunCall) Start() time.Time { return c.Call.Start.Wall }

// End is when it ended, or up to when it is measured: the wall clock tells where it
// begins, the clock of its tap how long it took.
func (c *RunCall) End() time.Time { return c.at(c.end()) }

func (c *RunCall) at(i session.Instant) time.Time { return c.Start().Add(i.Sub(c.Call.Start)) }

// RunPage is what a run looks like.
type RunPage struct {
	Run      *run.Run
	Sessions []RunSession
	Calls    []RunCall // by Start
	Now      time.Time
	Width    int  // of lines, as far as possible
	Cut      bool // names give way so that bars fit
	ASCII    bool
}

// Limits of columns.
const (
	minBars = 24
	minCall = 12
)

// Lines lays the page out: what the run is, its sessions, then a row for each call with
// a bar to scale.
func (p *RunPage) Lines(palette term.Palette) []string {
	untraced := 0
	if p.Run.Kind == run.ByTrace {
		for i := range p.Calls {
			if p.Calls[i].Wide {
				untraced++
			}
		}
	}
	lines := append([]string{runHead(p.Run, p.Sessions, untraced, p.Now), ""}, runSessions(p.Sessions, palette)...)
	if len(p.Calls) == 0 {
		return lines
	}
	return append(append(lines, ""), p.waterfall(palette)...)
}

// The columns before the bars.
const (
	colStart = iota
	colServer
	colCall
	colScope // only where calls differ in it
	colDur
	colOutcome
	columns
)

// scopeWide is the scope of a call that belongs to its session.
const scopeWide = "session-wide"

// row is the cells of a call before its bar.
type row struct {
	cells [columns]string
	role  term.Role // of the outcome and the bar
	wide  bool
}

// paint pads the cells to the widths of their columns. A column that nothing stands in
// is left out.
func (r *row) paint(widths *[columns]int, palette term.Palette) string {
	var line strings.Builder
	for k, width := range widths {
		if width == 0 {
			continue
		}
		text := pad(r.cells[k], width, k == colStart || k == colDur)
		switch {
		case k == colOutcome:
			text = palette.Paint(r.role, r.cells[k]) + spaces(width-term.Width(r.cells[k]))
		case k == colScope && r.wide:
			text = palette.Paint(term.Dim, text)
		}
		line.WriteString(text + "  ")
	}
	return line.String()
}

// span is from when to when the calls of the run itself went. Those that belong to their
// sessions may lie hours away, and would leave the others no room.
func (p *RunPage) span() (first, last time.Time) {
	own := slices.DeleteFunc(slices.Clone(p.Calls), func(c RunCall) bool { return c.Wide })
	if len(own) == 0 {
		own = p.Calls
	}
	first = own[0].Start()
	for i := range own {
		if end := own[i].End(); end.After(last) {
			last = end
		}
	}
	return first, last
}

// rows words the calls, below the heads of the columns.
func (p *RunPage) rows(first time.Time) []row {
	rows := []row{{cells: [columns]string{"START", "SERVER", "CALL", "", "DUR", "OUTCOME"}}}
	for i := range p.Calls {
		c := &p.Calls[i]
		status := CallStatus(c.Call, c.Over)
		dur := c.end().Sub(c.Call.Start)
		text := Duration(dur)
		if dur >= SlowAfter && c.Call.Stream == nil {
			text += MarkSlow.In(p.ASCII)
		}
		one := row{[columns]string{since(c.Start().Sub(first)), c.Server, c.name(false, p.ASCII), "", text, string(status)}, status.Role(), c.Wide}
		if c.Wide {
			one.cells[colScope], rows[0].cells[colScope] = scopeWide, "SCOPE"
		}
		rows = append(rows, one)
	}
	return rows
}

// waterfall draws the calls.
func (p *RunPage) waterfall(palette term.Palette) []string {
	first, last := p.span()
	rows := p.rows(first)
	var widths [columns]int
	measure := func() (sum int) {
		for k := range widths {
			widths[k] = 0
			for i := range rows {
				widths[k] = max(widths[k], term.Width(rows[i].cells[k]))
			}
			if widths[k] > 0 {
				sum += widths[k] + 2
			}
		}
		return sum
	}
	used := measure()
	if p.Cut && used+minBars > p.Width {
		for i := range p.Calls {
			rows[i+1].cells[colCall] = p.Calls[i].name(true, p.ASCII)
			if p.Calls[i].Wide {
				rows[i+1].cells[colScope] = "wide"
			}
		}
		over := measure() + minBars - p.Width
		for i := range rows {
			rows[i].cells[colCall] = term.Cut(rows[i].cells[colCall], max(minCall, widths[colCall]-max(0, over)))
		}
		used = measure()
	}
	scale := newScale(first, last, max(minBars, p.Width-used))
	var lines []string
	for i := range rows {
		r := &rows[i]
		line := r.paint(&widths, palette)
		if i == 0 {
			line += scale.axis()
		} else {
			at, bar := scale.bar(&p.Calls[i-1], p.ASCII)
			line += spaces(at) + palette.Paint(r.role, bar)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// name words the call of a row; short leaves the method out where a name says enough.
func (c *RunCall) name(short, ascii bool) string {
	text := Operation(c.Call.Method, c.Call.Target)
	if short {
		text = Subject(c.Call.Method, c.Call.Target)
	}
	if c.Call.Retries > 0 {
		text += "  " + Plural(int64(c.Call.Retries), "retry", "retries")
	}
	if p := c.Call.Progress; c.Call.Open() && p != nil && p.Total > 0 {
		text += fmt.Sprintf("  %d%%", int(100*min(1, max(0, p.Value/p.Total))))
	}
	if c.Depth > 0 {
		text = spaces(2*(c.Depth-1)) + MarkAnswer.In(ascii) + " " + text
	}
	return text
}

// CallStatus returns the word for how a call came out as a whole; over says that its
// session has ended.
func CallStatus(c *session.Call, over bool) Status {
	switch {
	case c.Unknown():
		return Nothing
	case c.Late:
		return StatusLate
	case c.Expected:
		return StatusRefused
	case c.ToolError:
		return StatusToolError
	}
	switch c.State {
	case session.StateCompleted:
		return StatusOK
	case session.StateFailed:
		if c.Task != nil && !c.Errored {
			return TaskStatus(c.Task.Status)
		}
		return StatusError
	case session.StateCancelled:
		return StatusCancel
	case session.StateSuperseded:
		return StatusSuperseded
	}
	return openStatus(c, over)
}

// since words how long after the beginning a call began, or before it.
func since(d time.Duration) string {
	if d < 0 {
		return "-" + fixed(-d, time.Second, 3) + "s"
	}
	return "+" + fixed(d, time.Second, 3) + "s"
}

func spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

func pad(text string, width int, right bool) string {
	blanks := spaces(width - term.Width(text))
	if right {
		return blanks + text
	}
	return text + blanks
}
