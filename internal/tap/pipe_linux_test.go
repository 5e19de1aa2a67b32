package tap

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func pipeSize(t *testing.T, path string) int {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := unix.FcntlInt(f.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPipesGrow: a pipe to the server grows when a message was larger than it, and
// not before.
func TestPipesGrow(t *testing.T) {
	tp := run(t, []string{"sh", "-c", "echo $$; exec cat"}, nil)
	pid, err := strconv.Atoi(tp.out.line(t))
	if err != nil {
		t.Fatal(err)
	}
	in := fmt.Sprintf("/proc/%d/fd/0", pid)
	echo := func(line string) {
		t.Helper()
		go tp.in.WriteString(line + "\n")
		if got := tp.out.line(t); got != line {
			t.Fatalf("got %d bytes, want %d", len(got), len(line))
		}
	}
	usual := pipeSize(t, in)
	for range 20 {
		echo(strings.Repeat("x", 10_000))
	}
	if got := pipeSize(t, in); got != usual {
		t.Errorf("grown to %d without need", got)
	}
	echo(strings.Repeat("x", 500_000))
	if got := pipeSize(t, in); got != max(grownPipe, usual) {
		t.Errorf("size %d after a large message, want %d", got, grownPipe)
	}
	tp.in.Close()
	tp.wait(t)
}

// TestPipeQuota: no more than a sixteenth of what the user may have.
func TestPipeQuota(t *testing.T) {
	real := pipeQuota
	defer func() { pipeQuota = real }()
	pipeQuota = func() int64 { return 16 * grownPipe }
	var p pipes
	var sizes []int
	for range 3 {
		r, w := pipe(t)
		p.grow(w)
		p.grow(r) // the same pipe
		n, err := unix.FcntlInt(uintptr(fdOf(t, w)), unix.F_GETPIPE_SZ, 0)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	if sizes[0] != grownPipe || sizes[1] >= grownPipe || sizes[2] >= grownPipe {
		t.Errorf("sizes %v, want one grown", sizes)
	}
	pipeQuota = func() int64 { return 0 } // no bound
	_, w := pipe(t)
	p.grow(w)
	if n, _ := unix.FcntlInt(uintptr(fdOf(t, w)), unix.F_GETPIPE_SZ, 0); n != grownPipe {
		t.Errorf("size %d where there is no bound", n)
	}
}
