package tap

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

// testRecorder is a recorder on a memLog, fed by hand.
type testRecorder struct {
	*recorder
	t     *testing.T
	log   *memLog
	pool  pool
	mu    sync.Mutex
	notes []string
	wall  int64
	mono  time.Duration
}

func record1(t *testing.T, limits Limits, log *memLog) *testRecorder {
	return recordWithin(t, waits{exit: hang}, limits, log)
}

func recordWithin(t *testing.T, patience waits, limits Limits, log *memLog) *testRecorder {
	r := &testRecorder{t: t, log: log, wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano()}
	r.recorder = newRecorder(&Recording{
		Tap: "t-1-000000000000", Label: "t", Log: log, Limits: limits, waits: patience,
		Notify: func(s string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.notes = append(r.notes, s)
		},
		clock: func() (int64, time.Duration) { return r.wall, r.mono }, // under the recorder's lock
	})
	r.begin(capture.StartInfo{Command: []string{"server"}, Cwd: "/"})
	return r
}

// feed records bytes as a pump would that read them at once.
func (r *testRecorder) feed(s stream, data string) {
	for len(data) > 0 {
		b := r.pool.get(blockSize)
		n := copy(b.buf, data)
		r.chunk(s, b, 0, n)
		b.release(1)
		data = data[n:]
	}
}

// settle waits until all that was fed is written, or tried to.
func (r *testRecorder) settle() {
	deadline := time.Now().Add(hang)
	for time.Now().Before(deadline) {
		r.recorder.mu.Lock()
		held := r.held
		r.recorder.mu.Unlock()
		if held == 0 {
			r.w.mu.Lock()
			batch := len(r.w.batch)
			r.w.mu.Unlock()
			if batch == 0 {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	r.t.Fatal("the writer does not come to rest")
}

func (r *testRecorder) done() ([]logged, totals) {
	r.t.Helper()
	code := 0
	totals := r.close(capture.EndInfo{ExitCode: &code})
	frames, _ := decodeTorn(r.t, r.log.text())
	return frames, totals
}

func (r *testRecorder) noted() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.notes, "\n")
}

// TestLines: however bytes are cut into chunks, the same lines are recorded.
func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const limit = 50
	for round := range 300 {
		var text []byte
		for range rng.IntN(12) {
			n := rng.IntN(30)
			if rng.IntN(4) == 0 {
				n = limit - 5 + rng.IntN(80)
			}
			for range n {
				text = append(text, "abc\r{}"[rng.IntN(6)])
			}
			text = append(text, []string{"\n", "\r\n", "\n\n"}[rng.IntN(3)]...)
		}
		if rng.IntN(2) == 0 {
			text = append(text, "tail\r"[:rng.IntN(6)]...)
		}
		r := record1(t, Limits{MessageBytes: limit, QueueBytes: 1 << 30, LogBytes: 1 << 30}, &memLog{})
		for rest := string(text); rest != ""; {
			n := min(len(rest), 1+rng.IntN(40))
			r.feed(s2c, rest[:n])
			rest = rest[n:]
		}
		r.end(s2c)
		frames, totals := r.done()
		checkOrder(t, frames)
		if totals.lost != 0 {
			t.Errorf("round %d: %d lost", round, totals.lost)
		}
		got := of("s2c", frames)
		for i, line := range strings.SplitAfter(string(text), "\n") {
			if line == "" {
				break
			}
			if i == len(got) {
				t.Fatalf("round %d: only %d frames", round, i)
			}
			f := got[i]
			content, eol := strings.CutSuffix(line, "\n")
			end := "none"
			if eol {
				end = ""
				if c, ok := strings.CutSuffix(content, "\r"); ok {
					content, end = c, "crlf"
				}
			}
			kept := content[:min(len(content), limit)]
			if f.payload() != kept || f.EOL != end || f.Size != int64(len(line)) || f.Truncated != (len(content) > limit) {
				t.Fatalf("round %d, line %d %q: recorded %q, eol %q, size %d, truncated %v",
					round, i, line, f.payload(), f.EOL, f.Size, f.Truncated)
			}
			if i == strings.Count(string(text), "\n")-1 && strings.HasSuffix(string(text), "\n") && len(got) != i+1 {
				t.Errorf("round %d: %d frames, want %d", round, len(got), i+1)
			}
		}
	}
}

