package view

import "mcpsnoop/internal/capture"

// Mark is a sign of one cell with its form for terminals that show ASCII only.
type Mark struct{ Glyph, ASCII string }

// In returns the form of the mark for a terminal.
func (m Mark) In(ascii bool) string {
	if ascii {
		return m.ASCII
	}
	return m.Glyph
}

// The marks, in the order in which the left edge prefers them where they stand
// there. Signs of rows that are no problem follow.
var (
	MarkError  = Mark{"✗", "x"}
	MarkMust   = Mark{"◆", "M"}
	MarkLost   = Mark{"▒", "#"}
	MarkShould = Mark{"◇", "S"}
	MarkLate   = Mark{"◷", "l"}
	MarkCancel = Mark{"⊘", "c"}
	MarkSlow   = Mark{"!", "!"} // after a duration

	MarkToServer = Mark{"→", ">"}
	MarkToClient = Mark{"←", "<"}
	MarkAnswer   = Mark{"└", `\`}
	MarkStderr   = Mark{"┆", "!"}
	MarkOwn      = Mark{"─", "-"} // a row of the tap's own
)

// Arrow returns the mark that says who sent a frame.
func Arrow(d capture.Dir) Mark {
	switch d {
	case capture.C2S:
		return MarkToServer
	case capture.S2C:
		return MarkToClient
	case capture.Stderr:
		return MarkStderr
	}
	return MarkOwn
}
