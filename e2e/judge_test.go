//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// finding is what validate says of one.
type finding struct{ Rule, Actor, Level, Detail string }

// validated judges the logs of a state directory.
func validated(t *testing.T, home string) (all []finding, judged int) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs in %s: %v", home, err)
	}
	for _, log := range logs {
		var doc struct {
			Sessions []struct {
				Totals struct{ Pass, Fail, Warn int }
				Rows   []row
				Also   []struct{ Rows []row }
			}
		}
		cmd := exec.Command(binary, "validate", "--home", home, "--format", "json", log)
		out, err := cmd.Output() // it exits with 1 where a rule was broken
		if jsonErr := json.Unmarshal(out, &doc); jsonErr != nil {
			t.Fatalf("validate %s: %v, %v", filepath.Base(log), err, jsonErr)
		}
		for _, s := range doc.Sessions {
			judged += s.Totals.Pass + s.Totals.Fail + s.Totals.Warn
			rows := s.Rows
			for _, also := range s.Also {
				rows = append(rows, also.Rows...)
			}
			for _, r := range rows {
				for _, f := range r.Findings {
					all = append(all, finding{r.ID, r.Actor, r.Level, f.Detail})
				}
			}
		}
	}
	return all, judged
}

type row struct {
	ID, Actor, Level string
	Findings         []struct{ Detail string }
}

// TestJudgeSuite: the official suite is a client that breaks rules on purpose, against a
// server that breaks none. Each that it breaks is told of while it happens, and nothing
// else is.
func TestJudgeSuite(t *testing.T) {
	for _, c := range []struct {
		revision string
		broken   []string // what the suite has to be caught at
	}{
		{"2025-11-25", nil},
		{"2026-07-28", []string{"BASE-030", "TRAN-058", "TRAN-072", "TRAN-079", "MRTR-003"}},
	} {
		t.Run(c.revision, func(t *testing.T) {
			home := t.TempDir()
			server := everything(t, c.revision == "2026-07-28")
			p := startWeb(t, "watch", "--home", home, "http", "--upstream", "http://"+server+"/mcp", "--listen", "127.0.0.1:0")
			run(t, nil, filepath.Join(shared, "realparts", "conformance.sh"), "http://"+p.addr+"/mcp", "--spec-version", c.revision)
			p.cmd.Process.Signal(syscall.SIGINT)
			said := <-p.rest
			if err := p.cmd.Wait(); err != nil || strings.Contains(said, "withdrawn") {
				t.Errorf("watch ended with %v\n%s", err, said)
			}
			found, judged := validated(t, home)
			rules := map[string]int{}
			for _, f := range found {
				rules[f.Rule]++
				if f.Actor != "client" {
					t.Errorf("the server is blamed: %+v", f)
				}
				if !strings.Contains(said, f.Rule+" ("+f.Level+") seq ") {
					t.Errorf("not told live: %+v", f)
				}
			}
			for _, rule := range c.broken {
				if rules[rule] == 0 {
					t.Errorf("%s: not caught", rule)
				}
			}
			if c.broken == nil && len(found) > 0 {
				t.Errorf("found %+v", found)
			}
			t.Logf("%d rows judged, found %v", judged, rules)
		})
	}
}

// knownFaults are what the real servers of the sessions below break, with a word of the reason.
var knownFaults = map[string]string{
	"PROG-501": "progressToken",                                                               // of the Go SDK's server, which sends null where the request had none
	"RES-004":  `URI "1"`, "RES-018": `URI "1"`, "PROM-005": `URI "1"`, "PROM-018": `URI "1"`, // of its prompt with a resource
	"TOOL-010": "structuredContent", // of filesystem and memory, whose text is not the JSON
}

// TestJudgeStdio: real servers driven by real clients, watched; only what is known of
// them is found.
func TestJudgeStdio(t *testing.T) {
	home := t.TempDir()
	run(t, nil, filepath.Join(shared, "realparts", "stdio-session.sh"), binary, "watch", "--home", home, "--label", "{name}", "stdio", "--")
	found, judged := validated(t, home)
	rules := map[string]int{}
	for _, f := range found {
		rules[f.Rule]++
		if word, known := knownFaults[f.Rule]; !known || !strings.Contains(f.Detail, word) {
			t.Errorf("not known of them: %+v", f)
		}
	}
	if judged < 100 {
		t.Errorf("only %d rows were judged", judged)
	}
	t.Logf("%d rows judged, found %v", judged, slices.Sorted(maps.Keys(rules)))
	if out, err := exec.Command(binary, "check", "--home", home, "--fail-on", "incomplete").CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, bytes.TrimSpace(out))
	}
}
