//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// startWatched starts a recorder that watches, in a process group of its own, and has it record
// an answered request.
func startWatched(t *testing.T, flags ...string) (r *recorder, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "log.jsonl")
	flags = append(append([]string{"watch", "--quiet", "-o", log}, flags...), "stdio")
	r = startRecorderAs(t, &syscall.SysProcAttr{Setpgid: true}, flags...)
	r.say(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.lines(t, 1)
	eventually(t, "the answer is recorded", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), `"result"`)
	})
	return r, log
}

// TestWatchedGroupIsSignalled: what a terminal or a client sends to the whole process group ends
// the server, and the report comes all the same.
func TestWatchedGroupIsSignalled(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			r, _ := startWatched(t)
			if err := syscall.Kill(-r.Process.Pid, sig); err != nil {
				t.Fatal(err)
			}
			r.Wait()
			if code := r.ProcessState.ExitCode(); code != 128+int(sig) {
				t.Errorf("exit code %d, want %d", code, 128+int(sig))
			}
			if text := r.errs.String(); !strings.Contains(text, "\nverdict: ") || !strings.Contains(text, "\nlog: ") {
				t.Errorf("no report: %s", text)
			}
		})
	}
}

// TestWatchIsKilled: the judge of a watch that is killed tells of what is recorded, and ends: that
// it does is what ends stderr, and so Wait.
func TestWatchIsKilled(t *testing.T) {
	r, _ := startWatched(t)
	r.Process.Kill()
	r.Wait()
	if text := r.errs.String(); !strings.Contains(text, "\nverdict: ") || !strings.Contains(text, "\nlog: ") {
		t.Errorf("no report: %s", text)
	}
}
