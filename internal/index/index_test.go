package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/statedir"
)

var day = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

// world is a state directory and its index, in a time of its own.
type world struct {
	testing.TB
	dir statedir.Dir
	o   Options
	now time.Time
}

func newWorld(t testing.TB) *world {
	w := &world{TB: t, dir: statedir.Dir(filepath.Join(t.TempDir(), "state")), now: day}
	w.o = Options{
		Path: filepath.Join(t.TempDir(), "cache", "mcpsnoop", "index", "x"+fileExt), Build: "b1",
		Now: func() time.Time { return w.now },
	}
	if err := os.MkdirAll(w.dir.Sessions(), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// lines is a log of n calls, by two taps if two is set.
func lines(tap string, from, n int, two bool) string {
	var b strings.Builder
	for i := range n {
		f := capture.Frame{
			Tap: tap, Label: "l", Seq: uint64(from + i), Time: day.Add(time.Duration(from+i) * time.Second), Dir: capture.C2S,
			Transport: capture.Stdio, Form: capture.Raw,
			Payload: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","_meta":{"traceparent":"00-%032x-%016x-01"}}}`, i, 1+i%3, 1),
		}
		if two && i%2 == 1 {
			f.Tap += "bis"
		}
		b.Write(capture.AppendFrame(nil, &f))
	}
	return b.String()
}

func (w *world) path(name string) string { return filepath.Join(w.dir.Sessions(), name) }

// put writes a file as it is at the world's time: in place, or a new one by rename.
func (w *world) put(name, text string, inPlace bool) {
	w.Helper()
	path := w.path(name)
	to := path
	if !inPlace {
		to += ".new"
	}
	if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	if err := os.Chtimes(to, w.now, w.now); err != nil {
		w.Fatal(err)
	}
	if err := os.Rename(to, path); err != nil {
		w.Fatal(err)
	}
}

func (w *world) text(name string) string {
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

func (w *world) later(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) read(o Options) *Index {
	w.Helper()
	x, err := Read(w.dir, o)
	if err != nil {
		w.Fatal(err)
	}
	return x
}

// folds reads the index, makes sure that it says what folding every log says, and
// that n logs had to be folded for it.
func (w *world) folds(n int) *Index {
	w.Helper()
	x := w.read(w.o)
	if x.Write != nil {
		w.Error(x.Write)
	}
	if x.Folded != n {
		w.Errorf("%d logs were folded, want %d", x.Folded, n)
	}
	w.agrees(x)
	return x
}

func (w *world) agrees(x *Index) {
	w.Helper()
	scratch := w.read(Options{Now: w.o.Now})
	if len(scratch.Logs) != scratch.Folded {
		w.Fatalf("%d of %d logs were folded without an index", scratch.Folded, len(scratch.Logs))
	}
	said := cmp.Transformer("said", func(err error) string { return fmt.Sprint(err) })
	noFindings := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Findings" }, cmp.Ignore())
	if diff := cmp.Diff(scratch.Logs, x.Logs, said, noFindings); diff != "" {
		w.Errorf("the index says something else than the logs (-logs +index):\n%s", diff)
	}
}

func TestOnlyWhatChangedIsFolded(t *testing.T) {
	w := newWorld(t)
	w.folds(0)
	if _, err := os.Stat(w.o.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an index of nothing was written: %v", err)
	}
	for i := range 5 {
		w.put(fmt.Sprintf("l-%d-00000000000%d.jsonl", i, i), lines("l", 1, 3+i, i == 2), false)
	}
	w.put("rubbish.jsonl", "no\ncapture\n", false)
	w.later(time.Minute)
	if x := w.folds(6); !slices.ContainsFunc(x.Logs, func(l Log) bool { return errors.Is(l.Err, capture.ErrNoCapture) }) {
		t.Error("what is no capture is not called so")
	}
	before := w.text("../../" + mustRel(t, filepath.Dir(string(w.dir)), w.o.Path))
	if x := w.folds(0); !slices.ContainsFunc(x.Logs, func(l Log) bool { return errors.Is(l.Err, capture.ErrNoCapture) }) {
		t.Error("what is no capture is not called so the second time")
	}

	w.put("l-1-000000000001.jsonl", w.text("l-1-000000000001.jsonl")+lines("l", 50, 1, false), true)
	w.later(time.Minute)
	w.folds(1)
	w.folds(0)
	if after := w.text("../../" + mustRel(t, filepath.Dir(string(w.dir)), w.o.Path)); after == before {
		t.Error("the file is what it was")
	}

	w.put("new.jsonl", lines("n", 1, 2, false), false)
	w.later(time.Minute)
	w.folds(1)
	if err := os.Remove(w.path("new.jsonl")); err != nil {
		t.Fatal(err)
	}
	w.folds(0)
	if s, err := Inspect(w.dir, w.o); err != nil || s.Logs != 6 || s.Held != 6 || s.Sessions != 6 || s.HeldBytes != s.LogBytes || s.Size == 0 {
		t.Errorf("%+v, %v", s, err)
	}

	// The parts of a log are one log.
	w.put("l-3-000000000003.part2.jsonl", lines("l", 100, 2, false), false)
	w.later(time.Minute)
	w.folds(1)
	w.folds(0)
	w.put("l-3-000000000003.part2.jsonl", lines("l", 200, 2, false), false) // as many bytes
	w.later(time.Minute)
	w.folds(1)
	if err := os.Remove(w.path("l-3-000000000003.jsonl")); err != nil {
		t.Fatal(err)
	}
	w.folds(1) // what is left is another log

	o := w.o
	o.Rebuild = true
	if x := w.read(o); x.Folded != len(x.Logs) {
		t.Errorf("rebuilding folds %d of %d", x.Folded, len(x.Logs))
	}
	w.folds(0)
}

func mustRel(t *testing.T, base, path string) string {
	t.Helper()
	rel, err := filepath.Rel(base, path)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// Whatever happens to the directory, the index says what the logs say.
func TestIndexIsAFold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.TB = failing{t, rt}
		names := []string{"a-1-000000000001.jsonl", "b-2-000000000002.jsonl", "copy.jsonl", "a-1-000000000001.part2.jsonl", "copy.part3.jsonl"}
		seq := 1
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			_, err := os.Stat(w.path(name))
			exists := err == nil
			inPlace := rapid.Bool().Draw(rt, "in place")
			seq++
			switch op := rapid.IntRange(0, 8).Draw(rt, "op"); {
			case op <= 1 && exists:
				w.put(name, w.text(name)+lines("a", seq, 1, false), inPlace)
			case op == 2 && exists:
				os.Remove(w.path(name))
			case op == 3 && exists: // as many bytes, often
				w.put(name, strings.ReplaceAll(w.text(name), "tools/call", rapid.SampledFrom([]string{"tools/list", "resources/list"}).Draw(rt, "other")), inPlace)
			case op == 4:
				w.put(name, "no capture", inPlace)
			case op == 5:
				w.put(name, "", inPlace)
			case op == 6:
				os.WriteFile(w.o.Path, rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(rt, "garbage"), 0o600)
			case op == 7:
				w.judge(rapid.IntRange(0, 9).Draw(rt, "findings"))
			default:
				w.put(name, lines("a", seq, rapid.IntRange(1, 4).Draw(rt, "calls"), rapid.Bool().Draw(rt, "two taps")), inPlace)
			}
			if rapid.Bool().Draw(rt, "later") {
				w.later(time.Duration(rapid.IntRange(1, 300).Draw(rt, "ms")) * time.Millisecond)
			}
			if rapid.Bool().Draw(rt, "read") {
				w.agrees(w.read(w.o))
			}
		}
		w.later(time.Minute)
		w.agrees(w.read(w.o))
		if x := w.read(w.o); x.Folded != 0 {
			w.Errorf("%d logs were folded again", x.Folded)
		}
	})
}