// TestQueueFull: while the log stalls, nobody waits; the newest frames are dropped,
// and a gap says which.
func TestQueueFull(t *testing.T) {
	log := &memLog{stall: make(chan struct{})}
	r := record1(t, Limits{MessageBytes: 1 << 20, QueueBytes: 20_000, LogBytes: 1 << 30}, log)
	line := `{"n":1,"pad":"` + strings.Repeat("x", 980) + `"}` + "\n"
	for range 1000 { // all while the log's first write has not returned
		r.feed(s2c, line)
	}
	late := strings.Repeat("y", 1500)
	r.feed(c2s, late)
	close(log.stall)
	r.settle()
	r.feed(c2s, "r\nanother\n")
	r.feed(s2c, line)
	frames, totals := r.done()
	checkOrder(t, frames)
	written := len(of("s2c", frames))
	if written+len(of("c2s", frames))+int(totals.lost) != 1003 {
		t.Errorf("%d and %d frames and %d lost are not 1003", written, len(of("c2s", frames)), totals.lost)
	}
	if written < 15 || written > 40 {
		t.Errorf("%d of 1001 written, though the queue has room for about 18", written)
	}
	gaps := kind("gap", frames)
	if len(gaps) == 0 {
		t.Fatal("no gap")
	}
	var lost uint64
	var bytes int64
	for _, g := range gaps {
		m := g.meta(t)
		lost += m.Lost
		bytes += m.Bytes
		if m.Reason != "queue full" {
			t.Errorf("reason %q", m.Reason)
		}
	}
	if lost != totals.lost {
		t.Errorf("gaps tell of %d lost frames, want %d", lost, totals.lost)
	}
	if want := int64(len(late)+len("r\n")) + int64(totals.lost-1)*int64(len(line)); bytes != want {
		t.Errorf("gaps tell of %d bytes, want %d", bytes, want)
	}
	if got := of("c2s", frames); len(got) != 1 || got[0].payload() != "another" {
		t.Errorf("of the client's lines %+v are recorded", got)
	}
	if m := frames[len(frames)-1].meta(t); m.Dropped != totals.lost || m.Frames != uint64(len(frames)) {
		t.Errorf("end says %+v", m)
	}
	if want := fmt.Sprintf("mcpsnoop: warning: %d frames not recorded (queue full: %d)", totals.lost, totals.lost); totals.line() != want {
		t.Errorf("exit line %q, want %q", totals.line(), want)
	}
}

// TestQueueFullKeepsMemory: what is dropped costs nothing, whichever streams take turns.
func TestQueueFullKeepsMemory(t *testing.T) {
	log := &memLog{stall: make(chan struct{})}
	r := record1(t, Limits{MessageBytes: 1 << 20, QueueBytes: 1000, LogBytes: 1 << 30}, log)
	for range 10_000 {
		r.feed(s2c, "one\n")
		r.feed(c2s, "two\n")
		r.feed(stderr, "three\npart")
	}
	r.recorder.mu.Lock()
	held := r.held
	r.recorder.mu.Unlock()
	if held > 2000 {
		t.Errorf("%d bytes held, allowed are 1000", held)
	}
	close(log.stall)
	r.settle()
	frames, totals := r.done()
	checkOrder(t, frames)
	// The parts of the third stream make one line with what follows; the last is open.
	if got := len(of("s2c", frames)) + len(of("c2s", frames)) + len(of("stderr", frames)) + int(totals.lost); got != 30_001 {
		t.Errorf("%d frames in all, want 30001", got)
	}
}

// TestElided: the rest of an oversized line does not enter the queue.
func TestElided(t *testing.T) {
	log := &memLog{stall: make(chan struct{})}
	r := record1(t, Limits{MessageBytes: 1000, QueueBytes: 200_000, LogBytes: 1 << 30}, log)
	for range 100 { // 6 MiB
		r.feed(s2c, strings.Repeat("x", 64<<10))
	}
	r.feed(s2c, "\r")
	r.feed(s2c, "\nnext\n")
	close(log.stall)
	frames, totals := r.done()
	checkOrder(t, frames)
	got := of("s2c", frames)
	if len(got) != 2 || totals.lost != 0 {
		t.Fatalf("%d frames, %d lost", len(got), totals.lost)
	}
	if f := got[0]; !f.Truncated || len(f.payload()) != 1000 || f.EOL != "crlf" || f.Size != 100*64<<10+2 {
		t.Errorf("truncated %v, %d bytes, eol %q, size %d", f.Truncated, len(f.payload()), f.EOL, f.Size)
	}
	if got[1].payload() != "next" {
		t.Errorf("then %q", got[1].payload())
	}
}

