package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// oneClause is a clause of a registry for tests, decided by a check that does what it is told on
// notifications of the server.
func oneClause(n int, do func(c *judge.Clause, e *judge.Event)) *judge.Clause {
	c := &judge.Clause{
		ID: fmt.Sprintf("TEST-%03d", n), In: mcp.Legacy, Level: judge.Must, Actor: judge.Server, Section: "x#y", Rule: "Be good.",
	}
	c.Checks = []*judge.Check{{ID: fmt.Sprintf("test.check-%d", n), On: []judge.On{{
		Kind: judge.Notification, From: judge.Server, Do: func(e *judge.Event) { do(c, e) },
	}}}}
	return c
}

// notified returns what a notification of pace/N says, its number.
func notified(e *judge.Event) string { return string(e.Msg.Params.Get("data").Text()) }

// judging is the program with checks of its own.
func judging(clauses ...*judge.Clause) {
	env := SystemEnv("1.2.3-test")
	env.registry = func() *judge.Registry {
		r, err := judge.NewRegistry(clauses, nil)
		if err != nil {
			panic(err)
		}
		return r
	}
	os.Exit(Main(env, os.Args[1:]))
}

// slowSnoop takes 50 ms to judge a message, or, if JUDGE_GATE is set, until there is such a file.
func slowSnoop() {
	gate := os.Getenv("JUDGE_GATE")
	judging(oneClause(1, func(_ *judge.Clause, e *judge.Event) {
		for gate != "" {
			if _, err := os.Stat(gate); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if gate == "" {
			time.Sleep(50 * time.Millisecond)
		}
		if notified(e) == "199" {
			e.Bad("the last one")
			return
		}
		e.OK()
	}))
}

// sickSnoop has a check that panics at the second notification, between two that do not.
func sickSnoop() {
	bad := func(_ *judge.Clause, e *judge.Event) { e.Bad("number " + notified(e)) }
	judging(oneClause(1, bad), oneClause(2, func(_ *judge.Clause, e *judge.Event) {
		if notified(e) == "1" {
			panic("no\nluck")
		}
		e.OK()
	}), oneClause(3, bad))
}

// lyingSnoop convicts, and then has its clause apply no longer.
func lyingSnoop() {
	judging(oneClause(1, func(c *judge.Clause, e *judge.Event) {
		e.Bad("number " + notified(e))
		if notified(e) == "1" {
			c.Gate = "server.prompts"
		}
	}))
}

// told runs a program that watches toolserver, and a client that asks it for a method. It
// returns when the client has all there is, and how to wait for the end.
func told(t *testing.T, env []string, program []string, method string) (lines []string, stderr *watchedOut, wait func() int) {
	t.Helper()
	cmd := exec.Command(program[0], append(program[1:], "watch", "--quiet", "-o", filepath.Join(t.TempDir(), "log.jsonl"), "stdio", "--", "toolserver")...)
	name, value := noSleep()
	cmd.Env = append(append(os.Environ(), name+"="+value), env...)
	stderr = &watchedOut{to: io.Discard}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	stuck := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	from := bufio.NewScanner(out)
	next := func() {
		if from.Scan() {
			lines = append(lines, from.Text())
		}
	}
	fmt.Fprintln(in, initialize)
	next()
	fmt.Fprintf(in, "%s\n"+`{"jsonrpc":"2.0","id":2,"method":%q}`+"\n", initialized, method)
	for next(); len(lines) > 0 && !strings.Contains(lines[len(lines)-1], `"id":2`); {
		before := len(lines)
		if next(); len(lines) == before {
			t.Fatalf("the client hears no more after %d lines; %s", len(lines), stderr.text.String())
		}
	}
	in.Close()
	return lines, stderr, func() int {
		cmd.Wait()
		stuck.Stop()
		return cmd.ProcessState.ExitCode()
	}
}

func (w *watchedOut) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func wantPaced(t *testing.T, lines []string, n int) {
	t.Helper()
	if len(lines) != n+2 {
		t.Fatalf("the client got %d lines, want %d", len(lines), n+2)
	}
	for i, line := range lines[1 : n+1] {
		if !strings.Contains(line, fmt.Sprintf(`"data":%d}`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
}

// TestSlowJudge: a judge that takes 50 ms a message behind 200 notifications 2 ms apart delays
// none of them. The client has all long before the judge is done, and in the end all was judged.
func TestSlowJudge(t *testing.T) {
	t.Parallel()
	lines, stderr, wait := told(t, nil, []string{"slowsnoop"}, "pace/200")
	if stderr.has("TEST-001") || stderr.has("verdict: ") {
		t.Errorf("judged before the client had all: %s", stderr)
	}
	wantPaced(t, lines, 200)
	if code := wait(); code != exitYes {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"FAIL TEST-001 (MUST) seq 205: the last one\n", "mcpsnoop watch: 203 exchange(s); findings so far: 1 fail, 0 warn\nlog: "} {
		if !stderr.has(want) {
			t.Errorf("%q is not in %s", want, stderr)
		}
	}
}

// TestJudgeAtAStandstill: a judge that does not move holds nothing up but itself.
func TestJudgeAtAStandstill(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	lines, stderr, wait := told(t, []string{"JUDGE_GATE=" + gate}, []string{"slowsnoop"}, "pace/200")
	wantPaced(t, lines, 200)
	if text := stderr.String(); text != "" {
		t.Errorf("said %s", text)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := wait(); code != exitYes || !stderr.has("FAIL TEST-001 (MUST) seq 205: the last one\n") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestSickCheck: a check that panics is named once and run no more; the traffic and the other
// checks go on.
func TestSickCheck(t *testing.T) {
	t.Parallel()
	lines, stderr, wait := told(t, nil, []string{"sicksnoop"}, "pace/3")
	wantPaced(t, lines, 3)
	code, text := wait(), stderr.String()
	if code != exitYes {
		t.Errorf("exit code %d", code)
	}
	const sick = "mcpsnoop: check test.check-2 failed in session 1 and was switched off there: no\\nluck\n"
	if strings.Count(text, "test.check-2") != 1 || !strings.Contains(text, sick) {
		t.Errorf("%q is not once in %s", sick, text)
	}
	for _, id := range []string{"TEST-001", "TEST-003"} {
		for n := range 3 {
			if want := fmt.Sprintf("mcpsnoop watch: FAIL %s (MUST) seq %d: number %d\n", id, n+6, n); strings.Count(text, want) != 1 {
				t.Errorf("%q is not once in %s", want, text)
			}
		}
	}
	if !strings.Contains(text, "findings so far: 6 fail, 0 warn\nlog: ") {
		t.Errorf("the end is missing: %s", text)
	}
}

// TestWithdrawn: a finding that was told of and does not stand in the report is a defect of ours.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	_, stderr, wait := told(t, nil, []string{"lyingsnoop"}, "pace/2")
	if code := wait(); code != exitDefect {
		t.Errorf("exit code %d, want %d", code, exitDefect)
	}
	for n := range 2 {
		if want := fmt.Sprintf("mcpsnoop watch: withdrawn: TEST-001 seq %d: number %d\n", n+6, n); !stderr.has(want) {
			t.Errorf("%q is not in %s", want, stderr)
		}
	}
}

// brokenLog is a log on a disk that is full after some lines.
type brokenLog struct {
	path  string
	left  int
	again bool // it is full for one write only
}

func (l *brokenLog) Write(p []byte) (int, error) {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if l.left--; l.left == -1 || l.left < -1 && !l.again {
		return 0, fmt.Errorf("write log %q: %w", l.path, syscall.ENOSPC)
	}
	return f.Write(p)
}
func (l *brokenLog) Sync() error     { return nil }
func (l *brokenLog) NextPart() error { return nil }
func (l *brokenLog) Size() int64     { return 0 }
func (l *brokenLog) Gone() bool      { return false }
func (l *brokenLog) Path() string    { return l.path }

// TestJudgingStops: where the log ends, judging does, and says so. Nothing is left running.
func TestJudgingStops(t *testing.T) {
	before := goleak.IgnoreCurrent()
	lines := []string{initialize, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, initialized}
	for _, test := range []struct {
		name    string
		written int
		again   bool
		remove  bool
		end     bool
		want    string
	}{
		{"full", 2, false, false, false, "mcpsnoop watch: judging stopped after seq 2: write log "},
		{"whole", 4, false, false, true, "findings so far: 0 fail, 0 warn\nlog: "},
		{"never", 0, false, false, false, "mcpsnoop watch: nothing was judged: write log "},
		{"removed", 4, false, true, false, "mcpsnoop watch: judging stopped after seq 4: log "},
		{"gap", 1, true, false, true, "mcpsnoop watch: not all was judged: write log "},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, judge, end := together(t)
			path := filepath.Join(t.TempDir(), "log.jsonl")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			const id = "s-1-000000000001"
			log := w.follow(&brokenLog{path, test.written, test.again}, id)
			for n := range 4 {
				dir, raw, kind := "c2s", "", ""
				switch {
				case n == 3:
					dir, raw, kind = "meta", `{"command":["s"],"cwd":"/w","frames":4,"dropped":0}`, `"kind":"end",`
				case n == 1:
					dir = "s2c"
				}
				if n < 3 {
					raw = lines[n]
				}
				io.WriteString(log, fmt.Sprintf(`{"session_id":%q,"server_label":"s","seq":%d,"ts":"2026-01-01T00:00:01Z","direction":%q,"transport":"stdio","mono_us":%d,%s"raw":%s}`+"\n", id, n+1, dir, n, kind, raw))
			}
			if test.remove {
				for judge.judged() < 4 {
					time.Sleep(time.Millisecond)
				}
				os.Remove(path)
			}
			text := end()
			if !strings.Contains(text, test.want) {
				t.Errorf("%q is not in %s", test.want, text)
			}
			if whole := strings.Contains(text, "judging stopped") || strings.Contains(text, "nothing was judged"); whole == test.end {
				t.Errorf("said %s", text)
			}
			goleak.VerifyNone(t, before)
		})
	}
}

// together returns both ends of a watch in one process. end ends it and returns what was said.
func together(t *testing.T) (w *watch, judge *onlooker, end func() string) {
	t.Helper()
	a := &app{env: &Env{Stderr: sinkFile(t), Getenv: func(string) string { return "" }, Version: "test"}}
	w, judge = newWatch(a, watchOptions{}), newOnlooker(a, watchOptions{})
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go w.send(pipe)
	go func() { ended <- judge.listen(r) }()
	return w, judge, func() string {
		w.finish(false)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.Close()
		text, err := os.ReadFile(a.env.Stderr.Name())
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
}

// judged returns the last frame that was judged, of the first log.
func (w *onlooker) judged() uint64 {
	w.open.Lock()
	defer w.open.Unlock()
	if len(w.logs) == 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logs[0].last
}

func sinkFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestStallable: whoever waits does not wait for a writer that is stuck, unless told to.
func TestStallable(t *testing.T) {
	r, w := io.Pipe()
	s := &stallable{w: w}
	done := make(chan error, 1)
	go func() { _, err := s.Write([]byte("x")); done <- err }()
	if _, ok := s.wait(done, time.Millisecond); ok {
		t.Error("waited for what never came")
	}
	go func() { io.Copy(io.Discard, r) }()
	if err, ok := s.wait(done, 0); !ok || err != nil {
		t.Errorf("%v, %v: did not wait", err, ok)
	}
	r.Close()
	if err, ok := s.wait(func() chan error { c := make(chan error, 1); c <- errors.ErrUnsupported; return c }(), time.Hour); !ok || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, %v: not what was done", err, ok)
	}
}

// TestJudgeHoldsNothing: while a message is judged, or stderr takes nothing, the judge hears of
// the logs of other sessions.
func TestJudgeHoldsNothing(t *testing.T) {
	w, judge, end := together(t)
	judge.mu.Lock()
	w.follow(&brokenLog{path: filepath.Join(t.TempDir(), "log.jsonl")}, "s-1-000000000001")
	w.unjudged(errors.New("no luck"))
	for heard := 0; heard == 0; time.Sleep(time.Millisecond) {
		judge.open.Lock()
		heard = len(judge.lost)
		judge.open.Unlock()
	}
	judge.mu.Unlock()
	if text := end(); !strings.Contains(text, "mcpsnoop watch: a session was not judged: no luck\n") {
		t.Errorf("said %s", text)
	}
}

// TestWatchWaitsForNoJudge: a judge that does not listen keeps no tap from writing.
func TestWatchWaitsForNoJudge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	w := newWatch(&app{env: &Env{}}, watchOptions{})
	r, pipe := io.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); w.send(pipe) }()
	log := w.follow(&brokenLog{path: path, left: 1 << 20}, "s-1-000000000001")
	for range 1000 {
		if n, err := io.WriteString(log, "x\n"); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	}
	r.Close()
	<-done
}

