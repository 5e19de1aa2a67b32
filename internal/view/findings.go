package view

import (
	"fmt"
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/term"
)

// FindingMark is the mark of a clause that was broken.
func FindingMark(c *judge.Clause) Mark {
	if c.Level.Binds() {
		return MarkMust
	}
	return MarkShould
}

func findingRole(c *judge.Clause) term.Role { return SignalRole(c.Signal.String()) }

// Finding words a finding where its frame stands already: mark, clause, what was found.
func Finding(g *judge.Group, ascii bool) string {
	return fmt.Sprintf("%s: %s", findingSign(g, ascii), term.Escape(g.Detail))
}

// findingSign is mark and id, with how many more rows say the same.
func findingSign(g *judge.Group, ascii bool) string {
	sign := FindingMark(g.Clause).In(ascii) + " " + g.Clause.ID
	if g.Rows > 1 {
		sign += fmt.Sprintf(" +%d", g.Rows-1)
	}
	return sign
}

// Mark puts the signs of what was found at the frame at the end of its line, each once.
func (l *Line) Mark(list []judge.Group, ascii bool) {
	for i := range list {
		same := func(g judge.Group) bool { return g.Clause.ID == list[i].Clause.ID }
		if slices.ContainsFunc(list[:i], same) {
			continue
		}
		sign := findingSign(&list[i], ascii)
		from := len(l.Text) + 1
		l.Text += " " + sign
		l.Signs = append(l.Signs, Sign{from, from + len(sign), findingRole(list[i].Clause)})
	}
}

// Late is the line of a finding at another frame than f, by which it became certain.
func (l *Liner) Late(f *capture.Frame, g *judge.Group) Line {
	base := lineOf(f)
	base.Arrow, base.Text = MarkOwn.In(l.ASCII), fmt.Sprintf("found at seq %d", g.Seq)
	base.Mark([]judge.Group{*g}, l.ASCII)
	base.Text += ": " + term.Escape(g.Detail)
	return base
}