// TestTruncatedNumber: a cut copy that happens to be JSON is not passed off as such.
func TestTruncatedNumber(t *testing.T) {
	r := record1(t, Limits{MessageBytes: 4, QueueBytes: 1 << 20, LogBytes: 1 << 30}, &memLog{})
	r.feed(s2c, "123456\naaaé\naé漢字\n")
	frames, _ := r.done()
	var got []string
	for _, f := range of("s2c", frames) {
		if f.Text == nil || !f.Truncated {
			t.Errorf("%+v is no truncated text", f)
		}
		got = append(got, f.payload())
	}
	if want := []string{"1234", "aaa", "aé"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

// TestWriteErrors: frames that the log refuses are lost and counted, said once on
// stderr, and told of by a gap once writing works again.
func TestWriteErrors(t *testing.T) {
	full := fmt.Errorf("write log %q: %w", "x.jsonl", syscall.ENOSPC)
	tests := []struct {
		name string
		keep int // bytes of the first failing write that get through
		torn int
	}{{"at once", 0, 0}, {"inside a line", 700, 1}, {"between lines", -1, 0}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log := &memLog{}
			r := record1(t, DefaultLimits(), log)
			feed := func(from, to int) {
				for i := from; i < to; i++ {
					r.feed(s2c, fmt.Sprintf(`{"n":%d}`+"\n", i))
				}
				r.settle()
			}
			feed(0, 10)
			failed := 0
			log.mu.Lock()
			log.write = func(p []byte) (int, error, bool) {
				failed++
				if failed > 1 {
					return 0, full, true
				}
				n := min(test.keep, len(p))
				if test.keep < 0 {
					n = bytes.IndexByte(p, '\n') + 1
				}
				return n, full, true
			}
			log.mu.Unlock()
			feed(10, 30)
			feed(30, 40)
			log.mu.Lock()
			log.write = nil
			log.mu.Unlock()
			feed(40, 50)
			frames, totals := r.done()
			checkOrder(t, frames)
			if _, torn := decodeTorn(t, log.text()); torn != test.torn {
				t.Errorf("%d torn lines, want %d", torn, test.torn)
			}
			gaps := kind("gap", frames)
			if len(gaps) != 1 {
				t.Fatalf("%d gaps, want 1", len(gaps))
			}
			m := gaps[0].meta(t)
			if m.Lost != totals.lost || m.Reason != "no space left on device" {
				t.Errorf("gap says %+v, lost are %d", m, totals.lost)
			}
			if n := len(of("s2c", frames)); n+int(totals.lost) != 50 || n < 20 {
				t.Errorf("%d frames and %d lost are not 50", n, totals.lost)
			}
			want := `mcpsnoop: warning: write log "x.jsonl": no space left on device; traffic goes on unrecorded`
			if got := r.noted(); got != want {
				t.Errorf("said %q, want %q", got, want)
			}
			want = fmt.Sprintf("mcpsnoop: warning: %d frames not recorded (no space left on device: %d)", totals.lost, totals.lost)
			if got := totals.line(); got != want {
				t.Errorf("exit line %q, want %q", got, want)
			}
		})
	}
}

// TestNeverWritable: a log that takes nothing at all is said once, and counted.
func TestNeverWritable(t *testing.T) {
	r := record1(t, DefaultLimits(), &memLog{})
	r.w.mu.Lock()
	r.w.log = Unwritable("x", errors.New(`create log "x": permission denied`))
	r.w.mu.Unlock()
	for range 10 {
		r.feed(s2c, "{}\n")
		r.settle()
	}
	_, totals := r.done()
	if got, want := r.noted(), `mcpsnoop: warning: create log "x": permission denied; traffic goes on unrecorded`; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if totals.lost != 10 {
		t.Errorf("%d lost, want 10", totals.lost)
	}
}

// TestStartIsWrittenLate: when the first write fails, the log still begins with the
// start.
func TestStartIsWrittenLate(t *testing.T) {
	log := &memLog{write: func([]byte) (int, error, bool) { return 0, syscall.EIO, true }}
	r := record1(t, DefaultLimits(), log)
	r.feed(s2c, "lost\n")
	r.settle()
	log.mu.Lock()
	log.write = nil
	log.mu.Unlock()
	r.feed(s2c, "kept\n")
	frames, totals := r.done()
	checkOrder(t, frames)
	if len(frames) != 4 || frames[1].Kind != "gap" || frames[2].payload() != "kept" || totals.lost != 1 {
		t.Errorf("log holds %+v, %d lost", frames, totals.lost)
	}
}

