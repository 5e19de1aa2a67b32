//go:build unix

package tap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcpsnoop/internal/proc"
)

// TestBytes: what goes in comes out, and the log holds it line by line.
func TestBytes(t *testing.T) {
	type frame struct {
		payload, form, eol string
		size               int64
	}
	long := strings.Repeat("x", 200_000)
	tests := []struct {
		name, in string
		frames   []frame
	}{
		{"nothing", "", nil},
		{"json", `{"a" : 1, "a":2}` + "\n", []frame{{`{"a" : 1, "a":2}`, "raw", "", 17}}},
		{"crlf", "{}\r\n", []frame{{"{}", "raw", "crlf", 4}}},
		{"blank lines", "\n\r\n \n", []frame{{"", "text", "", 1}, {"", "text", "crlf", 2}, {" ", "text", "", 2}}},
		{"no final newline", "{}\n{\"half", []frame{{"{}", "raw", "", 3}, {`{"half`, "text", "none", 6}}},
		{"lone carriage returns", "a\rb\r\n\r\r\n\r", []frame{{"a\rb", "text", "crlf", 5}, {"\r", "text", "crlf", 3}, {"\r", "text", "none", 1}}},
		{"invalid utf-8", "{\"a\":\"\xff\"}\n", []frame{{"{\"a\":\"\xff\"}", "bytes", "", 10}}},
		{"nul", "a\x00b\n{\"a\":\"\x00\"}\n", []frame{{"a\x00b", "text", "", 4}, {"{\"a\":\"\x00\"}", "text", "", 10}}},
		{"ansi", "\x1b[31mred\x1b[0m\n", []frame{{"\x1b[31mred\x1b[0m", "text", "", 13}}},
		{"no object", "7\n\"s\"\n[1,2]\nnull\n", []frame{{"7", "raw", "", 2}, {`"s"`, "raw", "", 4}, {"[1,2]", "raw", "", 6}, {"null", "raw", "", 5}}},
		{"longer than a block", long + "\n" + long + "\r\n", []frame{{long, "text", "", 200_001}, {long, "text", "crlf", 200_002}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tp := run(t, helperCommand("echo"), nil)
			out, errs := collect(tp.out), collect(tp.errs)
			if _, err := tp.in.WriteString(test.in); err != nil {
				t.Fatal(err)
			}
			tp.in.Close()
			if r := tp.wait(t); r.ExitCode != 0 || r.Lost != 0 {
				t.Errorf("result %+v", r)
			}
			if got := string(<-out); got != test.in {
				t.Errorf("client got %.200q of %d bytes, want %.200q of %d", got, len(got), test.in, len(test.in))
			}
			if got := <-errs; len(got) > 0 {
				t.Errorf("on stderr: %q", got)
			}
			frames := decode(t, tp.log.text())
			checkOrder(t, frames)
			for _, direction := range []string{"c2s", "s2c"} {
				var got []frame
				for _, f := range of(direction, frames) {
					form := "bytes"
					if f.Text != nil {
						form = "text"
					} else if f.Raw != nil {
						form = "raw"
					}
					got = append(got, frame{f.payload(), form, f.EOL, f.Size})
				}
				if fmt.Sprint(got) != fmt.Sprint(test.frames) {
					t.Errorf("%s: recorded %.300q, want %.300q", direction, fmt.Sprint(got), fmt.Sprint(test.frames))
				}
			}
			end := frames[len(frames)-1]
			if m := end.meta(t); end.Kind != "end" || m.ExitCode == nil || *m.ExitCode != 0 || m.Signal != "" ||
				m.Frames != uint64(len(frames)) || m.Dropped != 0 {
				t.Errorf("last frame %+v says %+v of %d", end, m, len(frames))
			}
		})
	}
}

// TestHugeLine: one line of 64 MiB passes whole, its copy is cut.
func TestHugeLine(t *testing.T) {
	tp := run(t, helperCommand("echo"), nil)
	line := bytes.Repeat([]byte("0123456789abcde\xc3\xa9"), 64<<20/17)
	line = append(line, "\r\nafter\n"...)
	out := collect(tp.out)
	if _, err := tp.in.Write(line); err != nil {
		t.Fatal(err)
	}
	tp.in.Close()
	if r := tp.wait(t); r.ExitCode != 0 || r.Lost != 0 {
		t.Errorf("result %+v", r)
	}
	if !bytes.Equal(<-out, line) {
		t.Error("the client got other bytes")
	}
	frames := decode(t, tp.log.text())
	checkOrder(t, frames)
	for _, direction := range []string{"c2s", "s2c"} {
		list := of(direction, frames)
		if len(list) != 2 {
			t.Fatalf("%s: %d frames, want 2", direction, len(list))
		}
		f := list[0]
		if want := int64(len(line) - len("after\n")); f.Size != want || f.EOL != "crlf" {
			t.Errorf("%s: size %d, eol %q; want %d", direction, f.Size, f.EOL, want)
		}
		// The cut goes through a character, which is left out.
		if n := len(f.payload()); !f.Truncated || f.Text == nil || n > 16<<20 || n < 16<<20-3 {
			t.Errorf("%s: truncated %v, %d bytes kept", direction, f.Truncated, n)
		}
		if list[1].payload() != "after" || list[1].Truncated {
			t.Errorf("%s: next line is %q, truncated %v", direction, list[1].payload(), list[1].Truncated)
		}
	}
}

