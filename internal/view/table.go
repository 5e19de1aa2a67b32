package view

import (
	"slices"
	"strings"

	"mcpsnoop/internal/term"
)

// Column is the head of a column and how its cells stand.
type Column struct {
	Head  string
	Right bool // numbers
}

// Table is rows under heads. Cells may hold what a peer sent: [Table.Lines]
// escapes them.
type Table struct {
	Columns []Column
	Rows    [][]string
	Roles   []map[int]term.Role // of cells that have one, by row and column
}

// drop takes a column out that nothing fills.
func (t *Table) drop(column int) {
	t.Columns = slices.Delete(t.Columns, column, column+1)
	for i := range t.Rows {
		t.Rows[i] = slices.Delete(t.Rows[i], column, column+1)
	}
	for i, roles := range t.Roles {
		moved := map[int]term.Role{}
		for at, role := range roles {
			if at < column {
				moved[at] = role
			} else if at > column {
				moved[at-1] = role
			}
		}
		t.Roles[i] = moved
	}
}

// Lines lays the table out, heads first, columns two blanks apart. With a width
// above 0 (a terminal's) the last column is cut to fit; lines never end in blanks.
func (t *Table) Lines(width int) []string { return t.Paint(width, term.Palette{}) }

// Paint is Lines with cells in the colours of their roles.
func (t *Table) Paint(width int, p term.Palette) []string {
	rows := make([][]string, 0, len(t.Rows)+1)
	heads := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heads[i] = c.Head
	}
	rows = append(rows, heads)
	for _, row := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i := range min(len(cells), len(row)) {
			cells[i] = term.Escape(row[i])
		}
		rows = append(rows, cells)
	}
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], term.Width(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var roles map[int]term.Role
		if n > 0 && n <= len(t.Roles) {
			roles = t.Roles[n-1]
		}
		lines[n] = t.line(row, widths, width, func(i int, cell string) string {
			return p.Paint(roles[i], cell)
		})
	}
	return lines
}

func (t *Table) line(row []string, widths []int, width int, paint func(int, string) string) string {
	var b strings.Builder
	at := 0
	for i, cell := range row {
		if i > 0 {
			b.WriteString("  ")
			at += 2
		}
		if i == len(row)-1 && width > 0 && !t.Columns[i].Right {
			cell = term.Cut(cell, max(1, width-at))
		}
		pad := strings.Repeat(" ", max(0, widths[i]-term.Width(cell)))
		if t.Columns[i].Right {
			b.WriteString(pad)
			pad = ""
		}
		b.WriteString(paint(i, cell))
		b.WriteString(pad)
		at += widths[i]
	}
	return strings.TrimRight(b.String(), " ")
}
