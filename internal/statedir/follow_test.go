package statedir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcpsnoop/internal/capture"
)

// line is a frame as it stands in a log.
func line(tap string, seq uint64) string {
	f := capture.Frame{
		Tap: tap, Label: "l", Seq: seq, Time: day, Dir: capture.C2S, Transport: capture.Stdio,
		Form: capture.Raw, Payload: fmt.Appendf(nil, `{"n":%d}`, seq),
	}
	return string(capture.AppendFrame(nil, &f))
}

func lines(tap string, first, last uint64) string {
	var b strings.Builder
	for seq := first; seq <= last; seq++ {
		b.WriteString(line(tap, seq))
	}
	return b.String()
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// watcher runs a Follower and writes down what it says, an event a word:
// "a3" is frame 3 of tap a.
type watcher struct {
	t      *testing.T
	mu     sync.Mutex
	said   []string
	refs   []capture.Ref
	log    string // the last event was about
	cancel context.CancelFunc
	done   chan error
}

// watch follows in a bubble of synctest, where sleeping costs no time.
func watch(t *testing.T, f Follower, stop func(*Event) error) *watcher {
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{t: t, cancel: cancel, done: make(chan error, 1)}
	go func() {
		w.done <- f.Run(ctx, func(e *Event) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.hear(e)
			if stop != nil {
				return stop(e)
			}
			return nil
		})
	}()
	time.Sleep(settle)
	return w
}

// settle is more than probing a lock takes.
const settle = 5 * time.Millisecond

func (w *watcher) hear(e *Event) {
	word := ""
	switch e.Kind {
	case Listed:
		word = fmt.Sprintf("listed:%d", len(e.Listing.Logs))
	case Read:
		word = fmt.Sprintf("%s%d", e.Frame.Tap, e.Frame.Seq)
		w.refs = append(w.refs, e.Ref)
		want := line(e.Frame.Tap, e.Frame.Seq)
		text, err := os.ReadFile(e.Log.Paths[e.Ref.File])
		if err != nil || !bytes.HasPrefix(text[e.Ref.Offset:], []byte(want[:e.Ref.Len])) || int(e.Ref.Len) != len(want)-1 ||
			bytes.Count(text[:e.Ref.Offset], []byte("\n"))+1 != int(e.Ref.Line) {
			w.t.Errorf("%s does not lie at %+v of %v (%v)", word, e.Ref, e.Log.Paths, err)
		}
	case BadLine:
		var bad *capture.LineError
		if !errors.As(e.Err, &bad) {
			w.t.Errorf("bad line without its error: %v", e.Err)
			return
		}
		word = fmt.Sprintf("bad:%d@%d+%d", bad.Line, bad.Offset, bad.Len)
		if bad.Torn {
			word = "torn" + word[3:]
		}
	case Again:
		var again *AgainError
		if !errors.As(e.Err, &again) {
			w.t.Errorf("again without its error: %v", e.Err)
			return
		}
		word = "again:" + strings.Fields(again.Why)[0]
	case CaughtUp:
		word = "."
	case Became:
		word = e.State.String()
		if (e.State == Unknown) != (e.Err != nil) {
			w.t.Errorf("%s for the reason %v", word, e.Err)
		}
	case Gone:
		word = "gone"
	case Trouble:
		word = "trouble"
	case Turned:
		word = "|"
	}
	w.said = append(w.said, word)
	if e.Log != nil {
		w.log = e.Log.ID
	}
}

// heard returns what was said since it was called last.
func (w *watcher) heard() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	said := strings.Join(w.said, " ")
	w.said = nil
	return said
}

func (w *watcher) about() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log
}

func (w *watcher) wants(want string) {
	w.t.Helper()
	if got := w.heard(); got != want {
		w.t.Errorf("said %q, want %q", got, want)
	}
}

func (w *watcher) stop() {
	w.t.Helper()
	w.cancel()
	if err := <-w.done; !errors.Is(err, context.Canceled) {
		w.t.Errorf("ended with %v", err)
	}
}

