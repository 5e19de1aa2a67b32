package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const testID = "files-4711-a129abed2903"

func create(t *testing.T, d Dir, id string) *LogFile {
	t.Helper()
	l, err := d.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.f.Close() })
	return l
}

func openTrace(t *testing.T, path string) *LogFile {
	t.Helper()
	l, err := OpenTrace(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.f.Close() })
	return l
}

func write(t *testing.T, l *LogFile, text string) {
	t.Helper()
	if n, err := l.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(text), err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", filepath.Base(path), got, err, want)
	}
}

func wantState(t *testing.T, path string, want State) {
	t.Helper()
	if got, err := LockState(path); got != want || (err != nil) != (want == Unknown) {
		t.Errorf("%s is %v (%v), want %v", filepath.Base(path), got, err, want)
	}
}

func TestCreateKeepsOthersOut(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "deep", "state"))
	l := create(t, d, testID)
	write(t, l, "a\n")
	if want := filepath.Join(d.Sessions(), testID+".jsonl"); l.Path() != want {
		t.Errorf("path %q, want %q", l.Path(), want)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{
			l.Path(): 0o600, d.Sessions(): 0o700, string(d): 0o700, filepath.Dir(string(d)): 0o700,
		} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v (%v), want %v", path, info.Mode(), err, want)
			}
		}
	}
	if _, err := d.Create(testID); !errors.Is(err, os.ErrExist) {
		t.Errorf("an id used twice gives %v", err)
	}
	if _, err := d.Create("../x-1-a129abed2903"); err == nil {
		t.Error("an id that leaves the directory is taken")
	}
}

func TestEmptyLogIsRemovedOnClose(t *testing.T) {
	d := Dir(t.TempDir())
	l := create(t, d, testID)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty log is still there: %v", err)
	}
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	l = openTrace(t, trace)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, trace, "") // somebody asked for that file
}

func TestTraceIsAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	for range 2 {
		l := openTrace(t, path)
		write(t, l, "a\n")
		write(t, l, "b\n")
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, path, "a\nb\na\nb\n")
}

func TestTornTailIsIsolated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	put(t, path, "a\n{\"to")
	l := openTrace(t, path)
	write(t, l, "b\n")
	write(t, l, "c\n")
	wantFile(t, path, "a\n{\"to\nb\nc\n")
	if l.Size() != 11 {
		t.Errorf("size %d, want 11", l.Size())
	}
}

func TestKilledWritersTailIsIsolated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	l := openTrace(t, path)
	write(t, l, "a\n")
	o := start(t, "write", path)
	o.write("b\n{\"to")
	o.kill()
	write(t, l, "c\n") // we were there all the time
	wantFile(t, path, "a\nb\n{\"to\nc\n")
}

func TestManyWritersOfOneTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	var others []*other
	want := map[string]bool{}
	for range 3 {
		o := start(t, "flood", path)
		others = append(others, o)
		for i := range floodLines {
			want[floodLine(o.cmd.Process.Pid, i)] = true
		}
	}
	for _, o := range others {
		o.in.Close()
	}
	for _, o := range others {
		o.end()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !want[line] {
			t.Fatalf("line %q was written by nobody, or twice", line)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("%d lines are missing", len(want))
	}
}

func TestNextPart(t *testing.T) {
	d := Dir(t.TempDir())
	l := create(t, d, testID)
	first := l.Path()
	write(t, l, "a\n")
	put(t, partPath(first, 2), "somebody else's\n")
	if err := l.NextPart(); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(d.Sessions(), testID+".part3.jsonl"); l.Path() != want {
		t.Errorf("next part is %q, want %q", l.Path(), want)
	}
	write(t, l, "b\n")
	if l.Size() != 2 {
		t.Errorf("size %d, want that of this part", l.Size())
	}
	wantState(t, first, Idle)
	wantState(t, l.Path(), Live)
	if err := l.NextPart(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, first, "a\n")
	wantFile(t, partPath(first, 3), "b\n")
	if _, err := os.Stat(partPath(first, 4)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a last part without a line is left: %v", err)
	}
}

func TestNextPartFailsAndOldPartGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	path := filepath.Join(dir, "t.jsonl")
	put(t, path, "")
	l := openTrace(t, path)
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be moved")
	}
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := l.NextPart(); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("next part in no directory: %v", err)
	}
	write(t, l, "a\n")
	wantFile(t, filepath.Join(dir+".moved", "t.jsonl"), "a\n")
}

func TestPartNames(t *testing.T) {
	for _, c := range []struct {
		first string
		n     int
		path  string
	}{
		{"a.jsonl", 2, "a.part2.jsonl"},
		{"x.y/a", 12, "x.y/a.part12"},
		{"a.b.log", 3, "a.b.part3.log"},
		{".trace", 2, ".trace.part2"},
		{"d/.trace", 2, "d/.trace.part2"},
		{"a.part2.jsonl", 2, "a.part2.part2.jsonl"},
	} {
		if got := partPath(c.first, c.n); got != c.path {
			t.Errorf("part %d of %q is %q, want %q", c.n, c.first, got, c.path)
		}
		if first, n := splitPart(c.path); first != c.first || n != c.n {
			t.Errorf("%q is part %d of %q, want %d of %q", c.path, n, first, c.n, c.first)
		}
	}
	for _, whole := range []string{"a.jsonl", "a", "a.part1.jsonl", "a.part02.jsonl", "a.partx.jsonl", "a.part", "a.part-2.jsonl", "a.part99999999999.jsonl"} {
		if first, n := splitPart(whole); first != whole || n != 1 {
			t.Errorf("%q is part %d of %q", whole, n, first)
		}
	}
}

func TestGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be deleted")
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	l := openTrace(t, path)
	if l.Gone() {
		t.Error("gone at once")
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if !l.Gone() {
		t.Error("moved away and not gone")
	}
	put(t, path, "")
	if !l.Gone() {
		t.Error("replaced and not gone")
	}
}

func TestOpenTraceSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "no", "t.jsonl"): "there is no directory",
		dir:                                 "is a directory",
	} {
		if _, err := OpenTrace(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

func TestLockTellsLiveFromIdle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	wantState(t, path, Unknown)
	put(t, path, "")
	wantState(t, path, Idle)
	a, b := start(t, "write", path), start(t, "write", path)
	wantState(t, path, Live)
	own := openTrace(t, path) // a third, in this process
	if own.LockErr() != nil {
		t.Error(own.LockErr())
	}
	a.end()
	b.kill()
	wantState(t, path, Live)
	own.Close()
	wantState(t, path, Idle)
	wantState(t, t.TempDir(), Unknown)
}

// Somebody else's probe is taken for no writer, and keeps no writer from its lock.
func TestProbesAreNoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	put(t, path, "a\n")
	o := start(t, "probe", path)
	time.AfterFunc(10*time.Millisecond, func() { o.in.Close() })
	wantState(t, path, Idle)
	o.end()

	o = start(t, "probe", path)
	time.AfterFunc(10*time.Millisecond, func() { o.in.Close() })
	if l := openTrace(t, path); l.LockErr() != nil {
		t.Error(l.LockErr())
	}
	wantState(t, path, Live)
	o.end()
}
