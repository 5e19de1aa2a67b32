//go:build unix

package term

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

func TestTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 30, Rows: 10}); err != nil {
		t.Fatal(err)
	}
	if !IsTerminal(tty) {
		t.Error("a terminal is none")
	}
	if columns, rows, ok := Size(tty); columns != 30 || rows != 10 || !ok {
		t.Errorf("size %d×%d, %v", columns, rows, ok)
	}
	if got := PaletteFor(tty, Auto, environment("TERM=xterm")); got.Depth != SixteenColors {
		t.Errorf("palette %v", got)
	}
	if NewProgress(tty, environment("TERM=dumb")) != nil {
		t.Error("progress on a dumb terminal")
	}
	p := NewProgress(tty, environment("TERM=xterm"))
	if p == nil {
		t.Fatal("no progress on a terminal")
	}
	p.next = time.Time{}
	p.Show(func() string { return strings.Repeat("x", 100) })
	p.Clear()
	b := make([]byte, 200)
	n, err := master.Read(b)
	if want := "\r" + strings.Repeat("x", 28) + "…\x1b[K\r\x1b[K"; err != nil || string(b[:n]) != want {
		t.Errorf("the terminal got %q, %v", b[:n], err)
	}
}

// Asking whether a file is a terminal must leave it as it was: os.File.Fd would
// make a pipe blocking, and then a deadline could not end a read any more.
func TestAskingLeavesFilesAsync(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	IsTerminal(r)
	Size(r)
	if err := r.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatalf("deadline refused: %v", err)
	}
	done := make(chan error, 1)
	go func() { _, err := r.Read(make([]byte, 1)); done <- err }()
	select {
	case err := <-done:
		if !os.IsTimeout(err) {
			t.Errorf("read ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read hangs: the file is blocking now")
	}
}