// at is At for a test.
func at(t *testing.T, path string) Entry {
	t.Helper()
	e, err := At(path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func bubble(t *testing.T, test func(t *testing.T, dir string)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { test(t, dir) })
}

func TestFollowOneLog(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "t.jsonl")
		l := openTrace(t, path)
		write(t, l, lines("a", 1, 2))
		w := watch(t, Follower{Logs: []Entry{at(t, path)}}, nil)
		w.wants("a1 a2 . live")
		time.Sleep(10 * screenPoll)
		w.wants("")

		write(t, l, line("a", 3))
		time.Sleep(screenPoll - settle)
		w.wants("")
		time.Sleep(settle)
		w.wants("a3 .")

		next := lines("a", 4, 5)
		write(t, l, next[:len(next)-7]) // to the last newline only
		time.Sleep(screenPoll)
		w.wants("a4 .")
		appendTo(t, path, next[len(next)-7:])
		time.Sleep(screenPoll)
		w.wants("a5 .")

		appendTo(t, path, "rubbish\n\n"+line("b", 1))
		time.Sleep(screenPoll)
		w.wants(fmt.Sprintf("bad:6@%d+7 b1 .", len(lines("a", 1, 5))))

		l.Close()
		time.Sleep(listPoll)
		w.wants("idle")
		openTrace(t, path)
		time.Sleep(listPoll)
		w.wants("live")
		w.stop()
	})
}

// With Turns it is said when all logs were looked at, also when nothing came.
func TestFollowTurns(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
		put(t, a, line("a", 1))
		put(t, b, line("b", 1))
		w := watch(t, Follower{Logs: []Entry{at(t, a), at(t, b)}, Turns: true}, nil)
		w.wants("a1 . idle b1 . idle |")
		appendTo(t, a, line("a", 2))
		appendTo(t, b, line("b", 2))
		time.Sleep(screenPoll)
		w.wants("a2 . b2 . |")
		time.Sleep(screenPoll)
		w.wants("|")
		w.stop()
	})
}

// What a killed tap left unfinished is said when nobody writes any more; the next
// one who appends begins a line of its own.
func TestFollowTornEnd(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "t.jsonl")
		l := openTrace(t, path)
		write(t, l, line("a", 1)+`{"torn`)
		w := watch(t, Follower{Logs: []Entry{at(t, path)}}, nil)
		w.wants("a1 . live")
		l.f.Close()
		time.Sleep(listPoll)
		w.wants(fmt.Sprintf("torn:2@%d+6 . idle", len(line("a", 1))))
		time.Sleep(5 * listPoll)
		w.wants("")

		l = openTrace(t, path)
		write(t, l, line("b", 1))
		time.Sleep(screenPoll)
		w.wants("b1 .")
		time.Sleep(listPoll)
		w.wants("live")

		// A last line that lacks nothing but its newline is one.
		write(t, l, strings.TrimSuffix(line("b", 2), "\n"))
		l.f.Close()
		time.Sleep(listPoll + screenPoll)
		w.wants("b2 . idle")
		l = openTrace(t, path)
		write(t, l, line("c", 1))
		l.f.Close()
		time.Sleep(screenPoll)
		w.wants("c1 .")
		w.stop()
	})
}

// A writer without a lock may pause inside a line.
func TestFollowLineContinuedAfterAll(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "t.jsonl")
		text := lines("a", 1, 2)
		put(t, path, text[:len(text)-9])
		w := watch(t, Follower{Logs: []Entry{at(t, path)}}, nil)
		w.wants(fmt.Sprintf("a1 torn:2@%d+%d . idle", len(line("a", 1)), len(line("a", 2))-9))
		appendTo(t, path, text[len(text)-9:])
		time.Sleep(screenPoll)
		w.wants("again:continued a1 a2 .")
		w.stop()
	})
}

