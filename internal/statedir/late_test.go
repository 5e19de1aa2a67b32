package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestLateWrite: what comes after Close is refused, and disturbs neither the log nor
// who writes it now.
func TestLateWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	l := openTrace(t, path)
	write(t, l, "a\n")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	next := openTrace(t, path)
	write(t, next, "b\n")
	if n, err := l.Write([]byte("late\n")); n != 0 || !errors.Is(err, os.ErrClosed) {
		t.Errorf("a late write: %d, %v", n, err)
	}
	if err := l.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a late sync: %v", err)
	}
	l.Gone()
	if err := l.Close(); err == nil {
		t.Error("closed twice")
	}
	wantState(t, path, Live)
	write(t, next, "c\n")
	wantFile(t, path, "a\nb\nc\n")
}
