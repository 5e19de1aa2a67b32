package view

import (
	"strings"
	"testing"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

func TestRevisions(t *testing.T) {
	for _, c := range []struct {
		in   mcp.Revisions
		want string
	}{
		{0, ""},
		{1 << mcp.V2025_06_18, "2025-06-18"},
		{mcp.Legacy, "2024-11-05 to 2025-11-25"},
		{1<<mcp.V2024_11_05 | 1<<mcp.V2025_11_25 | 1<<mcp.V2026_07_28, "2024-11-05, 2025-11-25 to 2026-07-28"},
		{mcp.AllRevisions, "2024-11-05 to 2026-07-28"},
	} {
		if got := Revisions(c.in); got != c.want {
			t.Errorf("Revisions(%b) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestRules(t *testing.T) {
	check := &judge.Check{ID: "tools.shade", Why: "w", Convicts: "c"}
	list := []*judge.Clause{
		{ID: "TOOL-900", In: 1 << mcp.V2025_11_25, Level: judge.Must, Actor: judge.Server, Section: "server/tools#tool", Rule: "Tools have a shade.", Checks: []*judge.Check{check, {ID: "tools.hue"}}},
		{ID: "TOOL-901", In: mcp.Legacy, Level: judge.ShouldNot, Actor: judge.Both, Signal: judge.Advice, Gate: "server.tools", Section: "server/tools", Rule: "Nobody stares.", Unjudged: "it is dark"},
	}
	want := strings.Join([]string{
		"RULE      LEVEL       BINDS   REVISIONS                 SIGNAL  JUDGED  SAYS",
		"TOOL-900  MUST        server  2025-11-25                warn    yes     Tools have a shade.",
		"TOOL-901  SHOULD NOT  both    2024-11-05 to 2025-11-25  should  no      Nobody stares.",
	}, "\n")
	if got := strings.Join(Rules(list).Lines(0), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := facts(RuleFacts(list[1])); got != "level=SHOULD NOT binds=both revisions=2024-11-05 to 2025-11-25 signal=should if declared=server.tools "+
		"not judged=it is dark see=https://modelcontextprotocol.io/specification/2025-11-25/server/tools" {
		t.Error(got)
	}
	if got := facts(CheckFacts(check)); got != "why=w evidence=c" {
		t.Error(got)
	}
	if got := CheckIDs(list[0].Checks); got != "tools.shade,tools.hue" {
		t.Error(got)
	}
}

func facts(list []Fact) string {
	var parts []string
	for _, f := range list {
		parts = append(parts, f.Name+"="+f.Text)
	}
	return strings.Join(parts, " ")
}
