package statedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// putLog puts a file beside the logs, last written so many minutes after day.
func putLog(t *testing.T, d Dir, name, text string, minutes int) {
	t.Helper()
	path := filepath.Join(d.Sessions(), name)
	put(t, path, text)
	at := day.Add(time.Duration(minutes) * time.Minute)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, d Dir) Listing {
	t.Helper()
	l, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func ids(logs []Entry) []string {
	var ids []string
	for _, e := range logs {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestListOfNothing(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "none"))
	if l := list(t, d); len(l.Logs)+len(l.Problems) > 0 {
		t.Errorf("listed %v", l)
	}
	if _, err := os.Stat(string(d)); !errors.Is(err, os.ErrNotExist) {
		t.Error("listing made the directory")
	}
	put(t, d.Sessions(), "a file in its place")
	if _, err := d.List(); err == nil {
		t.Error("a file where the directory should be is no error")
	}
}

func TestListGroupsPartsNewestFirst(t *testing.T) {
	d := Dir(t.TempDir())
	const old, parted = "a-1-000000000001", "b-2-000000000002"
	putLog(t, d, old+".jsonl", "1234\n", 5)
	putLog(t, d, parted+".jsonl", "1\n", 1)
	putLog(t, d, parted+".part2.jsonl", "12\n", 2)
	putLog(t, d, parted+".part10.jsonl", "123\n", 9)
	putLog(t, d, "c-3-000000000003.jsonl", "", 99)
	putLog(t, d, "copied.jsonl", "1\n", 3)
	putLog(t, d, "packed.jsonl.gz", "1\n", 2)
	putLog(t, d, old+".jsonl.zst", "1\n", 98)
	putLog(t, d, "notes.txt", "1\n", 97)
	putLog(t, d, ".jsonl", "1\n", 96)
	if err := os.Mkdir(filepath.Join(d.Sessions(), "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}

	l := list(t, d)
	if len(l.Problems) > 0 {
		t.Error(l.Problems)
	}
	if got, want := ids(l.Logs), []string{parted, old, "copied", "packed"}; !slices.Equal(got, want) {
		t.Fatalf("listed %q, want %q", got, want)
	}
	e := l.Logs[0]
	var names []string
	for _, path := range e.Paths {
		names = append(names, strings.TrimPrefix(filepath.Base(path), parted))
	}
	if want := []string{".jsonl", ".part2.jsonl", ".part10.jsonl"}; !slices.Equal(names, want) {
		t.Errorf("parts %q, want %q", names, want)
	}
	if e.Label != "b" || e.PID != 2 || e.Size != 9 || !e.ModTime.Equal(day.Add(9*time.Minute)) {
		t.Errorf("entry %+v", e)
	}
	if e := l.Logs[2]; e.Label != "" || e.PID != 0 {
		t.Errorf("entry of a foreign name %+v", e)
	}
}

func TestHostileNamesDoNotBreakListing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse such names")
	}
	d := Dir(t.TempDir())
	names := []string{"..", "...", "a\x1b[31m", "a\nb", "\xff\xfe", "-x", "%s%n", strings.Repeat("é", 120), " "}
	for _, name := range names {
		putLog(t, d, name+".jsonl", "1\n", 0)
	}
	l := list(t, d)
	slices.Sort(names)
	if got := ids(l.Logs); !slices.Equal(got, names) || len(l.Problems) > 0 {
		t.Errorf("listed %q, %v", got, l.Problems)
	}
	for _, name := range names {
		if e, _, err := d.Resolve(name); err != nil || e.ID != name {
			t.Errorf("%q resolves to %q, %v", name, e.ID, err)
		}
	}
	_, _, err := d.Resolve("a\x1b[31n")
	if err == nil || strings.ContainsAny(err.Error()+err.(*NotFoundError).Hint(), "\x1b\n") {
		t.Errorf("an error with control characters: %q", err)
	}
}

func TestUnreadableLogsAreReported(t *testing.T) {
	d := Dir(t.TempDir())
	putLog(t, d, "good.jsonl", "1\n", 0)
	if err := os.Symlink("nowhere", filepath.Join(d.Sessions(), "dangling.jsonl")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(d.Sessions(), filepath.Join(d.Sessions(), "loop.jsonl")); err != nil {
		t.Skip(err)
	}
	want := 2
	if runtime.GOOS != "windows" && os.Geteuid() != 0 {
		putLog(t, d, "secret.jsonl", "1\n", 0)
		if err := os.Chmod(filepath.Join(d.Sessions(), "secret.jsonl"), 0); err != nil {
			t.Fatal(err)
		}
		want++
	}
	l := list(t, d)
	if got := ids(l.Logs); !slices.Equal(got, []string{"good"}) || len(l.Problems) != want {
		t.Errorf("listed %q, problems %q", got, l.Problems)
	}
}

func TestEntryState(t *testing.T) {
	d := Dir(t.TempDir())
	l := create(t, d, testID)
	write(t, l, "a\n")
	e := list(t, d).Logs[0]
	if s, err := e.State(); s != Live || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if err := l.NextPart(); err != nil {
		t.Fatal(err)
	}
	write(t, l, "b\n")
	e = list(t, d).Logs[0]
	if s, err := e.State(); s != Live || err != nil || len(e.Paths) != 2 {
		t.Errorf("%v, %v with %d parts", s, err, len(e.Paths))
	}
	l.Close()
	if s, err := e.State(); s != Idle || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	os.Remove(e.Paths[0])
	if s, err := e.State(); s != Idle || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	os.Remove(e.Paths[1])
	if s, err := e.State(); s != Unknown || err == nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestResolve(t *testing.T) {
	d := Dir(t.TempDir())
	const f1, f2, fx, w = "files-11-0000000000aa", "files-22-0000000000bb", "filesx-3-0000000000cc", "weather-44-0000000000dd"
	putLog(t, d, f1+".jsonl", "1\n", 1)
	putLog(t, d, f2+".jsonl", "1\n", 5)
	putLog(t, d, fx+".jsonl", "1\n", 3)
	putLog(t, d, w+".jsonl", "1\n", 2)
	putLog(t, d, w+".part2.jsonl", "1\n", 2)
	putLog(t, d, "empty-5-0000000000ee.jsonl", "", 9)
	cwd := t.TempDir()
	t.Chdir(cwd)
	put(t, filepath.Join(cwd, "here"), "1\n")
	put(t, filepath.Join(cwd, "cap.jsonl"), "1\n")
	put(t, filepath.Join(cwd, "cap.part2.jsonl"), "1\n")
	if err := os.Mkdir(filepath.Join(cwd, "weather"), 0o700); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		arg, id string
		parts   int
		note    string
	}{
		{"", f2, 1, ""},
		{f1, f1, 1, ""},
		{"files-1", f1, 1, ""},
		{"filesx", fx, 1, ""},
		{"w", w, 2, ""},
		{"weather", w, 2, ""}, // though a directory has that name
		{"files", f2, 1, fmt.Sprintf(`"files" names 2 sessions, taking the newest: %q`, f2)},
		{"here", "here", 1, ""},
		{"cap.jsonl", "cap", 2, ""},
		{"./cap.part2.jsonl", "cap.part2", 1, ""},
		{filepath.Join(d.Sessions(), w+".jsonl"), w, 2, ""},
	} {
		e, note, err := d.Resolve(c.arg)
		if err != nil || e.ID != c.id || len(e.Paths) != c.parts || note != c.note {
			t.Errorf("%q is %q in %d parts, note %q, %v; want %q in %d, note %q", c.arg, e.ID, len(e.Paths), note, err, c.id, c.parts, c.note)
		}
	}
}

func TestResolveSaysWhatIsWrong(t *testing.T) {
	d := Dir(t.TempDir())
	_, _, err := d.Resolve("")
	var missing *NotFoundError
	if !errors.As(err, &missing) || missing.File || !strings.Contains(err.Error(), "no session in") {
		t.Errorf("nothing there: %v", err)
	}
	const f1, f2, w = "files-11-0000000000aa", "files-22-0000000000bb", "weather-44-0000000000dd"
	for i, id := range []string{f1, f2, w} {
		putLog(t, d, id+".jsonl", "1\n", i)
	}
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		arg  string
		file bool
		near []string
	}{
		{"fils", false, []string{"files"}},
		{"WEATHER", false, []string{"weather"}},
		{"file-11-0000000000aa", false, []string{f1, f2}},
		{"weather-44-0000000000de", false, []string{w}},
		{"0000000000bb", false, []string{f2}},
		{"ather", false, []string{"weather"}},
		{"zzz", false, nil},
		{strings.Repeat("z", 5000), false, nil},
		{"fils.jsonl", true, nil},
		{"fils.zst", true, nil},
		{w + ".jsonl", true, []string{w}},
		{"./files", true, nil},
	} {
		_, _, err := d.Resolve(c.arg)
		var missing *NotFoundError
		if !errors.As(err, &missing) {
			t.Errorf("%q: %v", c.arg, err)
			continue
		}
		if missing.File != c.file || missing.Arg != c.arg || missing.Dir != d.Sessions() || !slices.Equal(missing.Near, c.near) {
			t.Errorf("%q: %+v", c.arg, missing)
		}
		if (missing.Hint() == "") != (c.near == nil) {
			t.Errorf("%q: hint %q", c.arg, missing.Hint())
		}
		if !c.file && !strings.Contains(err.Error(), d.Sessions()) {
			t.Errorf("%q: %v does not say where it looked", c.arg, err)
		}
	}
	_, _, err = d.Resolve("file")
	var several *AmbiguousError
	if !errors.As(err, &several) || !slices.Equal(several.Candidates, []string{f2, f1}) || !strings.Contains(err.Error(), f1) {
		t.Errorf("ambiguous: %v", err)
	}
	if _, _, err := d.Resolve("./"); err == nil || errors.As(err, &missing) {
		t.Errorf("a directory as path: %v", err)
	}
}

func BenchmarkList5000(b *testing.B) {
	d := Dir(b.TempDir())
	if err := d.make(); err != nil {
		b.Fatal(err)
	}
	for i := range 5000 {
		if err := os.WriteFile(d.logPath(NewID("bench", i)), []byte("1\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if l, err := d.List(); err != nil || len(l.Logs) != 5000 {
			b.Fatal(len(l.Logs), err)
		}
	}
}
