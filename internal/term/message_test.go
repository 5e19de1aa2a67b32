package term

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMessages(t *testing.T) {
	var b bytes.Buffer
	Error(&b, "read log \"x\": permission denied", "")
	Error(&b, "two\nlines \x1b[31m", "use\t--home")
	Note(&b, "reading \u202e")
	want := "mcpsnoop: error: read log \"x\": permission denied\n" +
		"mcpsnoop: error: two\\nlines \\u{1b}[31m\nmcpsnoop: hint: use\\t--home\n" +
		"mcpsnoop: reading \\u{202e}\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// writes counts the calls of Write.
type writes struct {
	bytes.Buffer
	count int
}

func (w *writes) Write(b []byte) (int, error) { w.count++; return w.Buffer.Write(b) }

func TestErrorIsOneWrite(t *testing.T) {
	var w writes
	Error(&w, "this", "that")
	if w.count != 1 {
		t.Errorf("%d writes: lines of other processes may come between", w.count)
	}
}

func TestProgress(t *testing.T) {
	var w writes
	now := time.Unix(0, 0)
	asked := 0
	p := newProgress(&w, func() time.Time { return now }, func() int { return 12 })
	text := func() string { asked++; return "reading\n 5 of 1000" }
	show := func(after time.Duration) string {
		w.Reset()
		now = now.Add(after)
		p.Show(text)
		return w.String()
	}
	if got := show(0) + show(showAfter-1); got != "" || asked != 0 {
		t.Errorf("work that is quick shows %q", got)
	}
	p.Clear()
	if w.Len() != 0 {
		t.Errorf("what was not shown is cleared: %q", w.String())
	}
	if got, want := show(1), "\rreading\\n …\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := show(showEvery - 1); got != "" || asked != 1 {
		t.Errorf("too soon: %q", got)
	}
	if got := show(1); got == "" {
		t.Error("nothing when due")
	}
	w.Reset()
	p.Clear()
	p.Clear()
	if got := w.String(); got != "\r\x1b[K" {
		t.Errorf("cleared by %q", got)
	}
	if got := show(showEvery); !strings.Contains(got, "reading") {
		t.Errorf("after Clear: %q", got)
	}
	w.Reset()
	p.Set("done\x1b")
	if got, want := w.String(), "\rdone\\u{1b}\x1b[K"; got != want {
		t.Errorf("set to %q, want %q", got, want)
	}
}

func TestNoProgressOffTerminals(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := NewProgress(w, environment("TERM=xterm"))
	p.Show(func() string { t.Error("asked for a text"); return "" })
	p.Set("text")
	p.Clear()
	w.Close()
	var b [1]byte
	if n, _ := r.Read(b[:]); n != 0 || p != nil {
		t.Error("progress went into a pipe")
	}
}

func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []any{nil, &bytes.Buffer{}, r, w} {
		if IsTerminal(x) {
			t.Errorf("%T is a terminal", x)
		}
		if columns, rows, ok := Size(x); columns != 0 || rows != 0 || ok {
			t.Errorf("%T has a size", x)
		}
	}
	r.Close()
	w.Close()
	if IsTerminal(w) || IsTerminal((*os.File)(nil)) {
		t.Error("a closed file is a terminal")
	}
}
