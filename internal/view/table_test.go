package view

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{
		Columns: []Column{{Head: "NAME"}, {Head: "N", Right: true}, {Head: "NOTE"}},
		Rows:    [][]string{{"a", "1", "short"}, {"läng\x1b[2J", "12345", "a note that is long"}, {"b", "2"}},
	}
	want := strings.Join([]string{
		`NAME               N  NOTE`,
		`a                  1  short`,
		`läng\u{1b}[2J  12345  a note that is long`,
		`b                  2`,
	}, "\n")
	if got := strings.Join(table.Lines(0), "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := table.Lines(30)[2]; got != `läng\u{1b}[2J  12345  a note …` {
		t.Errorf("cut to a terminal: %q", got)
	}
}
