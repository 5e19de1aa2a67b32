//go:build unix

package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestInterruptWhileNobodyReads: Ctrl-C ends a command whose output is stuck in a pipe.
func TestInterruptWhileNobodyReads(t *testing.T) {
	line := []byte(`{"session_id":"s-1-000000000001","server_label":"s","seq":1,"direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","method":"m"}}` + "\n")
	log := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(log, bytes.Repeat(line, 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"tail", log}, {"tail", "--json", log}, {"export", "-T", "text", log}, {"export", log}} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := &exec.Cmd{Path: self, Args: append([]string{"mcpsnoop", "--home", t.TempDir()}, args...), Stdout: in}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		if _, err := out.Read(make([]byte, 1)); err != nil { // it has begun to write
			t.Fatal(err)
		}
		c.Process.Signal(os.Interrupt)
		stuck := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
		err = c.Wait()
		stuck.Stop()
		out.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupt {
			t.Errorf("%q: %v, want exit code %d", args[:1], err, exitInterrupt)
		}
	}
}