// TestFlood: every one of many small lines is recorded, from two streams at once.
func TestFlood(t *testing.T) {
	n := 200_000
	if underRace {
		n = 40_000
	}
	tp := run(t, helperCommand("flood", fmt.Sprint(n)), nil)
	out, errs := collect(tp.out), collect(tp.errs)
	if r := tp.wait(t); r.ExitCode != 0 || r.Lost != 0 {
		t.Errorf("result %+v; %s", r, tp.noted())
	}
	var want bytes.Buffer
	floodLines(&want, "o", n)
	if !bytes.Equal(<-out, want.Bytes()) {
		t.Error("stdout is not what the server wrote")
	}
	want.Reset()
	floodLines(&want, "e", n)
	if !bytes.Equal(<-errs, want.Bytes()) {
		t.Error("stderr is not what the server wrote")
	}
	frames := decode(t, tp.log.text())
	checkOrder(t, frames)
	for direction, prefix := range map[string]string{"s2c": "o", "stderr": "e"} {
		list := of(direction, frames)
		if len(list) != n {
			t.Errorf("%s: %d frames, want %d", direction, len(list), n)
		}
		for i, f := range list {
			if want := fmt.Sprintf(`{"stream":"%s","n":%d}`, prefix, i); f.payload() != want {
				t.Fatalf("%s: frame %d is %q, want %q", direction, i, f.payload(), want)
			}
			if (f.Text != nil) != (direction == "stderr") {
				t.Fatalf("%s: frame %d is written as text: %v", direction, i, f.Text != nil)
			}
		}
	}
}

