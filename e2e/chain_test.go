//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestChain puts two proxies in a row between the official suite and the Go SDK's
// server. What the first saw the second must have seen: nothing of the run is missing
// from either log, and nothing stands in one that was not on the wire.
func TestChain(t *testing.T) {
	for revision, stateless := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(revision, func(t *testing.T) {
			home := t.TempDir()
			server := everything(t, stateless)
			inner := startProxy(t, home, "inner", "http://"+server+"/mcp")
			outer := startProxy(t, home, "outer", "http://"+inner.addr+"/mcp")
			out := run(t, nil, filepath.Join(shared, "realparts", "conformance.sh"), "http://"+outer.addr+"/mcp", "--spec-version", revision)
			var result struct{ Total struct{ Pass, Fail int } }
			if err := json.Unmarshal(out, &result); err != nil || result.Total.Pass == 0 {
				t.Fatalf("the suite's result: %v\n%s", err, out)
			}
			outer.end(t)
			inner.end(t)
			near, _ := seen(t, home, "outer")
			far, late := seen(t, home, "inner")
			t.Logf("%d checks passed, %d failed; %d frames", result.Total.Pass, result.Total.Fail, sum(near))
			differ(t, "the outer proxy", near, far, nil)
			differ(t, "the inner proxy", far, near, late)
		})
	}
}

// everything starts the Go SDK's everything-server and returns its address.
func everything(t *testing.T, stateless bool) string {
	t.Helper()
	cache := os.Getenv("REALPARTS_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "realparts")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	cmd := exec.Command(filepath.Join(cache, "bin", "everything-server"), "-http", addr, fmt.Sprintf("-stateless=%v", stateless))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("the server said:\n%.4000s", said.Bytes())
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			return addr
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not listen: %v", err)
		}
	}
}

// webProxy is a running `mcpsnoop http`.
type webProxy struct {
	cmd  *exec.Cmd
	addr string
	rest chan string // what it says after its banner, when it has ended
}

var listening = regexp.MustCompile(`listening on http://(\S+)`)

func startProxy(t *testing.T, home, label, target string) *webProxy {
	t.Helper()
	return startWeb(t, "http", "--home", home, "--label", label, "--target", target, "--listen", "127.0.0.1:0")
}

// startWeb starts a command of ours that listens.
func startWeb(t *testing.T, args ...string) *webProxy {
	t.Helper()
	cmd := exec.Command(binary, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	in := bufio.NewReader(stderr)
	line, _ := in.ReadString('\n')
	m := listening.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("%s: no address in %q", args, line)
	}
	p := &webProxy{cmd: cmd, addr: m[1], rest: make(chan string, 1)}
	go func() {
		text, _ := io.ReadAll(in)
		p.rest <- string(text)
	}()
	return p
}

// end ends the proxy, which has to end well and has nothing to complain of.
func (p *webProxy) end(t *testing.T) {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	said := <-p.rest
	if err := p.cmd.Wait(); err != nil || strings.Contains(said, "lost") || strings.Contains(said, "warning") {
		t.Errorf("proxy %s: %v\n%s", p.addr, err, said)
	}
}

// seen counts what a log holds of the wire, by direction and content: messages, answers
// without one, and request heads. late counts the messages after which the client hung
// up: they may have been on their way then. It checks that nothing is missing.
func seen(t *testing.T, home, label string) (count, late map[string]int) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(home, "sessions", label+"-*.jsonl"))
	if len(paths) != 1 {
		t.Fatalf("%d logs of the %s proxy", len(paths), label)
	}
	log, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	count, late = map[string]int{}, map[string]int{}
	last := map[int]string{} // of each exchange, from the server
	n, ended := 0, false
	for line := range bytes.Lines(log) {
		var f struct {
			Seq, Exchange   int
			Direction, Kind string
			Raw             json.RawMessage
			Text, Bytes     string
			Status          int
			HTTP            struct {
				Verb, Path, Query string
				ClosedBy          string `json:"closed_by"`
			}
		}
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("%s: %v: %.200s", label, err, line)
		}
		if n++; f.Seq != n {
			t.Fatalf("%s: frame %d follows frame %d", label, f.Seq, n-1)
		}
		switch {
		case f.Kind == "gap":
			t.Errorf("%s: frames are missing: %s", label, f.Raw)
		case f.Kind == "end":
			var end struct {
				Code    *int `json:"exit_code"`
				Dropped int
			}
			// No exit code: the recording ended, not the server.
			if err := json.Unmarshal(f.Raw, &end); err != nil || end.Code != nil || end.Dropped != 0 {
				t.Errorf("%s: did not end well: %s", label, f.Raw)
			}
			ended = true
		case f.Direction != "meta":
			what := fmt.Sprintf("%s %s %d %s%s%s", f.Direction, f.Kind, f.Status, f.Raw, f.Text, f.Bytes)
			if count[what]++; f.Direction == "s2c" {
				last[f.Exchange] = what
			}
		case f.HTTP.ClosedBy == "client":
			late[last[f.Exchange]]++
		case f.HTTP.Verb != "":
			count[fmt.Sprintf("%s %s?%s", f.HTTP.Verb, f.HTTP.Path, f.HTTP.Query)]++
		}
	}
	if !ended || !bytes.HasSuffix(log, []byte("\n")) {
		t.Errorf("%s: the log has no end", label)
	}
	return count, late
}

func sum(counts map[string]int) (n int) {
	for c := range maps.Values(counts) {
		n += c
	}
	return n
}

// differ reports what is oftener in one than in the other, but for what is excused.
func differ(t *testing.T, who string, one, other, excused map[string]int) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(one)) {
		if more := one[what] - other[what]; more > excused[what] {
			t.Errorf("only %s saw %d of %.300s", who, more, what)
		}
	}
}
