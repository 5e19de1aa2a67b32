package statedir

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is where the locked byte lies: Windows keeps others from reading what
// is locked, so it is far beyond any data.
const lockOffset = 1 << 62

// lock takes a lock on one byte far beyond the data, or returns at once.
func lock(f *os.File, mode lockMode) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if mode == exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

// unlock gives the lock back at once; closing the file would do so some time.
func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

func lockedByte() *windows.Overlapped {
	return &windows.Overlapped{Offset: lockOffset & 0xffffffff, OffsetHigh: lockOffset >> 32}
}

func needsWriteAccess(error) bool { return false }

// readable would have to open the file to know; whoever reads it will be told.
func readable(string) error { return nil }

func openPipe(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