// TestAnswerAfterRequest: no answer is recorded before its request, however fast
// they follow each other.
func TestAnswerAfterRequest(t *testing.T) {
	const n = 20_000
	tp := run(t, helperCommand("answer"), nil)
	go func() {
		for i := range n {
			fmt.Fprintf(tp.in, "request %d\n", i)
		}
		tp.in.Close()
	}()
	for i := range n {
		if got, want := tp.out.line(t), fmt.Sprintf("answer to request %d", i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if r := tp.wait(t); r.ExitCode != 0 || r.Lost != 0 {
		t.Errorf("result %+v", r)
	}
	frames := decode(t, tp.log.text())
	checkOrder(t, frames)
	asked := map[string]bool{}
	for _, f := range frames {
		switch f.Direction {
		case "c2s":
			asked[f.payload()] = true
		case "s2c":
			if question := strings.TrimPrefix(f.payload(), "answer to "); !asked[question] {
				t.Fatalf("frame %d answers %q, which was not asked before", f.Seq, question)
			}
		}
	}
	if len(asked) != n {
		t.Errorf("%d requests recorded, want %d", len(asked), n)
	}
}

func TestStartFrame(t *testing.T) {
	tp := run(t, helperCommand("echo"), func(c *Stdio) { c.Start.Tool = "mcpsnoop test" })
	tp.in.Close()
	tp.wait(t)
	f := decode(t, tp.log.text())[0]
	m := f.meta(t)
	if m.PID != os.Getpid() || m.ServerPID == 0 || len(m.Command) == 0 || m.Command[0] != "env" || m.Cwd == "" {
		t.Errorf("start says %+v", m)
	}
	if m.Client["pid"] != float64(os.Getppid()) || m.Client["host"] != proc.Host(proc.System) {
		t.Errorf("client %v, our parent is %d", m.Client, os.Getppid())
	}
	if f.Tap != "t-1-000000000000" || f.Label != "t" || f.Direction != "meta" {
		t.Errorf("start is %+v", f)
	}
}

func TestExitCode(t *testing.T) {
	for script, want := range map[string]Result{
		"exit 0":        {ExitCode: 0},
		"exit 7":        {ExitCode: 7},
		"kill -KILL $$": {ExitCode: 137, Signal: "SIGKILL"},
		"kill -TERM $$": {ExitCode: 143, Signal: "SIGTERM"},
	} {
		t.Run(script, func(t *testing.T) {
			tp := run(t, []string{"sh", "-c", script}, nil)
			got := tp.wait(t) // the client's end stays open
			if got.ExitCode != want.ExitCode || got.Signal != want.Signal {
				t.Errorf("result %+v, want %+v", got, want)
			}
			frames := decode(t, tp.log.text())
			m := frames[len(frames)-1].meta(t)
			if want.Signal != "" {
				if m.ExitCode != nil || m.Signal != want.Signal {
					t.Errorf("end says %+v", m)
				}
			} else if m.ExitCode == nil || *m.ExitCode != want.ExitCode {
				t.Errorf("end says %+v", m)
			}
		})
	}
}

func TestCannotStart(t *testing.T) {
	for command, code := range map[string]int{"/no/such/program": 127, t.TempDir(): 126} {
		tp := run(t, []string{command}, nil)
		r := tp.wait(t)
		var start *proc.StartError
		if r.ExitCode != code || !errors.As(tp.err, &start) || start.Code != code {
			t.Errorf("%s: result %+v, %v; want %d", command, r, tp.err, code)
		}
		frames := decode(t, tp.log.text())
		if len(frames) != 2 || frames[0].Kind != "start" || frames[1].Kind != "end" {
			t.Fatalf("%s: log holds %+v", command, frames)
		}
		if m := frames[0].meta(t); m.ServerPID != 0 || m.Command[0] != command {
			t.Errorf("%s: start says %+v", command, m)
		}
		if m := frames[1].meta(t); m.ExitCode == nil || *m.ExitCode != code {
			t.Errorf("%s: end says %+v", command, m)
		}
	}
}

// TestServerDiesInsideLine: half a message goes on, and is recorded as such.
func TestServerDiesInsideLine(t *testing.T) {
	tp := run(t, []string{"sh", "-c", `printf '{}\n{"half'; exit 7`}, nil)
	out := collect(tp.out)
	if r := tp.wait(t); r.ExitCode != 7 {
		t.Errorf("result %+v", r)
	}
	if got := string(<-out); got != "{}\n{\"half" {
		t.Errorf("client got %q", got)
	}
	list := of("s2c", decode(t, tp.log.text()))
	if len(list) != 2 || list[1].payload() != `{"half` || list[1].EOL != "none" {
		t.Errorf("recorded %+v", list)
	}
}

// TestClientEOF: the server's standard input ends with ours, and what it still has
// to say is relayed however long it takes.
func TestClientEOF(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "cat >/dev/null; sleep 0.5; echo late; sleep 0.3; echo later; exit 4"}, nil)
	tp.in.WriteString("{}\n")
	tp.in.Close()
	out := collect(tp.out)
	if r := tp.wait(t); r.ExitCode != 4 {
		t.Errorf("result %+v", r)
	}
	if got := string(<-out); got != "late\nlater\n" {
		t.Errorf("client got %q", got)
	}
	if tp.log.syncs < 2 {
		t.Errorf("%d syncs, want one at the client's end and one at ours", tp.log.syncs)
	}
}

// TestFlushAtClientEOF: a server that ignores the end of its input keeps the tap
// waiting, but the log is whole by then.
func TestFlushAtClientEOF(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "echo up; exec sleep 60"}, nil)
	tp.out.line(t)
	tp.in.WriteString(`{"last":"words"}` + "\n")
	tp.in.Close()
	deadline := time.Now().Add(hang)
	for !strings.Contains(tp.log.text(), "last") || tp.log.count() == 0 {
		if time.Now().After(deadline) {
			t.Fatalf("log holds %q, %d syncs", tp.log.text(), tp.log.count())
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case r := <-tp.result:
		t.Errorf("the tap ended: %+v", r)
	default:
	}
}

func (l *memLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncs
}

// TestGrandchildHoldsPipes: what a launcher left behind is heard out, but its
// silence does not keep us, nor do we end it.
func TestGrandchildHoldsPipes(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "(sleep 0.5; echo late; exec sleep 600) & echo $!; exit 3"}, nil)
	left, err := strconv.Atoi(tp.out.line(t))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(left, syscall.SIGKILL)
	if got := tp.out.line(t); got != "late" {
		t.Errorf("client got %q", got)
	}
	if r := tp.wait(t); r.ExitCode != 3 {
		t.Errorf("result %+v", r)
	}
	if !alive(left) {
		t.Error("what the launcher left was killed")
	}
}

// TestGrandchildAndClientGone: what is on its way arrives, though the client has
// nothing more to say and somebody holds the pipe.
func TestGrandchildAndClientGone(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "sleep 600 & echo $!; cat >/dev/null; echo bye; exit 3"}, nil)
	left, err := strconv.Atoi(tp.out.line(t))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(left, syscall.SIGKILL)
	tp.in.Close()
	out := collect(tp.out)
	if r := tp.wait(t); r.ExitCode != 3 {
		t.Errorf("result %+v", r)
	}
	if got := string(<-out); got != "bye\n" {
		t.Errorf("client got %q", got)
	}
}

