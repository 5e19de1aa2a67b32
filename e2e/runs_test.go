//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// agentRun has one real client start three real servers behind the shim, with flags of its
// own, and returns the trace id that it says it used.
const agentRun = `set -euo pipefail
. "$1/realparts/lib.sh"
installed
export MEMORY_FILE_PATH=$3/memory.jsonl
"$BIN/multirun" -wrap "$2 --home $3/home --label {name} --" "${@:4}" \
  -call everything:echo:'{"message":"hi"}' -call memory:read_graph -call filesystem:list_allowed_directories \
  "everything=$(server_cmd everything)" "filesystem=$(server_cmd filesystem "$3")" "memory=$(server_cmd memory)"`

// oneRun is what runs --json says of a run.
type oneRun struct {
	ID, Kind, Label         string
	TraceID                 string `json:"trace_id"`
	Calls, Requests, Errors int
	Sessions                []struct{ Label string }
}

func drive(t *testing.T, flags ...string) (dir, trace string, runs []oneRun) {
	t.Helper()
	dir = t.TempDir()
	out := run(t, nil, append([]string{"bash", "-c", agentRun, "agent", shared, binary, dir}, flags...)...)
	var said struct {
		TraceID string `json:"traceId"`
		Calls   []struct{ OK bool }
	}
	if err := json.Unmarshal(out, &said); err != nil || len(said.Calls) < 6 {
		t.Fatalf("the client said %s: %v", out, err)
	}
	var list struct{ Runs []oneRun }
	out = run(t, nil, binary, "--home", filepath.Join(dir, "home"), "runs", "--json")
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("runs: %v\n%s", err, out)
	}
	return dir, said.TraceID, list.Runs
}

// threeServers makes sure that a run is of all three servers, and that check --run has a
// line for each.
func threeServers(t *testing.T, dir string, r *oneRun) {
	t.Helper()
	labels := map[string]bool{}
	for _, s := range r.Sessions {
		labels[s.Label] = true
	}
	if len(r.Sessions) != 3 || !labels["everything"] || !labels["filesystem"] || !labels["memory"] {
		t.Errorf("sessions %+v", r.Sessions)
	}
	if r.Calls < 6 || r.Errors != 0 { // the list of tools and a tool of each
		t.Errorf("%d calls, %d errors", r.Calls, r.Errors)
	}
	out := string(run(t, nil, binary, "--home", filepath.Join(dir, "home"), "check", "--run", r.ID))
	if strings.Count(out, "session ") != 3 {
		t.Errorf("check --run:\n%s", out)
	}
}

// TestRunsTrace: one client process, three shims, one trace: one run of three sessions.
func TestRunsTrace(t *testing.T) {
	dir, trace, runs := drive(t, "-traceparent", "auto")
	if len(runs) != 1 || len(trace) != 32 {
		t.Fatalf("%d runs of trace %q: %+v", len(runs), trace, runs)
	}
	r := &runs[0]
	if r.Kind != "trace" || r.TraceID != trace || r.ID != "trace:"+trace[:12] || r.Label != "trace "+trace[:12] {
		t.Errorf("%+v of trace %s", r, trace)
	}
	threeServers(t, dir, r)
	page := string(run(t, nil, binary, "--home", filepath.Join(dir, "home"), "runs", trace))
	for _, row := range []string{`everything +tools/call echo `, `filesystem +tools/call list_allowed_directories `, `memory +tools/call read_graph `} {
		if !regexp.MustCompile(`(?m)^ *\+\d+\.\d{3}s +` + row).MatchString(page) {
			t.Errorf("no row of %s in\n%s", row, page)
		}
	}
}

// TestRunsClient: without a trace they are one client's, and called that.
func TestRunsClient(t *testing.T) {
	dir, trace, runs := drive(t)
	if len(runs) != 1 || trace != "" {
		t.Fatalf("%d runs, trace %q: %+v", len(runs), trace, runs)
	}
	r := &runs[0]
	var pid int
	if _, err := fmt.Sscanf(r.ID, "client:%d@", &pid); err != nil || r.Kind != "client" || !strings.HasPrefix(r.Label, fmt.Sprintf("client %d since ", pid)) {
		t.Errorf("%+v: %v", r, err)
	}
	threeServers(t, dir, r)
	home := filepath.Join(dir, "home")
	list := string(run(t, nil, binary, "--home", home, "runs"))
	page := string(run(t, nil, binary, "--home", home, "runs", fmt.Sprint(pid)))
	if !strings.Contains(list, r.Label) || !strings.Contains(page, r.Label+": 3 sessions, ") {
		t.Errorf("not labelled %q:\n%s\n%s", r.Label, list, page)
	}

	// The same client again is another process, and another group.
	out := run(t, nil, "bash", "-c", agentRun, "agent", shared, binary, dir)
	if len(out) == 0 {
		t.Fatal("the client said nothing")
	}
	var again struct{ Runs []oneRun }
	text, err := exec.Command(binary, "--home", home, "runs", "--json").Output()
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || len(again.Runs) != 2 || len(again.Runs[0].Sessions) != 3 || len(again.Runs[1].Sessions) != 3 {
		t.Errorf("%v\n%s", err, text)
	}
}