func TestFollowTruncatedAndReplaced(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "t.jsonl")
		put(t, path, lines("a", 1, 3))
		w := watch(t, Follower{Logs: []Entry{at(t, path)}}, nil)
		w.wants("a1 a2 a3 . idle")

		put(t, path, line("b", 1)) // the same file, shorter
		time.Sleep(screenPoll)
		w.wants("again:truncated b1 .")

		put(t, path+".new", lines("c", 1, 2)) // another file, longer
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(screenPoll)
		w.wants("again:replaced c1 c2 .")

		put(t, path, lines("d", 1, 4)) // the same file, longer
		time.Sleep(screenPoll)
		w.wants("again:rewritten d1 d2 d3 d4 .")

		put(t, path, lines("e", 1, 4)) // the same file, as long
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
		time.Sleep(screenPoll)
		w.wants("again:rewritten e1 e2 e3 e4 .")

		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(screenPoll)
		w.wants("again:truncated .")

		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(screenPoll)
		w.wants("gone")
		time.Sleep(5 * listPoll)
		w.wants("")
		put(t, path, line("f", 1))
		time.Sleep(screenPoll)
		if got := w.heard(); !strings.HasPrefix(got, "again:") || !strings.HasSuffix(got, " f1 . idle") {
			t.Errorf("said %q of a file that came back", got)
		}
		w.stop()
	})
}

func TestFollowGoesOnInNextParts(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		d := Dir(dir)
		l := create(t, d, testID)
		write(t, l, line("a", 1))
		one := watch(t, Follower{Logs: []Entry{at(t, l.Path())}}, nil)
		all := watch(t, Follower{Dir: d}, nil)
		one.wants("a1 . live")
		all.wants("listed:1 a1 . live")

		write(t, l, line("a", 2))
		if err := l.NextPart(); err != nil {
			t.Fatal(err)
		}
		write(t, l, line("a", 3))
		time.Sleep(listPoll)
		one.wants("a2 . a3 .")
		time.Sleep(listPoll)
		if got := all.heard(); !strings.HasSuffix(got, "a3 .") || strings.Contains(got, "idle") {
			t.Errorf("said %q", got)
		}
		if ref := one.refs[2]; ref.File != 1 || ref.Line != 1 || ref.Offset != 0 {
			t.Errorf("frame of the next part lies at %+v", ref)
		}

		// The last line of a part stands before the first of the next, however late
		// both are seen.
		write(t, l, line("a", 4))
		if err := l.NextPart(); err != nil {
			t.Fatal(err)
		}
		write(t, l, line("a", 5))
		l.Close()
		time.Sleep(2 * listPoll)
		one.wants("a4 . a5 . idle")
		if got := all.heard(); !strings.HasSuffix(got, "a5 . idle") {
			t.Errorf("said %q", got)
		}
		one.stop()
		all.stop()
	})
}

// Sweeps over two parts that grow between any two looks keep the order.
// TestFollowUntilDone: whoever writes can say so, and that nothing follows. All there is then is
// handed out, also what lies in a part that was begun a moment ago.
func TestFollowUntilDone(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		l := create(t, Dir(dir), testID)
		write(t, l, line("a", 1))
		wake, done := make(chan struct{}), make(chan struct{})
		w := watch(t, Follower{Logs: []Entry{at(t, l.Path())}, Wake: wake, Done: done}, nil)
		w.wants("a1 . live")
		write(t, l, line("a", 2))
		wake <- struct{}{}
		w.wants("a2 .")
		write(t, l, line("a", 3))
		if err := l.NextPart(); err != nil {
			t.Fatal(err)
		}
		write(t, l, line("a", 4))
		l.Close()
		close(done)
		if err := <-w.done; err != nil {
			t.Errorf("ended with %v", err)
		}
		w.wants("a3 a4 . idle")
	})
}

func TestTailOrderOverParts(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "t.jsonl")
	put(t, first, line("a", 1))
	put(t, partPath(first, 2), "")
	tl := newTail([]string{first, partPath(first, 2)}, func(string) capture.LineDecoder { return new(capture.Decoder) })
	var f capture.Frame
	var seqs []uint64
	for seq := uint64(2); len(seqs) < 4; {
		ref, err := tl.next(&f)
		if err == nil {
			seqs = append(seqs, ref.Seq)
			// Behind the reader's back the first part is finished, the second begun.
			switch seq {
			case 2:
				appendTo(t, partPath(first, 2), line("a", 4))
				appendTo(t, first, lines("a", 2, 3))
			}
			seq++
		}
	}
	if !slices.Equal(seqs, []uint64{1, 2, 3, 4}) {
		t.Errorf("read in the order %d", seqs)
	}
}

