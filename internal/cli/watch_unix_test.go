//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestWatchOnTerminal: the tally is one line, written anew in place, gone where something
// else is printed, and there for good at the end.
func TestWatchOnTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminal: ", err)
	}
	defer master.Close()
	cmd := exec.Command("mcpsnoop", "watch", "--quiet", "-o", filepath.Join(t.TempDir(), "log.jsonl"), "stdio", "--", "toolserver", "a b")
	name, value := noSleep()
	cmd.Env = append(os.Environ(), name+"="+value, "TERM=xterm")
	cmd.Stderr = tty
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	master.SetReadDeadline(time.Now().Add(soon))
	var screen strings.Builder
	from := bufio.NewReader(master)
	read := func(until string) { // or to the end
		for until == "" || !strings.Contains(screen.String(), until) {
			b, err := from.ReadByte()
			if err != nil {
				return
			}
			screen.WriteByte(b)
		}
	}
	fmt.Fprintf(in, "%s\n", initialize)
	read("1 exchange(s); findings so far: 0 fail, 0 warn\x1b[K")
	fmt.Fprintf(in, "%s\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n", initialized)
	read("findings so far: 0 fail, 2 warn\x1b[K")
	in.Close()
	read("")
	cmd.Wait()
	text := screen.String()
	if code := cmd.ProcessState.ExitCode(); code != exitYes {
		t.Fatalf("exit code %d: %s", code, text)
	}
	const clear = "\r\x1b[K"
	if !strings.Contains(text, "\rmcpsnoop watch: 1 exchange(s); findings so far: 0 fail, 0 warn\x1b[K") {
		t.Errorf("no tally in place before there is a finding: %q", text)
	}
	if !strings.Contains(text, clear+"mcpsnoop watch: \x1b[") {
		t.Errorf("no line is cleared for a finding: %q", text)
	}
	if !strings.Contains(text, "\r\nmcpsnoop watch: 3 exchange(s); findings so far: 0 fail, 2 warn\r\nlog: ") {
		t.Errorf("the last tally is missing: %q", text)
	}
	if n := strings.Count(text, "warn\r\n"); n != 1 {
		t.Errorf("%d tallies stand for good: %q", n, text)
	}
}

// TestValidateOnTerminal: colours reach a terminal as colours, and a file not at all.
func TestValidateOnTerminal(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	text := `{"session_id":"s-1-000000000001","server_label":"s","seq":1,"ts":"2026-01-01T00:00:01Z","direction":"s2c","transport":"stdio","mono_us":1,"text":"stray"}` + "\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report")
	for _, args := range [][]string{{log}, {"-o", file, log}} {
		cmd := exec.Command("mcpsnoop", append([]string{"validate", "--revision", "2025-11-25"}, args...)...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
		master, err := pty.Start(cmd)
		if err != nil {
			t.Skip("no terminal: ", err)
		}
		master.SetReadDeadline(time.Now().Add(soon))
		var screen strings.Builder
		for in := bufio.NewReader(master); ; {
			b, err := in.ReadByte()
			if err != nil {
				break
			}
			screen.WriteByte(b)
		}
		cmd.Wait()
		master.Close()
		if cmd.ProcessState.ExitCode() != exitNo {
			t.Fatalf("exit code %d: %s", cmd.ProcessState.ExitCode(), screen.String())
		}
		if len(args) == 1 && (!strings.Contains(screen.String(), "\x1b[1;31mFAIL\x1b[0m ") || strings.Contains(screen.String(), `\u001b`)) {
			t.Errorf("no colours in %q", screen.String())
		}
	}
	if got, err := os.ReadFile(file); err != nil || !strings.Contains(string(got), "verdict: fail\n") || strings.Contains(string(got), "\x1b") {
		t.Errorf("%v: %q", err, got)
	}
}

// TestWatchedStderrIsStuck: whoever starts a server and does not read what it says is not kept
// waiting for its end.
func TestWatchedStderrIsStuck(t *testing.T) {
	fifo := openFIFO(t)
	errs, err := os.OpenFile(fifo.Name(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	fill(t, fifo.Name())
	cmd := exec.Command("mcpsnoop", "watch", "-o", filepath.Join(t.TempDir(), "log.jsonl"), "stdio", "--", "toolserver", "a b")
	cmd.Stdin = strings.NewReader(initialize + "\n" + initialized + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":"exit/7"}` + "\n")
	cmd.Stderr = errs
	stuck := time.AfterFunc(soon, func() { cmd.Process.Kill() })
	defer stuck.Stop()
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit code %d, want the server's", code)
	}
}
