//go:build unix

package tap

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func socketPair(t *testing.T) (a, b *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	a, b = os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
	t.Cleanup(func() {
		a.Close()
		b.Close()
	})
	return a, b
}

// blockingPipe makes a pipe in the mode that a process inherits one in.
func blockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	return r, w
}

func fdOf(t *testing.T, f *os.File) int {
	t.Helper()
	fd, ok := number(f)
	if !ok {
		t.Fatal("no descriptor")
	}
	return fd
}

func TestUnblock(t *testing.T) {
	r, w := blockingPipe(t)
	r2, w2 := blockingPipe(t)
	s, _ := socketPair(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	twin := os.NewFile(uintptr(dup(t, w2)), "twin")
	defer twin.Close()
	tests := []struct {
		name    string
		f       *os.File
		others  []*os.File
		changes bool
	}{
		{"read end", r, []*os.File{w2, file}, true},
		{"write end", w, []*os.File{r, file}, true},
		{"the other end of a pipe is another description", r2, []*os.File{w2}, true},
		{"socket", s, nil, true},
		{"regular file", file, nil, false},
		{"shared with stderr", w2, []*os.File{r, twin}, false},
		{"other is missing", r, []*os.File{nil}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fd := fdOf(t, test.f)
			got, restore := unblock(test.f, test.others...)
			if changed := got != test.f; changed != test.changes || nonblocking(fd) != test.changes {
				t.Errorf("replaced %v, non-blocking %v; want %v", changed, nonblocking(fd), test.changes)
			}
			restore()
			if nonblocking(fd) {
				t.Error("still non-blocking")
			}
			restore() // does nothing
			for _, o := range test.others {
				if o != nil && nonblocking(fdOf(t, o)) {
					t.Error("another file is non-blocking")
				}
			}
		})
	}
}

func dup(t *testing.T, f *os.File) int {
	t.Helper()
	fd, err := unix.FcntlInt(uintptr(fdOf(t, f)), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// TestUnblockKeepsMode: a description that was non-blocking stays so.
func TestUnblockKeepsMode(t *testing.T) {
	r, _ := pipe(t) // os.Pipe's are
	_, restore := unblock(r)
	restore()
	if !nonblocking(fdOf(t, r)) {
		t.Error("no more non-blocking")
	}
}

// TestUnblockedCanBeClosed: restoring ends a read that waits.
func TestUnblockedCanBeClosed(t *testing.T) {
	r, w := blockingPipe(t)
	f, restore := unblock(r)
	ended := make(chan error)
	go func() {
		_, err := f.Read(make([]byte, 1))
		ended <- err
	}()
	time.Sleep(20 * time.Millisecond)
	restore()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("read something")
		}
	case <-time.After(hang):
		t.Fatal("the read goes on")
	}
	io.WriteString(w, "x")
	if n, err := r.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("the file itself is of no use any more: %d, %v", n, err)
	}
}

// TestModeRestored: after the shim has ended, what it inherited is as it was, and a
// stdout that stderr shares was never changed.
func TestModeRestored(t *testing.T) {
	inR, inW := blockingPipe(t)
	outR, outW := blockingPipe(t)
	cmd := shimCommand(t, nil, "sh", "-c", "echo up; cat; echo err >&2")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, outW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	buf := make([]byte, 3)
	if _, err := io.ReadFull(outR, buf); err != nil {
		t.Fatal(err)
	}
	eventually(t, "stdin is non-blocking", func() bool { return nonblocking(fdOf(t, inR)) })
	if nonblocking(fdOf(t, outW)) {
		t.Error("a stdout that is stderr too was made non-blocking")
	}
	inW.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if nonblocking(fdOf(t, inR)) || nonblocking(fdOf(t, outW)) {
		t.Error("what the shim inherited is still non-blocking")
	}
}

// TestRegularFiles: stdin and stdout may be anything.
func TestRegularFiles(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte("one\ntwo"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `"$0" cat <"$1" >"$2"`, os.Args[0], in, out)
	cmd.Env = append(os.Environ(), helperEnv+"=shim")
	if b, err := cmd.CombinedOutput(); err != nil || len(b) > 0 {
		t.Errorf("%v, %q", err, b)
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "one\ntwo" {
		t.Errorf("%q, %v", b, err)
	}
}