// TestPatience: a silent pipe is waited for as long as there is a client.
func TestPatience(t *testing.T) {
	tp := &stdio{clientGone: make(chan struct{})}
	if got := tp.patience(); got != quiet {
		t.Errorf("with a client %v", got)
	}
	tp.killed = true
	if got := tp.patience(); got != quietAlone {
		t.Errorf("after a kill %v", got)
	}
	tp.killed = false
	close(tp.clientGone)
	if got := tp.patience(); got != quietAlone {
		t.Errorf("without a client %v", got)
	}
}

// TestSlowClient: a client that is slow to read gets all of what an ended server
// said, even if it takes longer than we would wait for a silent pipe.
func TestSlowClient(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "head -c 300000 /dev/zero; exit 5"}, nil)
	time.Sleep(quiet + 500*time.Millisecond)
	out := collect(tp.out)
	if r := tp.wait(t); r.ExitCode != 5 {
		t.Errorf("result %+v", r)
	}
	if got := len(<-out); got != 300000 {
		t.Errorf("client got %d bytes", got)
	}
}

// TestClientGoneFromStdout: the server learns of it as it would without us, and
// what the client still sends is recorded.
func TestClientGoneFromStdout(t *testing.T) {
	tp := run(t, []string{"sh", "-c", `trap "" PIPE; while read x; do echo answer || { read y; exit 9; }; done`}, nil)
	tp.outf.Close()
	sent := 0
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := tp.in.WriteString("{}\n"); err != nil {
			break // the server has ended, and so have we
		}
		sent++
	}
	if r := tp.wait(t); r.ExitCode != 9 {
		t.Errorf("result %+v", r)
	}
	frames := decode(t, tp.log.text())
	// The last ones may have met nobody.
	if got := len(of("c2s", frames)); got < 3 || got > sent {
		t.Errorf("%d of the client's messages recorded, %d sent", got, sent)
	}
	if got := len(of("s2c", frames)); got == 0 {
		t.Error("the server's answer is not recorded")
	}
}

// TestServerClosesStdin: the client learns of it as it would without us, and the
// server is heard to its end.
func TestServerClosesStdin(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "exec <&-; echo closed; sleep 1; echo end; exit 6"}, nil)
	tp.out.line(t)
	out := collect(tp.out)
	var err error
	for deadline := time.Now().Add(hang); err == nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		_, err = tp.in.WriteString("{}\n")
	}
	if err == nil {
		t.Error("the client can write on")
	}
	if r := tp.wait(t); r.ExitCode != 6 {
		t.Errorf("result %+v", r)
	}
	if got := string(<-out); got != "end\n" {
		t.Errorf("client got %q", got)
	}
}

// TestStderrNobodyReads: a full stderr stops the server's stderr, as it would
// without us, and nothing else.
func TestStderrNobodyReads(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "head -c 1000000 /dev/zero >&2 & while read x; do echo $x; done; kill $! 2>&1; exit 2"}, nil)
	for i := range 100 {
		fmt.Fprintf(tp.in, "%d\n", i)
		if got := tp.out.line(t); got != fmt.Sprint(i) {
			t.Fatalf("got %q, want %d", got, i)
		}
	}
	tp.in.Close()
	tp.errf.Close()
	if r := tp.wait(t); r.ExitCode != 2 {
		t.Errorf("result %+v", r)
	}
}

// TestContext: its end kills the server and what that started.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tp := run(t, []string{"sh", "-c", "sleep 60 & echo up; wait"}, nil, ctx)
	tp.out.line(t)
	cancel()
	if r := tp.wait(t); r.ExitCode != 137 || r.Signal != "SIGKILL" {
		t.Errorf("result %+v", r)
	}
	if rest := <-collect(tp.out); len(rest) > 0 {
		t.Errorf("more output: %q", rest)
	}
}

// TestNoTrace: without a log bytes pass all the same.
func TestNoTrace(t *testing.T) {
	tp := run(t, helperCommand("echo"), func(c *Stdio) { c.Log = nil })
	in := append(bytes.Repeat([]byte("x"), 1<<20), "\r\n\xff"...)
	out := collect(tp.out)
	tp.in.Write(in)
	tp.in.Close()
	if r := tp.wait(t); r != (Result{}) {
		t.Errorf("result %+v", r)
	}
	if !bytes.Equal(<-out, in) {
		t.Error("the client got other bytes")
	}
	if tp.log.text() != "" || tp.noted() != "" {
		t.Errorf("recorded %q, said %q", tp.log.text(), tp.noted())
	}
}
