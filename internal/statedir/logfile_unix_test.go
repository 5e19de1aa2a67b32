//go:build unix

package statedir

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTraceIntoFIFO(t *testing.T) {
	path := fifo(t)
	l := openTrace(t, path) // nobody reads yet: it does not wait
	write(t, l, "a\n")
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	write(t, l, "b\n")
	in := bufio.NewReader(r)
	for _, want := range []string{"a\n", "b\n"} {
		if line, err := in.ReadString('\n'); line != want {
			t.Errorf("read %q (%v), want %q", line, err, want)
		}
	}
	if err := l.NextPart(); err != nil || l.Path() != path {
		t.Errorf("a FIFO went on in part %q (%v)", l.Path(), err)
	}
	os.Remove(path)
	if err := l.Sync(); err != nil || l.Gone() || l.Size() != 0 {
		t.Errorf("sync %v, gone %v, size %d", err, l.Gone(), l.Size())
	}
	wantClosed(t, l)
}

func TestTraceIntoFIFOWhoseReaderLeaves(t *testing.T) {
	path := fifo(t)
	r, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := openTrace(t, path)
	write(t, l, "a\n")
	r.Close()
	if _, err := l.Write([]byte("b\n")); err == nil {
		t.Error("a write that nobody can read does not fail")
	}
	wantClosed(t, l)
}

// Closing does not wait for a full FIFO.
func TestCloseWhileFIFOIsFull(t *testing.T) {
	l := openTrace(t, fifo(t))
	done := make(chan error)
	go func() {
		_, err := l.Write(make([]byte, 1<<20))
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	wantClosed(t, l)
	select {
	case err := <-done:
		if err == nil {
			t.Error("a cut write does not fail")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still writing")
	}
}

func TestTraceIntoDevNull(t *testing.T) {
	l := openTrace(t, os.DevNull)
	write(t, l, "a\n")
	if err := l.Sync(); err != nil || l.LockErr() != nil || l.Gone() {
		t.Errorf("sync %v, lock %v, gone %v", err, l.LockErr(), l.Gone())
	}
	wantClosed(t, l)
}

func wantClosed(t *testing.T, l *LogFile) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A line that the disk had no room for does not swallow the next one.
func TestShortWriteIsIsolated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	l := openTrace(t, path)
	write(t, l, "a\n")
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Skip(err)
	}
	limit := old
	limit.Cur = 6
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	n, err := l.Write([]byte("b\ncdefgh\n"))
	if e := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); e != nil {
		t.Fatal(e)
	}
	if n != 4 || err == nil {
		t.Fatalf("wrote %d bytes, %v", n, err)
	}
	write(t, l, "cdefgh\n")
	wantFile(t, path, "a\nb\ncd\ncdefgh\n")
}
