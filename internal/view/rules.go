package view

import (
	"strings"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// Fact is one thing that is known about a rule or check, with its name.
type Fact struct {
	Name, Text string
}

// Revisions names a set of revisions: neighbours as a range, others one by one.
func Revisions(in mcp.Revisions) string {
	var parts []string
	known := mcp.Known()
	for i := 0; i < len(known); i++ {
		if !in.Has(known[i]) {
			continue
		}
		first := known[i]
		for i+1 < len(known) && in.Has(known[i+1]) {
			i++
		}
		part := first.String()
		if known[i] != first {
			part += " to " + known[i].String()
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// Rules lists clauses.
func Rules(list []*judge.Clause) *Table {
	t := &Table{Columns: []Column{
		{Head: "RULE"}, {Head: "LEVEL"}, {Head: "BINDS"}, {Head: "REVISIONS"}, {Head: "SIGNAL"}, {Head: "JUDGED"}, {Head: "SAYS"},
	}}
	for _, c := range list {
		t.Rows = append(t.Rows, []string{
			c.ID, c.Level.String(), c.Actor.String(), Revisions(c.In), c.Signal.String(), judged(c), c.Rule,
		})
	}
	return t
}

func judged(c *judge.Clause) string {
	if len(c.Checks) == 0 {
		return "no"
	}
	return "yes"
}

// RuleFacts is what there is to say about a clause, apart from its checks.
func RuleFacts(c *judge.Clause) []Fact {
	return told([]Fact{
		{"level", c.Level.String()},
		{"binds", c.Actor.String()},
		{"revisions", Revisions(c.In)},
		{"signal", c.Signal.String()},
		{"if declared", c.Gate},
		{"not judged", c.Unjudged},
		{"see", c.URL(c.Newest())},
	})
}

// CheckFacts is what there is to say about a check, apart from its clauses.
func CheckFacts(c *judge.Check) []Fact {
	return told([]Fact{{"why", c.Why}, {"fix", c.Fix}, {"evidence", c.Convicts}, {"exempt", c.Exempts}})
}

// told leaves out facts without a text.
func told(list []Fact) []Fact {
	kept := list[:0]
	for _, f := range list {
		if f.Text != "" {
			kept = append(kept, f)
		}
	}
	return kept
}

// CheckIDs joins the ids of checks.
func CheckIDs(list []*judge.Check) string {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return strings.Join(ids, ",")
}
