package checks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// expected is what a trace of the shared corpus should come to.
type expected struct {
	Revision string            `json:"revision"`
	Totals   map[string]int    `json:"totals"`
	Outcomes map[string]string `json:"outcomes"`
	Findings []struct {
		ID   string   `json:"id"`
		Seqs []uint64 `json:"seqs"`
	} `json:"findings"`
	Live []struct {
		ID      string `json:"id"`
		Seq     uint64 `json:"seq"`
		Visible any    `json:"visible_at"`
	} `json:"live"`
}

// corpus calls do with each trace.
func corpus(t *testing.T, do func(name, path string, want *expected, rev mcp.Revision)) {
	root := shared(t, "corpus")
	paths, _ := filepath.Glob(root + "/*/*/*.jsonl")
	if len(paths) == 0 {
		t.Fatal("no traces")
	}
	for _, path := range paths {
		stem := strings.TrimSuffix(path, ".jsonl")
		text, err := os.ReadFile(stem + ".expected.json")
		if err != nil {
			t.Fatal(err)
		}
		want := new(expected)
		if err := json.Unmarshal(text, want); err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, stem)
		do(filepath.ToSlash(name), path, want, mcp.ParseRevision(want.Revision))
	}
}

// deviations reads the list of what we judge otherwise, on purpose: by trace and clause, what
// we say.
func deviations(t *testing.T) map[string]string {
	text, err := os.ReadFile("../../docs/decisions/deviations.md")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`20") {
			continue
		}
		key := strings.Trim(cells[1], " `") + " " + strings.Trim(cells[2], " `")
		list[key] = strings.TrimSpace(cells[3])
		if strings.TrimSpace(cells[4]) == "" {
			t.Errorf("deviation %s has no reason", key)
		}
	}
	return list
}

// told says in one line what a row came to.
func told(outcome string, seqs []uint64) string {
	if len(seqs) == 0 {
		return outcome
	}
	return outcome + " " + strings.Trim(fmt.Sprint(seqs), "[]")
}

// mine reports whether a clause is one to be told of.
func mine(c *judge.Clause) bool {
	if *only == "" {
		return true
	}
	return slices.ContainsFunc(c.Checks, func(by *judge.Check) bool {
		area, _, _ := strings.Cut(by.ID, ".")
		return slices.Contains(strings.Split(*only, ","), area)
	})
}

// TestCorpus: every trace comes to the outcomes, totals and findings that are expected
// of it, but for the deviations that are listed, each of which is really one.
func TestCorpus(t *testing.T) {
	list := deviations(t)
	corpus(t, func(name, path string, want *expected, rev mcp.Revision) {
		j, _ := judged(t, openLog(t, path), judge.Options{Revision: rev})
		if j.Len() != 1 {
			t.Errorf("%s: %d sessions", name, j.Len())
		}
		report := j.End(0)
		seqs := map[string][]uint64{}
		for _, f := range want.Findings {
			seqs[f.ID] = f.Seqs
		}
		deviates := false
		for _, row := range report.List {
			if row.Outcome == judge.Excluded || !mine(row.Clause) {
				continue
			}
			var found []uint64
			for _, f := range row.Findings {
				found = append(found, f.Seq)
			}
			got, should := told(row.Outcome.String(), found), told(want.Outcomes[row.Clause.ID], seqs[row.Clause.ID])
			key := name + " " + row.Clause.ID
			if said, ok := list[key]; ok {
				deviates = true
				delete(list, key)
				if got != said || got == should {
					t.Errorf("%s: %s, listed as %s; the corpus says %s", key, got, said, should)
				}
				continue
			}
			if got != should {
				t.Errorf("%s: %s, want %s", key, got, should)
				for _, f := range row.Findings {
					t.Logf("    seq %d: %s", f.Seq, f.Detail)
				}
			}
		}
		if n := report.Totals(); !deviates && *only == "" {
			for _, o := range []judge.Outcome{judge.Pass, judge.Fail, judge.Warned, judge.Excluded, judge.NotApplicable, judge.NotObserved, judge.Unsupported} {
				if key := strings.ReplaceAll(o.String(), "-", "_"); n[o] != want.Totals[key] {
					t.Errorf("%s: %d %s, want %d", name, n[o], key, want.Totals[key])
				}
			}
		}
	})
	for key := range list {
		if *only == "" {
			t.Errorf("deviation %s: no such row", key)
		}
	}
}
