package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func zst(text string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(text), nil))
}

// lines returns a log of frames from to to.
func lines(from, to uint64) string {
	var b strings.Builder
	for ; from <= to; from++ {
		b.WriteString(line(from) + "\n")
	}
	return b.String()
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// base is read with the names of temporary folders taken out of errors.
func base(got []string) string {
	text := strings.Join(got, " ")
	for {
		i := strings.Index(text, `"`+string(filepath.Separator))
		if i < 0 {
			return text
		}
		j := i + 1 + strings.Index(text[i+1:], `"`)
		text = text[:i+1] + filepath.Base(text[i+1:j]) + text[j:]
	}
}

// opened opens the same log in every way.
func opened(t *testing.T, o Options, text string) map[string]*Log {
	t.Helper()
	logs := make(map[string]*Log)
	for name, text := range map[string]string{"plain": text, "gzip": gz(text), "zstd": zst(text), "two gzip members": gz(text[:len(text)/2]) + gz(text[len(text)/2:]),
		"skippable first": "\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + zst(text), "two zstd frames": zst(text[:len(text)/2]) + zst(text[len(text)/2:])} {
		l, err := OpenLog(o, file(t, "x.jsonl", text))
		if err != nil {
			t.Fatal(name, err)
		}
		logs[name] = l
		logs[name+" stream"] = OpenStream(o, "x.jsonl", iotest.HalfReader(strings.NewReader(text)))
	}
	for _, l := range logs {
		t.Cleanup(func() { l.Close() })
	}
	return logs
}

func TestLog(t *testing.T) {
	text := lines(1, 3) + "garbled\n" + lines(4, 400) + line(401)[:12]
	want := strings.Fields(strings.ReplaceAll(base(read(t, NewReader(strings.NewReader(text), ReaderOptions{}).Next)), "bad torn", "bad_torn"))
	if len(want) != 402 {
		t.Fatal(want)
	}
	for name, l := range opened(t, Options{Again: true, TempDir: t.TempDir()}, text) {
		var f Frame
		var refs []Ref
		for range 10 { // a part of a first pass
			if ref, err := l.Next(&f); err == nil {
				refs = append(refs, ref)
			}
		}
		for range 2 {
			if err := l.Rewind(); err != nil {
				t.Fatal(name, err)
			}
			got := strings.ReplaceAll(base(read(t, l.Next)), "bad torn", "bad_torn")
			if got != strings.Join(want, " ") {
				t.Errorf("%s: %s", name, got)
			}
			if _, err := l.Next(&f); err != io.EOF {
				t.Errorf("%s: after the end: %v", name, err)
			}
		}
		for _, ref := range refs {
			f, err := l.Fetch(ref)
			if err != nil || f.Seq != ref.Seq || string(f.Payload) != fmt.Sprint("line ", ref.Seq) {
				t.Errorf("%s: fetch %+v: %v %v", name, ref, f, err)
			}
		}
		wrong := refs[0]
		wrong.Seq++
		for _, ref := range []Ref{wrong, {}, {Seq: 1, Offset: 1 << 40, Len: 5}, {Seq: 1, Offset: -1, Len: 5}, {Seq: 1, Len: refs[0].Len - 1}, {Seq: 1, Len: -1}, {File: 1}, {File: -1}} {
			if _, err := l.Fetch(ref); !errors.Is(err, ErrGone) {
				t.Errorf("%s: fetch %+v: %v", name, ref, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(name, err)
		}
	}
}

func TestLogOnce(t *testing.T) {
	for name, l := range opened(t, Options{TempDir: filepath.Join(t.TempDir(), "missing")}, lines(1, 3)) { // no copy is made
		if got := base(read(t, l.Next)); got != "1:1 2:2 3:3" {
			t.Errorf("%s: %s", name, got)
		}
		_, err := l.Fetch(Ref{Seq: 1, Len: int32(len(line(1)))})
		again := l.Rewind()
		if once := name != "plain"; once != errors.Is(err, ErrOnePass) || once != errors.Is(again, ErrOnePass) {
			t.Errorf("%s: fetch: %v, rewind: %v", name, err, again)
		}
	}
	l := OpenStream(Options{Again: true, TempDir: filepath.Join(t.TempDir(), "missing")}, "-", strings.NewReader(lines(1, 1)))
	if _, err := l.Next(new(Frame)); err == nil || !strings.HasPrefix(err.Error(), `copy log "-": `) {
		t.Error(err)
	}
}

func TestLogCopyIsPrivateAndDeleted(t *testing.T) {
	dir := t.TempDir()
	l := OpenStream(Options{Again: true, TempDir: dir}, "-", strings.NewReader(lines(1, 1)))
	if got := base(read(t, l.Next)); got != "1:1" {
		t.Fatal(got)
	}
	info, err := l.parts[0].spool.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%v can be seen", left)
		}
	}
	l.Close()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestLogParts(t *testing.T) {
	paths := []string{file(t, "a.jsonl", lines(1, 2)), file(t, "b.jsonl", ""), file(t, "c.jsonl", gz("bad\n"+lines(3, 4))), file(t, "d.jsonl", line(5))}
	l, err := OpenLog(Options{Again: true}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2 {
		var f Frame
		var got []string
		for {
			ref, err := l.Next(&f)
			if err == io.EOF {
				break
			}
			var bad *LineError
			if errors.As(err, &bad) {
				got = append(got, fmt.Sprintf("%s:%d", filepath.Base(bad.File), bad.Line))
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if back, err := l.Fetch(ref); err != nil || back.Seq != f.Seq {
				t.Error(ref, err)
			}
			got = append(got, fmt.Sprintf("%d/%s:%d=%d", ref.File, filepath.Base(l.Name(ref.File)), ref.Line, ref.Seq))
		}
		if want := "0/a.jsonl:1=1 0/a.jsonl:2=2 c.jsonl:1 2/c.jsonl:2=3 2/c.jsonl:3=4 3/d.jsonl:1=5"; strings.Join(got, " ") != want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
		}
		if err := l.Rewind(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLogRefusals(t *testing.T) {
	many := strings.Repeat("some words\n", maxHeld+5)
	for _, c := range []struct {
		name, text string
		cause      error
		want       string
	}{
		{"empty", "", ErrEmpty, `read log "x": nothing in it`},
		{"blank", "\n\n \n", ErrEmpty, `read log "x": nothing in it`},
		{"empty gzip", gz(""), ErrEmpty, `read log "x": nothing in it`},
		{"text", "hello\nworld\n", ErrNoCapture, `read log "x": no capture: not one line can be read (line 1: not one JSON value in valid UTF-8: unexpected byte 'h' at 0)`},
		{"other JSON", "{}\n", ErrNoCapture, `read log "x": no capture: not one line can be read (line 1: member "session_id" is missing)`},
		{"binary", strings.Repeat("\x00\x01\xff", 100000), ErrNoCapture, `read log "x": no capture: not one line can be read (line 1: zero bytes, as a crash of the machine leaves them)`},
		{"no gzip", "\x1f\x8b", ErrNoCapture, `read log "x": no capture: not one line can be read (line 1: cut off: decompress: unexpected EOF)`},
		{"no zstd", zstdMagic + "xxxxxxxxxxxx", ErrNoCapture, ""},
		{"many lines", many, ErrNoCapture, ""},
	} {
		for range 2 {
			l, err := OpenLog(Options{}, file(t, "x", c.text))
			if err != nil {
				t.Fatal(c.name, err)
			}
			got := read(t, l.Next)
			if c.name == "many lines" {
				if len(got) != maxHeld+6 {
					t.Errorf("%s: %d errors", c.name, len(got))
				}
				got = got[len(got)-1:]
			}
			if text := base(got); text != c.want && c.want != "" || len(got) != 1 {
				t.Errorf("%s\ngot  %s\nwant %s", c.name, text, c.want)
			}
			if _, err := l.Next(new(Frame)); !errors.Is(err, c.cause) {
				t.Errorf("%s: %v", c.name, err)
			}
			l.Close()
		}
	}
	dir := t.TempDir()
	if _, err := OpenLog(Options{}, dir); !errors.Is(err, ErrDirectory) || err.Error() != fmt.Sprintf("read log %q: is a directory", dir) {
		t.Error(err)
	}
	missing := filepath.Join(dir, "missing")
	if _, err := OpenLog(Options{}, file(t, "x", line(1)), missing); !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), "missing") != 1 {
		t.Error(err)
	}
	if l, err := OpenLog(Options{}); err != nil {
		t.Error(err)
	} else if _, err := l.Next(new(Frame)); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
}

// TestLogHoldsErrorsBack: unreadable lines before the first frame are reported once it is there.
func TestLogHoldsErrorsBack(t *testing.T) {
	for n, want := range map[int]string{2: "1:!bad 2:!bad 3:1 4:2", maxHeld + 2: fmt.Sprintf("%d:!bad %d:1 %d:2", maxHeld+2, maxHeld+3, maxHeld+4)} {
		l := OpenStream(Options{}, "-", strings.NewReader(strings.Repeat("x\n", n)+lines(1, 2)))
		if got := read(t, l.Next); len(got) != n+2 || !strings.HasSuffix(strings.Join(got, " "), want) {
			t.Errorf("%d bad lines: %d results, want them to end in %s", n, len(got), want)
		}
	}
}

func TestDamagedCompression(t *testing.T) {
	text := lines(1, 3000)
	for name, whole := range map[string]string{"gzip": gz(text), "zstd": zst(text)} {
		for _, again := range []bool{false, true} {
			l := OpenStream(Options{Again: again}, "x", strings.NewReader(whole[:len(whole)-6]))
			for range 2 {
				got := read(t, l.Next)
				if all := strings.Join(got, " "); len(got) < 2 || !strings.HasSuffix(all, "!bad torn") || strings.Count(all, "!") != 1 {
					t.Errorf("%s: %d results, the last is %q", name, len(got), got[len(got)-1])
				}
				if !again {
					break
				}
				if err := l.Rewind(); err != nil {
					t.Error(name, err)
				}
			}
			l.Close()
		}
	}
}

func TestBomb(t *testing.T) {
	bomb := lines(1, 2) + strings.Repeat("\n", 10<<20)
	for name, text := range map[string]string{"gzip": gz(bomb), "zstd": zst(bomb)} {
		l := OpenStream(Options{Again: true, MaxBytes: 1 << 20}, "x", strings.NewReader(text))
		if got := base(read(t, l.Next)); got != `1:1 2:2 read log "x": larger than allowed once decompressed` {
			t.Errorf("%s: %s", name, got)
		}
		if _, err := l.Next(new(Frame)); !errors.Is(err, ErrTooLarge) {
			t.Error(name, err)
		}
		l.Close()
	}
	l := OpenStream(Options{MaxBytes: 10}, "x", strings.NewReader(lines(1, 2))) // nothing was compressed
	if got := base(read(t, l.Next)); got != "1:1 2:2" {
		t.Error(got)
	}
}

// TestGone changes the file under a log.
func TestGone(t *testing.T) {
	path := file(t, "x.jsonl", lines(1, 3))
	l, err := OpenLog(Options{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var f Frame
	ref, err := l.Next(&f)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []string{lines(2, 4), "", strings.Replace(line(1), `"seq":1`, `"seq":x`, 1) + "\n"} {
		if err := os.WriteFile(path, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Fetch(ref); !errors.Is(err, ErrGone) || !strings.HasPrefix(err.Error(), "fetch frame 1 of log ") {
			t.Errorf("with %.60q: %v", now, err)
		}
	}
}

// TestFetchWhileReading is for the race detector.
func TestFetchWhileReading(t *testing.T) {
	l := OpenStream(Options{Again: true}, "-", iotest.OneByteReader(strings.NewReader(lines(1, 200))))
	defer l.Close()
	refs := make(chan Ref, 200)
	done := make(chan error)
	go func() {
		var failed error
		for ref := range refs {
			if f, err := l.Fetch(ref); err != nil || f.Seq != ref.Seq {
				failed = fmt.Errorf("fetch %+v: %w", ref, err)
			}
		}
		done <- failed
	}()
	var f Frame
	for {
		ref, err := l.Next(&f)
		if err != nil {
			break
		}
		refs <- ref
	}
	close(refs)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
