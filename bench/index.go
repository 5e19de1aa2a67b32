package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// What the index is measured with: many sessions, some of them in runs.
const (
	indexedSessions = 10_000
	indexedCalls    = 150 // of each, which makes 1 GB
	indexedInRun    = 5
)

// indexRows measure finding things among many sessions: with the index as it stands,
// after a new session, and without one.
func indexRows(e *env) ([]row, error) {
	home := filepath.Join(e.dir, "many")
	if _, err := e.output(e.tapbench, "gen", "-out", home, "-sessions", fmt.Sprint(indexedSessions),
		"-calls", fmt.Sprint(indexedCalls), "-payload", "100", "-runs", "400", "-servers-per-run", fmt.Sprint(indexedInRun)); err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	size, err := bytesBelow(home)
	if err != nil {
		return nil, err
	}
	first := row{what: fmt.Sprintf("index of %d sessions: first build, of one core", indexedSessions), unit: "MB/s", budget: 100, atLeast: true}
	for range min(e.rounds, 5) {
		cpu, err := e.ofMany(home, "index", "--rebuild")
		if err != nil {
			return nil, err
		}
		first.values = append(first.values, size/1e6/cpu.cores.Seconds())
	}
	rows := []row{first}
	for _, args := range [][]string{{"sessions"}, {"runs"}, {"check", "--run"}} {
		r := row{what: fmt.Sprintf("%d sessions: ", indexedSessions) + args[0], unit: "ms", budget: 150}
		if len(args) > 1 {
			run, err := e.someRun(home)
			if err != nil {
				return nil, err
			}
			r.what += fmt.Sprintf(" --run of %d sessions", indexedInRun)
			args = append(args, run)
		}
		for range e.rounds {
			took, err := e.ofMany(home, args...)
			if err != nil {
				return nil, err
			}
			r.values = append(r.values, micros(took.wall)/1e3)
		}
		rows = append(rows, r)
	}
	fresh := row{what: fmt.Sprintf("%d sessions: sessions after a new one, later than without it", indexedSessions), unit: "ms", budget: 50}
	for i := range e.rounds {
		without, err := e.ofMany(home, "sessions")
		if err != nil {
			return nil, err
		}
		if err := e.oneMore(home, i); err != nil {
			return nil, err
		}
		with, err := e.ofMany(home, "sessions")
		if err != nil {
			return nil, err
		}
		fresh.values = append(fresh.values, micros(with.wall-without.wall)/1e3)
	}
	return append(rows, fresh), nil
}

// spent is the time that a command took, and that cores worked for it.
type spent struct{ wall, cores time.Duration }

// overMany is a command of ours over the many sessions, with a cache of its own.
func (e *env) overMany(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(e.binary, append([]string{"--home", home}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(e.dir, "cache"))
	return cmd
}

// ofMany runs a command of ours over the many sessions. What it answers does not
// matter.
func (e *env) ofMany(home string, args ...string) (spent, error) {
	cmd := e.overMany(home, args...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
		return spent{}, fmt.Errorf("%v: %v\n%.2000s", args, err, out)
	}
	return spent{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// someRun returns the id of a run.
func (e *env) someRun(home string) (string, error) {
	out, err := e.overMany(home, "runs", "--json", "--limit", "1").Output()
	if err != nil {
		return "", err
	}
	var doc struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal(out, &doc); err != nil || len(doc.Runs) == 0 {
		return "", fmt.Errorf("no run in %.200s: %v", out, err)
	}
	return doc.Runs[0].ID, nil
}

// oneMore adds a session: a copy of another, which is as good as a new one.
func (e *env) oneMore(home string, i int) error {
	logs, err := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
	if err != nil || len(logs) == 0 {
		return fmt.Errorf("no logs in %s: %v", home, err)
	}
	text, err := os.ReadFile(logs[0])
	if err != nil {
		return err
	}
	path := filepath.Join(home, "sessions", fmt.Sprintf("new-1-%012d.jsonl", i))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	// Younger than the clock's step it would be folded again by whoever comes next.
	at := time.Now().Add(-time.Hour)
	return os.Chtimes(path, at, at)
}

func bytesBelow(dir string) (sum float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += float64(info.Size())
		}
		return err
	})
	return sum, err
}
