//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package statedir

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// lock takes an advisory lock on the whole file, or returns at once.
func lock(f *os.File, mode lockMode) error {
	if mode == exclusive {
		return flock(f, unix.LOCK_EX|unix.LOCK_NB)
	}
	return flock(f, unix.LOCK_SH|unix.LOCK_NB)
}

// unlock gives the lock back at once, also where a child just being started still
// holds a copy of the descriptor.
func unlock(f *os.File) { _ = flock(f, unix.LOCK_UN) }

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var flockErr error
	if err := conn.Control(func(fd uintptr) { flockErr = unix.Flock(int(fd), how) }); err != nil {
		return err
	}
	if errors.Is(flockErr, unix.EWOULDBLOCK) {
		return errLocked
	}
	return flockErr
}

// needsWriteAccess reports whether a lock was refused because the file is open for
// reading only: network file systems build flock from locks that ask for more.
func needsWriteAccess(err error) bool { return errors.Is(err, unix.EBADF) }

// readable says why the file at path could not be opened for reading.
func readable(path string) error {
	if err := unix.Access(path, unix.R_OK); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// openPipe opens a FIFO for writing without waiting for its reader: without one the
// FIFO is opened both ways, so what is written waits in it for whoever comes.
func openPipe(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENXIO) {
		return os.OpenFile(path, os.O_RDWR, 0)
	}
	if err == nil && runtime.GOOS == "darwin" { // where the runtime does not poll FIFOs
		err = unix.SetNonblock(int(f.Fd()), false)
	}
	return f, err
}
