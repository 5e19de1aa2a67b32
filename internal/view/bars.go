package view

import (
	"strconv"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// What bars are made of.
var (
	BarServer = Mark{"█", "="} // with the server
	BarClient = Mark{"░", "."} // with the client
	BarAfter  = Mark{"▓", ":"} // after the cancellation
	BarOpen   = Mark{"▸", ">"} // the end of what is open
	BarShort  = Mark{"▏", "|"} // of one cell
	BarBefore = Mark{"‹", "{"} // it began before the chart does
	BarBehind = Mark{"›", "}"} // it ended behind the end of the chart
)

// scale maps moments to cells.
type scale struct {
	first time.Time
	span  time.Duration // never 0
	cells int
}

func newScale(first, last time.Time, cells int) scale {
	return scale{first, max(time.Millisecond, last.Sub(first)), cells}
}

// cell is the cell that a moment lies in.
func (s scale) cell(t time.Time) int {
	n := int(float64(t.Sub(s.first)) / float64(s.span) * float64(s.cells))
	return min(max(n, 0), s.cells-1)
}

// tickCells is how many cells there are at least from one tick of the axis to the next.
const tickCells = 8

// steps are the distances of ticks within each unit; what follows the last is the first
// of the next.
var steps = []struct {
	unit  time.Duration
	word  string
	times []int64
}{
	{time.Millisecond, "ms", []int64{1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 100, 200, 300, 400, 500}},
	{time.Second, "s", []int64{1, 2, 3, 4, 5, 10, 15, 20, 30}},
	{time.Minute, "m", []int64{1, 2, 3, 4, 5, 10, 15, 20, 30}},
	{time.Hour, "h", []int64{1, 2, 3, 4, 6, 12}},
	{24 * time.Hour, "d", []int64{1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000}},
}

// tick is the distance of ticks, with the unit in which they are told.
func (s scale) tick() (step, unit time.Duration, word string) {
	for _, u := range steps {
		for _, n := range u.times {
			step, unit, word = time.Duration(n)*u.unit, u.unit, u.word
			if float64(step)/float64(s.span)*float64(s.cells) >= tickCells {
				return step, unit, word
			}
		}
	}
	return step, unit, word
}

// axis words the ticks.
func (s scale) axis() string {
	step, unit, word := s.tick()
	line := "0" + word
	for at := step; at < s.span; at += step {
		cell := int(float64(at) / float64(s.span) * float64(s.cells))
		text := strconv.FormatInt(int64(at/unit), 10) + word
		if cell <= len(line) || cell+len(text) > s.cells+tickCells {
			continue
		}
		line += spaces(cell-len(line)) + text
	}
	return line
}

// bar draws a call: from which cell on, and what stands there.
func (s scale) bar(c *RunCall, ascii bool) (at int, bar string) {
	from, to := s.cell(c.Start()), s.cell(c.End())
	cells := make([]Mark, to-from+1)
	fill := func(a, b time.Time, m Mark) {
		for i := s.cell(a); i <= s.cell(b); i++ {
			cells[i-from] = m
		}
	}
	with, other := BarServer, BarClient
	if c.Call.Dir != capture.C2S {
		with, other = other, with
	}
	fill(c.Start(), c.End(), with)
	if _, asking := c.Call.Shares(c.end()); asking > 0 {
		fill(c.Start(), c.End(), other)
		s.shares(c, with, fill)
	}
	if x := c.Call.Cancel; x != nil {
		if c.Call.Late {
			fill(c.at(x.At), c.End(), BarAfter)
		}
		cells[min(max(0, s.cell(c.at(x.At))-from), len(cells)-1)] = MarkCancel
	}
	end, marked := endMark(c)
	switch {
	case marked:
		cells[len(cells)-1] = end
	case len(cells) == 1:
		cells[0] = BarShort
	}
	if c.Start().Before(s.first) {
		cells[0] = BarBefore
	}
	if c.End().After(s.first.Add(s.span)) {
		cells[len(cells)-1] = BarBehind
	}
	for _, m := range cells {
		bar += m.In(ascii)
	}
	return from, bar
}

// shares draws the parts of a call in which its answering side had it.
func (s scale) shares(c *RunCall, with Mark, fill func(a, b time.Time, m Mark)) {
	for i := range c.Call.Legs {
		l := &c.Call.Legs[i]
		end := l.Answered
		if end == (session.Instant{}) {
			end = c.end()
		}
		fill(c.at(l.Asked), c.at(end), with)
	}
}

// endMark is what the last cell of a bar carries.
func endMark(c *RunCall) (Mark, bool) {
	switch {
	case c.Call.Open(), c.Call.State == session.StateAbandoned:
		return BarOpen, true
	case c.Call.Late:
		return MarkLate, true
	case c.Call.Errored:
		return MarkError, true
	}
	return Mark{}, false
}
