package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpsnoop/internal/judge"
)

// TestRealLogs: every MUST that captures of real peers break is explained, frame by
// frame, in docs/decisions/real-logs.md, and nothing else is found.
func TestRealLogs(t *testing.T) {
	text, err := os.ReadFile("../../docs/decisions/real-logs.md")
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[1], ".jsonl") {
			continue
		}
		if strings.TrimSpace(cells[4]) == "" {
			t.Errorf("no reason: %s", line)
		}
		for _, log := range strings.Split(strings.Trim(cells[1], " `"), " ") {
			for _, id := range strings.Fields(strings.Trim(cells[2], " `")) {
				explained[fmt.Sprintf("%s %s %s", strings.Trim(log, "`,"), strings.Trim(id, ","), strings.TrimSpace(cells[3]))] = false
			}
		}
	}
	paths, _ := filepath.Glob(shared(t, "real-logs") + "/*.jsonl")
	for _, path := range paths {
		j, r := judged(t, openLog(t, path), judge.Options{})
		found := map[string][]string{}
		for i := range j.Len() {
			report := j.End(i)
			for _, rows := range append([]judge.Rows{report.Rows}, report.Also...) {
				for _, row := range rows.List {
					if row.Outcome != judge.Fail {
						continue
					}
					for _, f := range row.Findings {
						seq := fmt.Sprint(f.Seq)
						if !slices.Contains(found[row.Clause.ID], seq) {
							found[row.Clause.ID] = append(found[row.Clause.ID], seq)
						}
						t.Logf("%s %s seq %d: %s (session %s)", filepath.Base(path), row.Clause.ID, f.Seq, f.Detail, r.Header(i).ID)
					}
				}
			}
		}
		for id, seqs := range found {
			key := fmt.Sprintf("%s %s %s", filepath.Base(path), id, strings.Join(seqs, " "))
			if _, ok := explained[key]; !ok {
				t.Errorf("not explained: %s", key)
			}
			explained[key] = true
		}
	}
	for key, seen := range explained {
		if !seen {
			t.Errorf("explained and not found: %s", key)
		}
	}
}
