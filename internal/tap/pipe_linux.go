package tap

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// pipes are the pipes that a tap has grown.
type pipes struct{ grown atomic.Int64 }

// grow makes a pipe larger, unless all that the tap has grown would then take more
// than a sixteenth of what the kernel lets a user have in pipes: others need them too.
func (p *pipes) grow(f *os.File) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	c.Control(func(fd uintptr) {
		now, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
		if err != nil || now >= grownPipe {
			return
		}
		if quota := pipeQuota(); p.grown.Add(grownPipe) > quota/16 && quota > 0 {
			p.grown.Add(-grownPipe)
			return
		}
		if _, err := unix.FcntlInt(fd, unix.F_SETPIPE_SZ, grownPipe); err != nil {
			p.grown.Add(-grownPipe)
		}
	})
}

// pipeQuota returns how many bytes in pipes a user may have, 0 if there is no
// bound. Where it cannot be read it is taken to be the kernel's usual one.
var pipeQuota = func() int64 {
	b, err := os.ReadFile("/proc/sys/fs/pipe-user-pages-soft")
	pages, perr := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil || perr != nil {
		pages = 16384
	}
	return pages * int64(os.Getpagesize())
}