// TestLogStuck: a log that never returns from a write does not keep the end waiting.
func TestLogStuck(t *testing.T) {
	log := &memLog{}
	r := recordWithin(t, waits{exit: time.Millisecond, stuck: time.Millisecond}, DefaultLimits(), log)
	r.feed(s2c, "written\n")
	r.settle()
	log.mu.Lock()
	log.stall = make(chan struct{})
	log.mu.Unlock()
	for range 5 {
		r.feed(s2c, strings.Repeat("{}\n", 100))
	}
	r.feed(c2s, "half")
	_, totals := r.done() // returns, though the write never does
	if totals.lost != 501 {
		t.Errorf("%d lost, want 501", totals.lost)
	}
	if want := "mcpsnoop: warning: 501 frames not recorded ("; !strings.HasPrefix(totals.line(), want) {
		t.Errorf("exit line %q", totals.line())
	}
	close(log.stall)
	<-r.stopped
}

// TestSlowLog: after a while of trying, what is still queued is dropped, but the log
// gets its end.
func TestSlowLog(t *testing.T) {
	log := &memLog{}
	r := recordWithin(t, waits{exit: time.Millisecond, stuck: hang}, DefaultLimits(), log)
	log.mu.Lock()
	log.write = func([]byte) (int, error, bool) { // returns when the end has lost patience
		for !r.hurry.Load() {
			time.Sleep(time.Millisecond)
		}
		return 0, nil, false
	}
	log.mu.Unlock()
	line := strings.Repeat("x", 1000) + "\n"
	for range 10_000 { // 40 batches
		r.feed(s2c, line)
	}
	frames, totals := r.done()
	checkOrder(t, frames)
	if n := len(of("s2c", frames)); n+int(totals.lost) != 10_000 || totals.lost == 0 {
		t.Errorf("%d written and %d lost are not 10000", n, totals.lost)
	}
	if frames[len(frames)-1].Kind != "end" {
		t.Error("the log has no end")
	}
	gaps := kind("gap", frames)
	if len(gaps) != 1 || gaps[0].meta(t).Reason != "still queued at exit" {
		t.Errorf("gaps %+v", gaps)
	}
}

// TestClock: when the wall clock jumps, a frame says so, and no time goes back.
func TestClock(t *testing.T) {
	r := record1(t, DefaultLimits(), &memLog{})
	step := func(wall, mono time.Duration) {
		r.recorder.mu.Lock()
		r.wall += int64(wall)
		r.mono += mono
		r.recorder.mu.Unlock()
		r.feed(s2c, "{}\n")
	}
	step(time.Minute, time.Minute)
	step(time.Hour, time.Second) // suspended
	step(time.Second, time.Second)
	step(-2*time.Hour, time.Second) // set back
	step(3*time.Second, 2*time.Second)
	frames, _ := r.done()
	checkOrder(t, frames)
	clocks := kind("clock", frames)
	if len(clocks) != 2 {
		t.Fatalf("%d clock frames, want 2", len(clocks))
	}
	if m := clocks[0].meta(t); m.WallUS != time.Hour.Microseconds() || m.MonoUS != time.Second.Microseconds() {
		t.Errorf("first says %+v", m)
	}
	if m := clocks[1].meta(t); m.WallUS != -2*time.Hour.Microseconds() || m.MonoUS != time.Second.Microseconds() {
		t.Errorf("second says %+v", m)
	}
	if list := of("s2c", frames); list[1].Seq != clocks[0].Seq+1 || list[3].Seq != clocks[1].Seq+1 {
		t.Error("the clock frames do not stand before the frames that showed it")
	}
	if last := frames[len(frames)-1]; last.MonoUS != (60+1+1+1+2)*1e6 {
		t.Errorf("last frame at %d us", last.MonoUS)
	}
}

func TestParts(t *testing.T) {
	log := &memLog{}
	r := record1(t, Limits{MessageBytes: 1 << 20, QueueBytes: 64 << 20, LogBytes: 10_000}, log)
	for i := range 100 {
		r.feed(s2c, fmt.Sprintf(`{"n":%d,"pad":"%s"}`+"\n", i, strings.Repeat("x", 300)))
		if i%7 == 0 {
			r.settle()
		}
	}
	frames, totals := r.done()
	checkOrder(t, frames) // numbers go on over parts
	if totals.lost != 0 || len(of("s2c", frames)) != 100 {
		t.Errorf("%d frames, %d lost", len(of("s2c", frames)), totals.lost)
	}
	if len(log.parts) < 5 {
		t.Errorf("%d parts", len(log.parts))
	}
	for i := range log.parts {
		if n := log.parts[i].Len(); n > 10_000+300*7*2 {
			t.Errorf("part %d has %d bytes", i+1, n)
		}
	}
}