// failing lets helpers that want a testing.TB fail a rapid run.
type failing struct {
	testing.TB
	rt *rapid.T
}

func (f failing) Helper()                           {}
func (f failing) Error(args ...any)                 { f.rt.Error(args...) }
func (f failing) Errorf(format string, args ...any) { f.rt.Errorf(format, args...) }
func (f failing) Fatal(args ...any)                 { f.rt.Fatal(args...) }
func (f failing) Fatalf(format string, args ...any) { f.rt.Fatalf(format, args...) }

// judge judges every log, all sessions having as many findings.
func (w *world) judge(findings int) {
	w.Helper()
	var list []Judgement
	for _, l := range w.read(Options{Now: w.o.Now}).Logs {
		if l.Err != nil {
			continue
		}
		list = append(list, Judgement{l.Entry, l.Sessions, slices.Repeat([]int{findings}, len(l.Sessions))})
	}
	if err := Judge(w.dir, w.o, list); err != nil {
		w.Fatal(err)
	}
}

func TestFindings(t *testing.T) {
	w := newWorld(t)
	w.put("a.jsonl", lines("a", 1, 4, true), false)
	w.put("b.jsonl", lines("b", 1, 4, false), false)
	w.judge(3) // nothing is settled
	w.later(time.Minute)
	findings := func() string {
		t.Helper()
		var said []string
		x := w.read(w.o)
		slices.SortFunc(x.Logs, func(a, b Log) int { return strings.Compare(a.ID, b.ID) })
		for i := range x.Logs {
			said = append(said, fmt.Sprint(x.Logs[i].ID, x.Logs[i].Findings))
			for n, r := range x.Logs[i].Runs() {
				if r.ID != x.Logs[i].Sessions[n].ID || (r.Findings == nil) != (x.Logs[i].Findings == nil) {
					t.Errorf("run session %+v", r)
				}
			}
		}
		return strings.Join(said, " ")
	}
	if got, want := findings(), "a[] b[]"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	w.judge(3)
	if got, want := findings(), "a[3 3] b[3]"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	w.folds(0)

	// A log that changed was judged by nobody.
	w.put("b.jsonl", w.text("b.jsonl")+lines("b", 9, 1, false), true)
	w.later(time.Minute)
	if got, want := findings(), "a[3 3] b[]"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}

	// Who judged what is another log by now has judged nothing.
	x := w.read(w.o)
	w.put("a.jsonl", lines("a", 1, 5, true), false)
	w.later(time.Minute)
	for _, l := range x.Logs {
		if err := Judge(w.dir, w.o, []Judgement{{l.Entry, l.Sessions, make([]int, len(l.Sessions))}}); err != nil {
			t.Error(err)
		}
	}
	if got, want := findings(), "a[] b[0]"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}

	// Findings that came while somebody folded stay.
	w.judge(1)
	r := &reading{o: &w.o, dir: w.dir, file: w.o.load(w.dir), now: w.now}
	for _, held := range r.file.records {
		held.complete()
		held.findings, held.raw = nil, ""
		r.held = append(r.held, held)
	}
	w.judge(2)
	if err := r.file.replace(&w.o, r.held); err != nil {
		t.Error(err)
	}
	if got, want := findings(), "a[2 2] b[2]"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}

	// Elsewhere is none of ours.
	other := filepath.Join(t.TempDir(), "c.jsonl")
	os.WriteFile(other, []byte(lines("c", 1, 1, false)), 0o600)
	e, err := statedir.At(other)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(w.o.Path)
	w.now = time.Now().Add(time.Hour)
	if err := Judge(w.dir, w.o, []Judgement{{Log: e}}); err != nil {
		t.Error(err)
	}
	if after, _ := os.ReadFile(w.o.Path); string(after) != string(before) {
		t.Error("a log elsewhere got into the index")
	}
}

