//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/demo"
)

// shimmed is a server behind the shim and what it is asked.
type shimmed struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	id    int
}

func shim(t *testing.T, program, home, label string) *shimmed {
	t.Helper()
	s := &shimmed{t: t, cmd: exec.Command(program, "--home", home, "--label", label, "--quiet", "--", program, demoServerName, demo.Notes)}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	s.out = bufio.NewReader(stdout)
	return s
}

// ask sends a request, in a trace unless it is "", and waits for its answer.
func (s *shimmed) ask(trace string) {
	s.t.Helper()
	meta := ""
	if trace != "" {
		meta = fmt.Sprintf(`,"params":{"_meta":{"traceparent":"00-%s-00f067aa0ba902b7-01"}}`, trace)
	}
	s.id++
	fmt.Fprintf(s.stdin, `{"jsonrpc":"2.0","id":%d,"method":"ping"%s}`+"\n", s.id, meta)
	if _, err := s.out.ReadString('\n'); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shimmed) end() {
	s.t.Helper()
	s.stdin.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the shim ended with %v", err)
	}
}

// TestTailJoins: sessions join a run that is being printed, one whose log was there and
// one whose log is new, from their beginning; those of another run do not.
func TestTailJoins(t *testing.T) {
	const ours, other = "0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"
	program, home := asMcpsnoop(t), t.TempDir()
	first, quiet := shim(t, program, home, "first"), shim(t, program, home, "quiet")
	first.ask(ours)
	quiet.ask("")
	tail := exec.Command(program, "--home", home, "tail", "--run", ours)
	stdout, err := tail.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; { // until the log says what was asked
		if _, out, _ := inHome(t, home, thisHost, "runs"); strings.Contains(out, "trace:0af7651916cd") {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("no run")
		}
	}
	if err := tail.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { tail.Process.Kill() })
	defer stuck.Stop()
	said := bufio.NewReader(stdout)
	var text strings.Builder
	until := func(word string) {
		t.Helper()
		for {
			line, err := said.ReadString('\n')
			text.WriteString(line)
			if err != nil {
				t.Fatalf("wait for %q: %v\n%s", word, err, text.String())
			}
			if strings.Contains(line, word) {
				return
			}
		}
	}
	until(" first ← result ping id=1")

	stranger := shim(t, program, home, "stranger")
	stranger.ask(other)
	quiet.ask(ours)
	until(" quiet ← result ping id=2")
	late := shim(t, program, home, "late")
	late.ask("")
	late.ask(ours)
	late.ask("")
	until(" late ← result ping id=3")
	for _, s := range []*shimmed{stranger, first, quiet, late} {
		s.end()
	}
	rest, _ := io.ReadAll(said)
	text.Write(rest)
	if err := tail.Wait(); err != nil {
		t.Errorf("tail ended with %v", err)
	}
	for _, want := range []string{" quiet → ping id=1", " late ─ start ", " late → ping id=1", " late ─ end"} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	if strings.Contains(text.String(), "stranger") {
		t.Error("a session of another run is there")
	}
	if t.Failed() {
		t.Log(text.String())
	}
}
