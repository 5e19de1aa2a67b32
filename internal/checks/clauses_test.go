package checks

import (
	"regexp"
	"strings"
	"testing"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// TestSignals shows under which signal each clause gates, and holds it to the level: what
// the specification only recommends never counts as broken.
func TestSignals(t *testing.T) {
	for _, c := range Registry().Clauses() {
		t.Logf("%-9s %-9s %-10s %s", c.Signal, c.ID, c.Level, c.Newest())
		if advice := c.Signal == judge.Advice; advice == c.Level.Binds() {
			t.Errorf("%s is a %s and gates as %s", c.ID, c.Level, c.Signal)
		}
	}
}

// TestTexts holds the texts of clauses to one line in the form that reports show.
func TestTexts(t *testing.T) {
	loud := regexp.MustCompile(`\b(MUST|SHOULD|SHALL|MAY|REQUIRED|RECOMMENDED)\b`)
	for _, c := range Registry().Clauses() {
		switch {
		case strings.ContainsAny(c.Rule+c.Unjudged, "\n\r\t") || strings.Contains(c.Rule, "  "):
			t.Errorf("%s: more than a line: %q", c.ID, c.Rule)
		case !strings.HasSuffix(c.Rule, ".") || len(c.Rule) > 140:
			t.Errorf("%s: no plain sentence: %q", c.ID, c.Rule)
		case strings.HasSuffix(c.Unjudged, ".") || len(c.Unjudged) > 140:
			t.Errorf("%s: no plain reason: %q", c.ID, c.Unjudged)
		case loud.MatchString(c.Rule):
			t.Errorf("%s: the level stands beside the rule, not in it: %q", c.ID, c.Rule)
		}
	}
}

// TestClausesOfACheck holds that no clause names a check twice, and that the entries of
// an id tell the same rule.
func TestClausesOfACheck(t *testing.T) {
	rules := map[string]string{}
	for _, c := range Registry().Clauses() {
		if c.Newest() == mcp.NoRevision {
			t.Errorf("%s is in force nowhere", c.ID)
		}
		if rule, known := rules[c.ID]; known && rule != c.Rule {
			t.Errorf("%s has two rules: %q and %q", c.ID, rule, c.Rule)
		}
		rules[c.ID] = c.Rule
		seen := map[*judge.Check]bool{}
		for _, check := range c.Checks {
			if seen[check] {
				t.Errorf("%s names %s twice", c.ID, check.ID)
			}
			seen[check] = true
		}
	}
}