// Parts are copied into the directory one by one, in any order.
func TestFollowPartsOutOfOrder(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		d := Dir(dir)
		first := d.logPath(testID)
		put(t, partPath(first, 3), line("c", 1))
		w := watch(t, Follower{Dir: d}, nil)
		w.wants("listed:1 c1 . idle")
		put(t, first, line("a", 1))
		time.Sleep(livePoll)
		w.wants("listed:1 again:given a1 c1 .")
		put(t, partPath(first, 2), line("b", 1))
		time.Sleep(livePoll)
		w.wants("listed:1 again:given a1 b1 c1 .")
		os.Remove(first) // what was read stays read
		time.Sleep(livePoll)
		w.wants("listed:1")
		appendTo(t, partPath(first, 3), line("c", 2))
		time.Sleep(listPoll)
		w.wants("listed:1 c2 .")
		w.stop()
	})
}

func TestFollowDirectory(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		d := Dir(filepath.Join(dir, "later"))
		w := watch(t, Follower{Dir: d}, nil)
		w.wants("listed:0")
		time.Sleep(5 * listPoll)
		w.wants("")

		l := create(t, d, "x-1-000000000001")
		time.Sleep(listPoll)
		w.heard() // an empty log may be listed or not
		write(t, l, line("a", 1))
		time.Sleep(listPoll)
		w.wants("listed:1 a1 . live")
		write(t, l, line("a", 2))
		time.Sleep(livePoll)
		if got := strings.TrimPrefix(w.heard(), "listed:1 "); got != "a2 ." {
			t.Errorf("said %q", got)
		}

		// A log copied into the directory appears like any other.
		put(t, filepath.Join(d.Sessions(), "copy.jsonl"), line("b", 1))
		time.Sleep(livePoll)
		w.wants("listed:2 b1 . idle")
		if id := w.about(); id != "copy" {
			t.Errorf("last event is about %q", id)
		}
		// It grows, without anybody holding a lock.
		appendTo(t, filepath.Join(d.Sessions(), "copy.jsonl"), line("b", 2))
		time.Sleep(listPoll)
		w.wants("listed:2 b2 .")

		put(t, filepath.Join(d.Sessions(), "packed.jsonl.gz"), "whatever")
		time.Sleep(livePoll)
		w.wants("listed:3")

		l.Close()
		time.Sleep(listPoll)
		w.wants("idle")
		os.Remove(l.Path())
		time.Sleep(livePoll)
		w.wants("listed:2 gone")
		if runtime.GOOS != "windows" {
			os.RemoveAll(d.Sessions())
			put(t, d.Sessions(), "")
			time.Sleep(2 * listPoll)
			w.wants("trouble")
		}
		w.stop()
	})
}

// Logs on screen are read every 50 ms, other live ones every 250 ms, and those not
// wanted not at all.
func TestFollowWhatIsWanted(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		d := Dir(dir)
		seen, live, unwanted := create(t, d, "seen-1-000000000001"), create(t, d, "live-1-000000000002"), create(t, d, "not-1-000000000003")
		for i, l := range []*LogFile{seen, live, unwanted} {
			write(t, l, line("abc"[i:i+1], 1))
		}
		var other atomic.Bool
		w := watch(t, Follower{
			Dir:      d,
			Want:     func(e *Entry) bool { return (e.Label == "not") == other.Load() },
			OnScreen: func(e *Entry) bool { return e.Label == "seen" },
		}, nil)
		if got := w.heard(); !strings.Contains(got, "a1 . live") || !strings.Contains(got, "b1 . live") || strings.Contains(got, "c1") {
			t.Errorf("said %q", got)
		}
		write(t, seen, line("a", 2))
		write(t, live, line("b", 2))
		write(t, unwanted, line("c", 2))
		time.Sleep(screenPoll)
		w.wants("a2 .")
		time.Sleep(livePoll - screenPoll)
		w.wants("b2 .")

		other.Store(true)
		write(t, seen, line("a", 3))
		time.Sleep(listPoll)
		if got := w.heard(); !strings.HasSuffix(got, "c1 c2 . live") {
			t.Errorf("said %q", got)
		}
		write(t, live, line("b", 3))
		time.Sleep(2 * listPoll)
		w.wants("listed:3")
		w.stop()
	})
}

