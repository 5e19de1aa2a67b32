//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const calls = 40

// clients are the real ones, by the script that plays them.
func clients() map[string][]string {
	node := []string{"node", filepath.Join(parts, "close.mjs")}
	python := []string{filepath.Join(parts, "venv", "bin", "python"), filepath.Join(parts, "close.py")}
	return map[string][]string{
		"typescript-1.x": append(slices.Clone(node), "sdk"),
		"typescript-2.x": append(slices.Clone(node), "client"),
		"python-mcp":     append(slices.Clone(python), "mcp"),
		"python-fastmcp": append(slices.Clone(python), "fastmcp"),
	}
}

// TestClosing has real clients close on servers that do not want to go. SDKs close
// stdin, wait two seconds, send SIGTERM, wait two more and send SIGKILL, all to the
// shim. Whatever happens to it, no process may be left and nothing that passed may
// be missing from the log.
func TestClosing(t *testing.T) {
	for client, command := range clients() {
		for _, c := range []struct {
			name, manner string
			shim         []string
			killed       bool // the client has to SIGKILL us
		}{
			{name: polite, manner: polite},
			{name: deaf, manner: deaf},
			{name: stubborn, manner: stubborn, killed: true},
			{name: "stubborn-grace", manner: stubborn, shim: []string{"--grace", "300ms"}},
		} {
			t.Run(client+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				closeOn(t, command, c.shim, c.manner, dir)
				log := readLog(t, filepath.Join(dir, "state"))
				log.complete(t, dir)
				if !c.killed && !log.ended {
					t.Errorf("no end frame; last frame: %s", log.last)
				}
				if !c.killed && log.torn {
					t.Error("the log ends inside a line")
				}
			})
		}
	}
}

// closeOn runs a client to its end and then waits for the processes to go.
func closeOn(t *testing.T, client, shim []string, manner, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	argv := slices.Concat(client, []string{fmt.Sprint(calls), binary, "--home", filepath.Join(dir, "state"), "--label", "closing"},
		shim, []string{"--", self, serverArg, manner, dir})
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("closed")) {
		t.Errorf("client: %v\n%s", err, out)
	}
	var server, tap int
	pids, err := os.ReadFile(filepath.Join(dir, pidFile))
	if err == nil {
		_, err = fmt.Sscan(string(pids), &server, &tap)
	}
	if err != nil {
		t.Fatalf("the server never started: %v\n%s", err, out)
	}
	deadline := time.Now().Add(3 * time.Second)
	for name, pid := range map[string]int{"server": server, "shim": tap} {
		for alive(pid) && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		if alive(pid) {
			t.Errorf("the %s (pid %d) is still there", name, pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// alive reports whether a process runs; a zombie that nobody has waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no Linux
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// record is what a log says of a closing session.
type record struct {
	requests, answers map[string]bool // ids
	beats             int             // 1 to beats are there
	ended, torn       bool
	last              []byte
}

func readLog(t *testing.T, state string) (r record) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(state, "sessions", "*.jsonl"))
	if len(paths) != 1 {
		t.Fatalf("%d logs in %s", len(paths), state)
	}
	f, err := os.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r.requests, r.answers = map[string]bool{}, map[string]bool{}
	for in := bufio.NewReader(f); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			r.torn = len(line) > 0
			return r
		}
		r.frame(t, line)
	}
}

func (r *record) frame(t *testing.T, line []byte) {
	t.Helper()
	var f struct {
		Direction, Kind string
		Raw             struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Data struct{ Beat int }
			}
		}
	}
	if err := json.Unmarshal(line, &f); err != nil {
		t.Errorf("unreadable line: %v: %.200s", err, line)
		return
	}
	r.last, r.ended = line, f.Kind == "end"
	switch id := string(f.Raw.ID); {
	case f.Direction == "c2s" && f.Raw.Method == "tools/call":
		r.requests[id] = true
	case f.Direction == "s2c" && f.Raw.Method == "" && id != "":
		r.answers[id] = true
	case f.Direction == "s2c" && f.Raw.Params.Data.Beat != 0:
		if f.Raw.Params.Data.Beat != r.beats+1 {
			t.Errorf("beat %d follows beat %d", f.Raw.Params.Data.Beat, r.beats)
		}
		r.beats = f.Raw.Params.Data.Beat
	}
}

// complete checks that every call is there with its answer, and every beat that the
// server had sent when it was first told to go.
func (r *record) complete(t *testing.T, dir string) {
	t.Helper()
	if len(r.requests) != calls {
		t.Errorf("%d calls in the log, %d were made", len(r.requests), calls)
	}
	for id := range r.requests {
		if !r.answers[id] {
			t.Errorf("call %s has no answer in the log", id)
		}
	}
	said, err := os.ReadFile(filepath.Join(dir, beatFile))
	if err != nil {
		t.Errorf("the server was never told to go: %v", err)
		return
	}
	var sent int
	fmt.Sscan(string(said), &sent)
	if r.beats < sent {
		t.Errorf("the log has %d beats, %d were sent before the signal", r.beats, sent)
	}
}
