//go:build unix && !linux

package tap

import "golang.org/x/sys/unix"

// pollable reports whether fd is a pipe or a socket. A FIFO, which has a name, is
// neither here: darwin's poller misses that its last writer is gone.
func pollable(fd int) bool {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return false
	}
	kind := st.Mode & unix.S_IFMT
	return kind == unix.S_IFIFO && st.Nlink == 0 || kind == unix.S_IFSOCK
}
