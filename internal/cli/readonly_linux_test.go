package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asNobody has the thread of the calling goroutine open files as a user who owns
// nothing, if the tests run as one who may everything. It reports whether that works.
func asNobody() bool {
	if os.Geteuid() != 0 {
		return true
	}
	runtime.LockOSThread() // never given back: the thread ends with its goroutine
	const nobody = 65534
	unix.SetfsuidRetUid(nobody)
	now, _ := unix.SetfsuidRetUid(-1)
	return now == nobody
}

// TestReadOnlyDirectory: a file that may be written, in a directory that takes no new
// ones, is written in place, and that is said.
func TestReadOnlyDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "out.json")
	old := bytes.Repeat([]byte("old "), 100_000) // longer than what comes
	log := filepath.Join(t.TempDir(), "log.jsonl")
	const text = `{"session_id":"s-1-000000000001","server_label":"s","seq":1,"ts":"2026-01-01T00:00:01Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}` + "\n"
	for path, content := range map[string][]byte{target: old, log: []byte(text)} {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, open := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(dir)), filepath.Dir(log)} {
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })

	code := -1
	done := make(chan bool)
	in, out, errs := sink(t), sink(t), sink(t)
	go func() {
		defer close(done)
		if asNobody() {
			code = Main(&Env{Stdin: in, Stdout: out, Stderr: errs, Getenv: os.Getenv, Now: time.Now, Version: "test"},
				[]string{"--home", dir, "export", "-o", target, log})
		}
	}()
	<-done
	if code < 0 {
		t.Skip("cannot become another user")
	}
	said, err := os.ReadFile(errs.Name())
	if err != nil || code != exitYes || !bytes.Contains(said, []byte("takes no new files: writing ")) {
		t.Errorf("exit code %d, %v: %s", code, err, said)
	}
	got, err := os.ReadFile(target)
	if err != nil || !bytes.HasPrefix(got, []byte("{\n  \"version\": 1")) || bytes.Contains(got, []byte("old")) {
		t.Errorf("%v, written is %.200s", err, got)
	}
}

func sink(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "sink"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
