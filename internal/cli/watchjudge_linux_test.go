package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// judgeOf returns the process that judges for a watch.
func judgeOf(t *testing.T, pid int) (judge int) {
	t.Helper()
	eventually(t, "there is a judge", func() bool {
		found, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range found {
			stat, err := os.ReadFile(path)
			if err != nil { // it ended meanwhile
				continue
			}
			_, rest, _ := strings.Cut(string(stat), ") ")
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(pid) && strings.Contains(string(args), "\x00"+judgeName+"\x00") {
				judge, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
				return true
			}
		}
		return false
	})
	return judge
}

// TestJudgeIsKilled: the session goes on without its judge, and says so. What it cannot say any
// more is whether a requirement was broken.
func TestJudgeIsKilled(t *testing.T) {
	for flag, want := range map[string]int{"--force": exitYes, "--fail-on-findings": exitFailed} {
		r, log := startWatched(t, flag)
		judge := judgeOf(t, r.Process.Pid)
		if err := syscall.Kill(judge, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the judge is gone", func() bool { return syscall.Kill(judge, 0) != nil })
		r.say(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		r.lines(t, 1)
		r.in.Close()
		r.Wait()
		if code := r.ProcessState.ExitCode(); code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
		const line = "mcpsnoop watch: judging ended before its time, recording did not: signal: killed\n"
		if text := r.errs.String(); !strings.HasSuffix(text, line) || strings.Count(text, "before its time") != 1 {
			t.Errorf("%q is not once in %s", line, text)
		}
		if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), `"result"`) != 2 {
			t.Errorf("%v: recorded %s", err, text)
		}
	}
}

// TestJudgeOutlastsRequests: a service manager asks every process of a service to end. The judge
// does so when there is nothing more to judge.
func TestJudgeOutlastsRequests(t *testing.T) {
	r, _ := startWatched(t)
	judge := judgeOf(t, r.Process.Pid)
	eventually(t, "the judge ignores signals", func() bool {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", judge))
		_, rest, _ := strings.Cut(string(status), "SigIgn:")
		ignored, _ := strconv.ParseUint(strings.Fields(rest + " 0")[0], 16, 64)
		return ignored&(1<<(syscall.SIGTERM-1)) != 0
	})
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTTOU} {
		if err := syscall.Kill(judge, sig); err != nil {
			t.Fatal(err)
		}
	}
	r.in.Close()
	r.Wait()
	if text := r.errs.String(); r.ProcessState.ExitCode() != exitYes || !strings.Contains(text, "\nverdict: ") {
		t.Errorf("exit code %d: %s", r.ProcessState.ExitCode(), text)
	}
}

// TestJudgeHoldsNoPipe: the judge has none of the pipes that client and server wait at, and so
// keeps neither from seeing the other's end.
func TestJudgeHoldsNoPipe(t *testing.T) {
	r, _ := startWatched(t)
	judge := judgeOf(t, r.Process.Pid)
	theirs, inherited, its := fds(t, r.Process.Pid), fds(t, os.Getpid()), fds(t, judge)
	stdin, stderr := its["0"], its["2"]
	for number, fd := range its {
		held := slices.Contains(slices.Collect(maps.Values(theirs)), fd)
		if strings.HasPrefix(fd, "pipe:") && fd != stdin && fd != stderr && held && inherited[number] != fd {
			t.Errorf("the judge holds %s of watch's", fd)
		}
	}
	if ours := theirs["2"]; stderr != ours || stdin == stderr {
		t.Errorf("stdin %s, stderr %s, want stderr %s", stdin, stderr, ours)
	}
	if its["1"] != os.DevNull {
		t.Errorf("stdout is %s", its["1"])
	}
	r.in.Close()
	r.Wait()
}

// fds returns what the descriptors of a process are of, by their numbers.
func fds(t *testing.T, pid int) map[string]string {
	t.Helper()
	found, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(found) < 3 {
		t.Fatal(found, err)
	}
	all := map[string]string{}
	for _, path := range found {
		all[filepath.Base(path)], _ = os.Readlink(path)
	}
	return all
}
