package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/mcp"
)

func TestRulesJSON(t *testing.T) {
	var out bytes.Buffer
	clauses := checks.Registry().Clauses()
	if err := writeRules(&out, clauses); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	var doc rulesJSON
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(new(any)); err != io.EOF {
		t.Errorf("more than a document: %v", err)
	}
	if doc.Version != 1 || len(doc.Rules) != len(clauses) {
		t.Fatalf("version %d with %d rules of %d", doc.Version, len(doc.Rules), len(clauses))
	}
	for i, r := range doc.Rules {
		c := clauses[i]
		if r.ID != c.ID || r.Level != c.Level.String() || r.Actor != c.Actor.String() || r.Signal != c.Signal.String() || r.Section != c.Section {
			t.Errorf("%s: %+v", c.ID, r)
		}
		if r.Judged != (r.Check != "") || r.Judged != (r.Reason == "") || r.Rule == "" || len(strings.Split(r.Check, ",")) < len(c.Checks) {
			t.Errorf("%s: judged %v by %q, reason %q", r.ID, r.Judged, r.Check, r.Reason)
		}
		if r.Gate != c.Gate {
			t.Errorf("%s: gate %q, want %q", r.ID, r.Gate, c.Gate)
		}
		if len(r.Revisions) == 0 || !strings.Contains(r.URL, "/"+r.Revisions[len(r.Revisions)-1]+"/") {
			t.Errorf("%s: %q for %v", r.ID, r.URL, r.Revisions)
		}
		for _, name := range r.Revisions {
			if !c.In.Has(mcp.ParseRevision(name)) {
				t.Errorf("%s is not in force at %q", r.ID, name)
			}
		}
	}
}

// TestRulesJSONExplains: what the text says of a check, JSON says too.
func TestRulesJSONExplains(t *testing.T) {
	all := checks.Registry().Checks()
	var out bytes.Buffer
	if err := writeRules(&out, checks.Registry().Clauses()); err != nil {
		t.Fatal(err)
	}
	doc := strict[rulesJSON](t, out.String())
	if len(doc.Checks) != len(all) {
		t.Fatalf("%d checks of %d", len(doc.Checks), len(all))
	}
	for _, c := range all {
		want := checkJSON{c.ID, c.Title, c.Why, c.Fix, c.Convicts, c.Exempts}
		if !slices.Contains(doc.Checks, want) {
			t.Errorf("nothing says %+v", want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"TOOL-006", "TOOL-007", "tools.name-charset", "tools.name-length"}
	for word, want := range map[string]string{
		"tool-006": "TOOL-006", "TOOL-07": "TOOL-007", "tools.name-chars": "tools.name-charset", "name-length": "tools.name-length", "": "TOOL-006",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"abc", "abc", 0}} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
