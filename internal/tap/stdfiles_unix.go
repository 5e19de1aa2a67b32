//go:build unix

package tap

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// unblock returns a file for f that waits in Go's poller instead of in the kernel:
// with large messages blocking reads and writes stall the scheduler, and only a
// file in the poller can be closed while somebody waits for it. Where f cannot be
// had so, it returns f. restore undoes it, and must be called before f is closed.
//
// The mode belongs to the open file description, which others may hold too. So it
// is changed for pipes and sockets only, and not if one of the others is the same.
func unblock(f *os.File, others ...*os.File) (file *os.File, restore func()) {
	none := func() {}
	fd, ok := number(f)
	if !ok || !pollable(fd) {
		return f, none
	}
	blocking := !nonblocking(fd)
	for _, o := range others {
		if other, ok := number(o); ok && same(fd, other) {
			return f, none
		}
	}
	// A number of our own, so that closing it leaves f alone.
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return f, none
	}
	if blocking {
		if err := unix.SetNonblock(fd, true); err != nil {
			unix.Close(dup)
			return f, none
		}
	}
	file = os.NewFile(uintptr(dup), f.Name())
	return file, sync.OnceFunc(func() {
		file.Close() // returns when nobody is reading or writing any more
		if blocking {
			unix.SetNonblock(fd, false)
		}
	})
}

// number returns the descriptor's number, and leaves its mode alone.
func number(f *os.File) (fd int, ok bool) {
	if f == nil {
		return 0, false
	}
	c, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = c.Control(func(n uintptr) { fd = int(n) })
	return fd, err == nil
}

// readable reports whether f has something to read, which may be its end.
func readable(f *os.File) bool {
	fd, ok := number(f)
	if !ok {
		return false
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

func nonblocking(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK != 0
}

// same reports whether two descriptors are one open file description: a change
// made through one is seen through the other.
func same(a, b int) bool {
	was := nonblocking(a)
	if nonblocking(b) != was || unix.SetNonblock(a, !was) != nil {
		return false
	}
	defer unix.SetNonblock(a, was)
	return nonblocking(b) != was
}