// A log could be written twice within one tick of the file system's clock: until that
// is over, what is known of it is not kept.
func TestUnsettled(t *testing.T) {
	w := newWorld(t)
	w.put("a.jsonl", lines("a", 1, 4, false), false)
	w.later(50 * time.Millisecond)
	w.folds(1)
	w.folds(1)
	w.later(time.Second)
	w.folds(1)
	w.folds(0)
}

// A live log says so, and no more when its recorder is gone, be it without a word.
func TestLive(t *testing.T) {
	w := newWorld(t)
	l, err := statedir.OpenTrace(w.path("a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write([]byte(lines("a", 1, 2, false))); err != nil {
		t.Fatal(err)
	}
	w.now = time.Now().Add(time.Hour)
	live := func(want bool, folded int) {
		t.Helper()
		if x := w.folds(folded); x.Logs[0].Live != want {
			t.Errorf("live %v, want %v", x.Logs[0].Live, want)
		}
	}
	live(true, 1)
	live(true, 0)
	if _, err := l.Write([]byte(lines("a", 3, 2, false))); err != nil {
		t.Fatal(err)
	}
	live(true, 1)
	l.Close()
	live(false, 0)
	for _, r := range w.o.load(w.dir).records {
		if !r.idle {
			t.Error("it is asked again and again whether a log is live that is not")
		}
	}
}

func TestConcurrentReaders(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.put(fmt.Sprintf("l-%d-%012d.jsonl", i, i), lines("l", 1, 5, false), false)
	}
	w.later(time.Minute)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i%2 == 0 {
				w.agrees(w.read(w.o))
				return
			}
			for range 3 {
				w.judge(i)
			}
		})
	}
	all.Wait()
	w.read(w.o)
	w.folds(0)
	names, err := os.ReadDir(filepath.Dir(w.o.Path))
	if err != nil || len(names) != 1 {
		t.Errorf("%v lie in the cache, %v", names, err)
	}
}

// TestPanicLeavesNobody: one log brings folding down; no worker stays behind that waits
// for its result to be taken.
func TestPanicLeavesNobody(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	w := newWorld(t)
	for i := range 20 {
		w.put(fmt.Sprintf("l-1-%012d.jsonl", i), lines("l", 1, 3, false), true)
	}
	w.o.Decoder = func(string) capture.LineDecoder { panic("no decoder") }
	func() {
		defer func() {
			if why := recover(); why == nil || !strings.Contains(fmt.Sprint(why), "no decoder") {
				t.Errorf("panicked with %v", why)
			}
		}()
		Read(w.dir, w.o)
	}()
	goleak.VerifyNone(t, ignore)
}
