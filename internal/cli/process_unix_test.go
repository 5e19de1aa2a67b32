//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// soon is how long a test waits for what should come soon.
const soon = time.Minute

// recorder is a shim in a process of its own, in front of fakeserver.
type recorder struct {
	*exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs bytes.Buffer
}

func startRecorder(t *testing.T, flags ...string) *recorder {
	t.Helper()
	return startRecorderAs(t, nil, flags...)
}

func startRecorderAs(t *testing.T, as *syscall.SysProcAttr, flags ...string) *recorder {
	t.Helper()
	r := &recorder{Cmd: exec.Command("mcpsnoop", append(flags, "--", "fakeserver")...)}
	name, value := noSleep()
	r.Env, r.SysProcAttr = append(os.Environ(), name+"="+value), as
	var err error
	if r.in, err = r.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, w := pipe(t)
	r.out = bufio.NewReader(out)
	r.Stdout, r.Stderr = w, &r.errs
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		if r.ProcessState == nil {
			r.Process.Kill()
			r.Wait()
		}
	})
	return r
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Now().Add(soon)) // a test fails rather than hangs
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func (r *recorder) say(t *testing.T, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(r.in, format+"\n", args...); err != nil {
		t.Fatal(err)
	}
}

// lines reads that many lines of the server's.
func (r *recorder) lines(t *testing.T, n int) {
	t.Helper()
	for range n {
		if _, err := r.out.ReadSlice('\n'); err != nil {
			t.Fatalf("read what the server says: %v; %s", err, &r.errs)
		}
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(soon); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// onlyLog returns the path of the one log in a state directory, "" while there is none.
func onlyLog(t *testing.T, home string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
	if err != nil || len(found) > 1 {
		t.Fatalf("logs %q, %v", found, err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// checkBeforeTear reads a log whose recorder was killed with every command: all its
// whole lines are there, numbered without a hole, and what is torn is named.
func checkBeforeTear(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.Count(text, []byte("\n"))
	torn := !bytes.HasSuffix(text, []byte("\n"))
	code, stdout, stderr := command(t, "export", path)
	if code != exitYes {
		t.Fatalf("export exits with %d: %s", code, stderr)
	}
	var doc struct {
		Session struct {
			State         string
			Torn          bool
			MissingFrames int `json:"missing_frames"`
		}
		Events []struct{ Seq int }
	}
	if err := json.Unmarshal(stdout, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Events) != whole || doc.Session.MissingFrames != 0 || doc.Session.Torn != torn || doc.Session.State != "torn" {
		t.Errorf("%d events of %d whole lines, session %+v, torn %v", len(doc.Events), whole, doc.Session, torn)
	}
	for i, e := range doc.Events {
		if e.Seq != i+1 {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
	code, stdout, _ = command(t, "check", "--fail-on", "incomplete", path)
	if torn && (code != exitNo || !bytes.Contains(stdout, fmt.Appendf(nil, "line %d", whole+1))) {
		t.Errorf("check exits with %d, line %d is torn: %s", code, whole+1, stdout)
	} else if !torn && code != exitYes {
		t.Errorf("check exits with %d: %s", code, stdout)
	}
	if code, stdout, stderr = command(t, "tail", path); code != exitYes || bytes.Count(stdout, []byte("\n")) < whole {
		t.Errorf("tail exits with %d after %d lines of %d: %s", code, bytes.Count(stdout, []byte("\n")), whole, stderr)
	}
	if code, stdout, _ = command(t, "show", "--raw", path, fmt.Sprint(whole)); code != exitYes || len(stdout) == 0 {
		t.Errorf("the last frame, %d: exit code %d, %q", whole, code, stdout)
	}
}

// TestKilledWhileWriting kills recorders in the middle of a flood.
func TestKilledWhileWriting(t *testing.T) {
	for i := range 3 {
		home := t.TempDir()
		r := startRecorder(t, "--home", home, "--label", "k")
		r.say(t, `{"jsonrpc":"2.0","id":1,"method":"flood/200000"}`)
		r.lines(t, 5000*(i+1))
		eventually(t, "much is written", func() bool {
			info, err := os.Stat(onlyLog(t, home))
			return err == nil && info.Size() > 500_000
		})
		r.Process.Kill()
		r.Wait()
		checkBeforeTear(t, onlyLog(t, home))
		if code, stdout, stderr := command(t, "--home", home, "sessions"); code != exitYes || !bytes.Contains(stdout, []byte("torn")) {
			t.Errorf("sessions exits with %d: %s%s", code, stdout, stderr)
		}
	}
}

// openFIFO makes a FIFO and opens it for reading; it does not end before somebody
// has written and left.
func openFIFO(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// fill fills a FIFO, so that not a byte more goes in.
func fill(t *testing.T, path string) {
	t.Helper()
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	for _, n := range []int{64 << 10, 1} {
		for err = nil; err == nil; {
			_, err = syscall.Write(fd, make([]byte, n))
		}
		if err != syscall.EAGAIN {
			t.Fatal(err)
		}
	}
}

// TestKilledInsideLine kills a recorder that has written half a line for certain.
func TestKilledInsideLine(t *testing.T) {
	fifo := openFIFO(t)
	r := startRecorder(t, "-o", fifo.Name())
	r.say(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.lines(t, 1)
	fifo.SetReadDeadline(time.Now().Add(soon))
	log := bufio.NewReaderSize(fifo, 1<<20)
	var text []byte
	for range 3 { // the start, the request and its answer
		line, err := log.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, line...)
	}
	r.say(t, `{"jsonrpc":"2.0","method":"notifications/big","params":{"pad":"%s"}}`, strings.Repeat("x", 4<<20))
	half := make([]byte, 1<<20)
	if _, err := io.ReadFull(log, half); err != nil {
		t.Fatal(err)
	}
	r.Process.Kill()
	r.Wait()
	rest, err := io.ReadAll(log)
	if err != nil {
		t.Fatal(err)
	}
	text = append(append(text, half...), rest...)
	if bytes.Count(text, []byte("\n")) != 3 {
		t.Fatalf("the log has %d whole lines", bytes.Count(text, []byte("\n")))
	}
	path := filepath.Join(t.TempDir(), "torn.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	checkBeforeTear(t, path)
}

// TestQueueBytes: a log that takes nothing costs the client nothing. What found no
// room beyond --queue-bytes is counted, and the exit code stays the server's.
func TestQueueBytes(t *testing.T) {
	fifo := openFIFO(t)
	fill(t, fifo.Name())
	r := startRecorder(t, "-o", fifo.Name(), "--queue-bytes", "4K", "--quiet")
	r.say(t, `{"jsonrpc":"2.0","id":1,"method":"flood/20000"}`)
	r.lines(t, 20_001)
	r.say(t, `{"jsonrpc":"2.0","id":2,"method":"exit/7"}`)
	r.in.Close()
	r.Wait()
	if code := r.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	said := r.errs.String()
	if strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "mcpsnoop: warning: ") || !strings.Contains(said, "queue full: ") {
		t.Errorf("said %q", said)
	}
}

// TestInterrupted: Ctrl-C in a reading command has its own exit code.
func TestInterrupted(t *testing.T) {
	home := t.TempDir()
	r := startRecorder(t, "--home", home, "--label", "live", "--quiet")
	r.say(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.lines(t, 1)
	for name, args := range map[string][]string{
		"tail":  {"--home", home, "tail", "live"}, // waits for more of a live session
		"check": {"check", "-"},                   // waits for the end of its input
		"show":  {"show", "-", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			in, feed := pipe(t)
			out, w := pipe(t)
			cmd := exec.Command("mcpsnoop", args...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = in, w, w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if name == "tail" {
				if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			} else { // more than a pipe holds: it is reading when that is gone
				feed.SetWriteDeadline(time.Now().Add(soon))
				if _, err := feed.WriteString(strings.Repeat("\n", 1<<20)); err != nil {
					t.Fatal(err)
				}
			}
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupt {
				t.Errorf("exit code %d, want %d", code, exitInterrupt)
			}
		})
	}
}

// TestUpstreamOpensOurs reads what a recorder really wrote as upstream's reader does:
// one object a line, fields of its types, and nothing but messages and stderr in
// another direction than meta, which says command and directory each time.
func TestUpstreamOpensOurs(t *testing.T) {
	home := t.TempDir()
	r := startRecorder(t, "--home", home, "--max-message-bytes", "100", "--max-log-size", "1M")
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"stderr/text"}`, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "no message\r", "", "\xff", "7",
		`{"jsonrpc":"2.0","method":"n","params":{"pad":"` + strings.Repeat("x", 200) + `"}}`, `{"jsonrpc":"2.0","id":3,"method":"exit/0"}`,
	} {
		r.say(t, "%s", line)
	}
	r.Wait()
	text, err := os.ReadFile(onlyLog(t, home))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range bytes.Lines(text) {
		var e struct {
			SessionID string    `json:"session_id"`
			Label     string    `json:"server_label"`
			Seq       int       `json:"seq"`
			TS        time.Time `json:"ts"`
			Direction string    `json:"direction"`
			Transport string    `json:"transport"`
			Raw       *struct {
				Command []string `json:"command"`
				Cwd     string   `json:"cwd"`
			} `json:"raw"`
			Text      string `json:"text"`
			Truncated bool   `json:"truncated"`
			Kind      string `json:"kind"`
		}
		if bytes.Contains(line, []byte(`"raw":7`)) { // a value of another type than the struct has
			line = bytes.Replace(line, []byte(`"raw":7`), []byte(`"raw":{}`), 1)
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		seen[e.Direction]++
		own := e.Kind != ""
		if e.SessionID == "" || e.Label != "fakeserver" || e.Seq != seen["all"]+1 || e.TS.IsZero() || e.Transport != "stdio" || own != (e.Direction == "meta") {
			t.Errorf("%s is no envelope", line)
		}
		if own && (e.Raw == nil || strings.Join(e.Raw.Command, " ") != "fakeserver" || e.Raw.Cwd == "") || e.Truncated && (e.Raw != nil || e.Text == "") {
			t.Errorf("%s takes something away", line)
		}
		seen["all"]++
	}
	if seen["meta"] != 2 || seen["c2s"] != 8 || seen["stderr"] != 1 || seen["s2c"] < 2 {
		t.Errorf("directions %v", seen)
	}
}