func TestFollowEndsWithTheHandlersError(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "t.jsonl")
		put(t, path, lines("a", 1, 9))
		enough := errors.New("enough")
		w := watch(t, Follower{Logs: []Entry{at(t, path)}}, func(e *Event) error {
			if e.Ref.Seq == 3 {
				return enough
			}
			return nil
		})
		w.wants("a1 a2 a3")
		if err := <-w.done; err != enough {
			t.Error(err)
		}
	})
}

// Run called again goes on, from another goroutine, however it ended before.
func TestFollowGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		l := create(t, Dir(dir), testID)
		write(t, l, lines("a", 1, 9))
		if err := l.NextPart(); err != nil {
			t.Fatal(err)
		}
		write(t, l, lines("a", 10, 12))
		f := Follower{Logs: []Entry{at(t, filepath.Join(dir, "sessions", testID+".jsonl"))}}
		enough := errors.New("enough")
		w := watcher{t: t}
		run := func(last uint64) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			done := make(chan error)
			go func() {
				done <- f.Run(ctx, func(e *Event) error {
					w.hear(e)
					if e.Kind == Read && e.Ref.Seq == last {
						return enough
					}
					return nil
				})
			}()
			if err := <-done; err != enough && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		for _, last := range []uint64{3, 4, 11, 0} {
			run(last)
		}
		write(t, l, line("a", 13))
		run(0)
		l.Close()
		run(0)
		w.said = slices.DeleteFunc(w.said, func(word string) bool { return word == "." || word == "live" })
		w.wants("a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 idle")
	})
}

func TestFollowRefusesWhatCannotGrow(t *testing.T) {
	for _, e := range []Entry{{ID: "none"}, {ID: "packed", Paths: []string{"packed.jsonl.gz"}}} {
		f := Follower{Logs: []Entry{e}}
		if err := f.Run(t.Context(), func(*Event) error { return nil }); err == nil || !strings.Contains(err.Error(), e.ID) {
			t.Errorf("%q: %v", e.ID, err)
		}
	}
}

// A huge log does not keep others waiting, nor the end of the context.
func TestFollowTakesTurns(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		big, small := filepath.Join(dir, "big.jsonl"), filepath.Join(dir, "small.jsonl")
		put(t, big, lines("a", 1, 3*turnFrames))
		put(t, small, line("b", 1))
		var order []string
		ctx, cancel := context.WithCancel(t.Context())
		f := Follower{Logs: []Entry{at(t, big), at(t, small)}}
		err := f.Run(ctx, func(e *Event) error {
			if e.Kind != Read {
				return nil
			}
			if e.Frame.Tap == "b" || e.Ref.Seq%turnFrames == 0 {
				order = append(order, fmt.Sprint(e.Frame.Tap, e.Ref.Seq))
			}
			if e.Ref.Seq == 2*turnFrames {
				cancel()
			}
			if e.Ref.Seq > 2*turnFrames+100 {
				t.Error("goes on after its context ended")
			}
			return nil
		})
		want := []string{fmt.Sprint("a", turnFrames), "b1", fmt.Sprint("a", 2*turnFrames)}
		if !errors.Is(err, context.Canceled) || !slices.Equal(order, want) {
			t.Errorf("%v after %q, want %q", err, order, want)
		}
	})
}

// A tap that is killed while we follow.
func TestFollowAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	o := start(t, "write", path)
	o.write(line("a", 1))
	f := Follower{Logs: []Entry{at(t, path)}}
	var said []string
	w := &watcher{t: t}
	stop := errors.New("stop")
	err := f.Run(t.Context(), func(e *Event) error {
		w.hear(e)
		said = append(said, w.said[len(w.said)-1])
		switch e.Kind {
		case Became:
			if e.State == Idle {
				return stop
			}
			o.write(line("a", 2) + "{")
		case CaughtUp:
			if slices.Contains(said, "a2") && o.cmd.ProcessState == nil {
				o.kill()
			}
		}
		return nil
	})
	want := fmt.Sprintf("a1 . live a2 . torn:3@%d+1 . idle", len(lines("a", 1, 2)))
	if got := strings.Join(said, " "); err != stop || got != want {
		t.Errorf("%v after %q, want %q", err, got, want)
	}
}