func TestNoNextPart(t *testing.T) {
	log := &memLog{noPart: errors.New("create next part: read-only file system")}
	r := record1(t, Limits{MessageBytes: 1 << 20, QueueBytes: 64 << 20, LogBytes: 1000}, log)
	for range 20 {
		r.feed(s2c, `{"pad":"`+strings.Repeat("x", 300)+`"}`+"\n")
		r.settle()
	}
	frames, totals := r.done()
	checkOrder(t, frames)
	if totals.lost != 0 || len(of("s2c", frames)) != 20 {
		t.Errorf("%d frames, %d lost", len(of("s2c", frames)), totals.lost)
	}
	if got, want := r.noted(), "mcpsnoop: warning: create next part: read-only file system; the log goes on growing"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

func TestLogRemoved(t *testing.T) {
	log := &memLog{}
	r := record1(t, DefaultLimits(), log)
	step := func() {
		r.recorder.mu.Lock()
		r.mono += 2 * lookAgain
		r.wall += int64(2 * lookAgain)
		r.recorder.mu.Unlock()
		r.feed(s2c, "{}\n")
		r.settle()
	}
	step()
	log.mu.Lock()
	log.gone = true
	log.mu.Unlock()
	step()
	step()
	_, totals := r.done()
	if got, want := r.noted(), `mcpsnoop: warning: the log "memory" was removed while it was written; traffic goes on`; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if got, want := totals.line(), "mcpsnoop: warning: 5 frames gone with a log that was removed"; got != want {
		t.Errorf("exit line %q, want %q", got, want)
	}
}

// TestRedact: what redaction makes of a frame is what is written.
func TestRedact(t *testing.T) {
	log := &memLog{}
	r := record1(t, DefaultLimits(), log)
	r.w.mu.Lock()
	r.w.redact = func(f capture.Frame) capture.Frame {
		f.Payload = bytes.ReplaceAll(f.Payload, []byte("secret"), []byte("[gone]"))
		f.Flags |= capture.Redacted
		return f
	}
	r.w.mu.Unlock()
	r.feed(s2c, "a secret here\n")
	r.done()
	if text := log.text(); strings.Contains(text, "secret") || !strings.Contains(text, "a [gone] here") {
		t.Errorf("log holds %s", text)
	}
}

// TestLate: what a pump brings after the end disturbs nobody.
func TestLate(t *testing.T) {
	r := record1(t, DefaultLimits(), &memLog{})
	frames, _ := r.done()
	r.feed(s2c, "late\n")
	r.end(c2s)
	r.flush()
	if again := decode(t, r.log.text()); len(again) != len(frames) {
		t.Errorf("%d frames, were %d", len(again), len(frames))
	}
}

// TestConcurrent: three pumps at once, and the file in the order of the numbers.
func TestConcurrent(t *testing.T) {
	const n = 20_000
	r := record1(t, DefaultLimits(), &memLog{})
	r.recorder.mu.Lock()
	r.clock = systemClock()
	r.recorder.mu.Unlock()
	var pumps sync.WaitGroup
	for s := range streams {
		pumps.Go(func() {
			pool := &pool{}
			b := pool.get(blockSize)
			for i := range n {
				line := fmt.Appendf(b.buf[:0], "%d %d\n", s, i)
				r.chunk(s, b, 0, len(line))
				b.release(1)
				b = pool.get(blockSize)
			}
		})
	}
	pumps.Wait()
	frames, totals := r.done()
	checkOrder(t, frames)
	recorded := 0
	for s, direction := range []string{"c2s", "s2c", "stderr"} {
		last := -1
		for _, f := range of(direction, frames) {
			var stream, k int
			fmt.Sscanf(f.payload(), "%d %d", &stream, &k)
			if stream != s || k <= last {
				t.Fatalf("%s: frame %q after %d", direction, f.payload(), last)
			}
			last = k
			recorded++
		}
	}
	if recorded+int(totals.lost) != 3*n {
		t.Errorf("%d frames and %d lost are not %d", recorded, totals.lost, 3*n)
	}
}