// TestNoJudge: without a judge the tap records and passes on, and says so. Who asked whether
// anything was broken is not told that nothing was.
func TestNoJudge(t *testing.T) {
	for _, fail := range []bool{false, true} {
		var said []string
		w := newWatch(&app{env: &Env{}}, watchOptions{fail: fail})
		w.launch = func(*os.File) (*os.Process, error) { return nil, errors.New("no\nluck") }
		w.begin(func(line string) { said = append(said, line) })
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if _, err := io.WriteString(w.follow(&brokenLog{path: path, left: 1}, "s-1-000000000001"), "x\n"); err != nil {
			t.Error(err)
		}
		want := exitYes
		if fail {
			want = exitFailed
		}
		for code, want := range map[int]int{0: want, 7: 7} {
			if got := exitCode(w.end(code)); got != want {
				t.Errorf("exit code %d after %d, want %d", got, code, want)
			}
		}
		w.quit()
		if text := strings.Join(said, "|"); text != `mcpsnoop watch: nothing is judged, only recorded: start judge: no\nluck` {
			t.Errorf("said %q", said)
		}
	}
}

// TestJudgeUnderstands: what watch never says is an error, and a line that was cut off, as when
// watch was killed, is none.
func TestJudgeUnderstands(t *testing.T) {
	for text, want := range map[string]int{
		"":                              exitYes,
		`{"log":`:                       exitYes,
		"{\"log\":\n":                   exitFailed,
		`{"log":0,"wrote":true}` + "\n": exitFailed,
	} {
		a := &app{env: &Env{Stderr: sinkFile(t), Getenv: func(string) string { return "" }, Version: "test"}}
		if got := exitCode(newOnlooker(a, watchOptions{}).listen(strings.NewReader(text))); got != want {
			t.Errorf("%q: exit code %d, want %d", text, got, want)
		}
	}
}

// TestFrameLines: frames are found where they stand, however they are numbered.
func TestFrameLines(t *testing.T) {
	where := frameLines{}
	type at struct {
		seq        uint64
		file, line int32
	}
	all := []at{{1, 0, 1}, {2, 0, 2}, {3, 0, 4}, {4, 1, 1}, {5, 1, 2}, {9, 1, 3}, {10, 1, 4}}
	for _, a := range all {
		where.add("t", capture.Ref{Seq: a.seq, File: a.file, Line: a.line})
	}
	where.add("u", capture.Ref{Seq: 1, Line: 3})
	for _, a := range all {
		if file, line := where.of("t")(a.seq); file != a.file || line != a.line {
			t.Errorf("frame %d is on line %d of file %d, want %d of %d", a.seq, line, file, a.line, a.file)
		}
	}
	for _, seq := range []uint64{0, 6, 8, 11} {
		if _, line := where.of("t")(seq); line != 0 {
			t.Errorf("frame %d, which is not there, is on line %d", seq, line)
		}
	}
	if len(where["t"]) != 4 || slices.ContainsFunc(where["t"], func(r frameRun) bool { return r.n == 0 }) {
		t.Errorf("runs %v", where["t"])
	}
}
