package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
)

// must is what the judge has to find in the shared cases, a rule and its frames each;
// "note" is a note.
var must = map[string][]string{
	"batch-after-it-was-removed":           {"TRAN-026 5", "BASE-008 5 7"},
	"http-accept-header-406":               {"TRAN-025 1", "BASE-009 2 4"},
	"ids-null-request":                     {"BASE-002 5 7"},
	"ids-number-answered-as-string":        {"BASE-004 3"},
	"modern-routing-header-missing":        {"TRAN-058 1 3"},
	"mrtr-state-tampered":                  {"MRTR-003 4"},
	"progress-after-the-answer":            {"PROG-507 10"},
	"sampling-not-declared":                {"LIFE-009 8"},
	"session-unknown-id-400":               {"note 8 10 12"},
	"stdout-dependency-logger":             {"TRAN-004 8 9 10 11 12"},
	"stdout-startup-banner":                {"TRAN-004 3"},
	"subscription-without-acknowledgement": {"SUBS-002 3", "BASE-039 4", "SUBS-001 5"},
	"tools-list-changed-ignored":           {"note 11"},
	"traceparent-malformed":                {"BASE-040 4 6 8 10 12"},
	"version-header-missing-after-init":    {"TRAN-017 5 7"},
	"version-header-nonsense-served":       {"TRAN-018 7"},
}

// TestSharedCases: small captures of problems that people reported give the counts
// that are expected of them, the findings above, and nothing where all was legal.
func TestSharedCases(t *testing.T) {
	root := "../../../shared/cases"
	paths, _ := filepath.Glob(root + "/*.jsonl")
	if len(paths) == 0 {
		t.Skip("no shared cases here")
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) { oneCase(t, path, name) })
	}
}

func oneCase(t *testing.T, path, name string) {
	text, err := os.ReadFile(strings.TrimSuffix(path, ".jsonl") + ".expect.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Legal   bool           `json:"legal"`
		Signals map[string]any `json:"signals"`
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	log, err := capture.OpenLog(capture.Options{Decoder: foreign.NewDecoder}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	o := Options{FailOn: gate.Default(), Judge: judge.New(judge.Options{Registry: checks.Registry()})}
	c := NewCollector(o)
	r := session.New(session.Options{Settled: c.Settled, Revised: c.Revised})
	if err := judge.Fold(log, r, o.Judge, func(f *capture.Frame, _ capture.Ref, st session.Step) error {
		c.Step(f, st)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var sum gate.Counts
	for _, s := range c.Report(r).Sessions {
		sum.Add(s.Signals)
	}
	for _, signal := range gate.Judged().Signals() {
		expect, asserted := want.Signals[signal.String()]
		if !asserted {
			continue
		}
		switch expect := expect.(type) {
		case float64:
			if sum[signal] != int(expect) {
				t.Errorf("%s=%d, want %v", signal, sum[signal], expect)
			}
		case string:
			if n, err := strconv.Atoi(strings.TrimPrefix(expect, ">=")); err != nil || sum[signal] < n {
				t.Errorf("%s=%d, want %s", signal, sum[signal], expect)
			}
		}
	}
	found, told := map[string][]string{}, ""
	for i := range o.Judge.Len() {
		report := o.Judge.End(i)
		for _, rows := range append([]judge.Rows{report.Rows}, report.Also...) {
			for _, row := range rows.List {
				for _, f := range row.Findings {
					found[row.Clause.ID] = append(found[row.Clause.ID], fmt.Sprint(f.Seq))
					told += fmt.Sprintf("\n    %s (%s) seq %d: %s", row.Clause.ID, row.Clause.Level, f.Seq, f.Detail)
				}
			}
		}
		for _, n := range report.Notes {
			if seq := fmt.Sprint(n.Seq); !slices.Contains(found["note"], seq) {
				found["note"] = append(found["note"], seq)
			}
			told += fmt.Sprintf("\n    note seq %d: %s", n.Seq, n.Detail)
		}
	}
	for _, line := range must[name] {
		rule, seqs, _ := strings.Cut(line, " ")
		if got := strings.Join(found[rule], " "); got != seqs {
			t.Errorf("%s at %q, want %q", rule, got, seqs)
		}
	}
	delete(found, "note")
	if want.Legal && len(found) > 0 {
		t.Error("all of it is legal")
	}
	if t.Failed() {
		t.Log("found:" + told)
	}
}
