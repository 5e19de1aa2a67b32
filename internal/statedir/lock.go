package statedir

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// State says whether anybody writes a log.
type State uint8

// The states of a log. Unknown is that of a file on a file system without locks,
// or of what is no regular file.
const (
	Unknown State = iota
	Idle
	Live
)

func (s State) String() string {
	switch s {
	case Idle:
		return "idle"
	case Live:
		return "live"
	}
	return "unknown"
}

// errLocked says that somebody else's lock stands in the way of ours; any other
// error means that there are no locks here.
var errLocked = errors.New("locked by another process")

// Those who probe hold a lock for microseconds, unless the system stops them just
// then. So an attempt is made again after a pause, and again.
const (
	lockPause = 100 * time.Microsecond
	lockTries = 5000 // half a second or more
)

// Whoever probes and is kept from an exclusive lock, but not from a shared one, has
// met a writer, or somebody who probed and was just done: it counts when it happens
// this often.
const writersMet = 3

// LockState says whether anybody writes the log at path, one part of it. The error
// says why that cannot be known.
func LockState(path string) (State, error) { return lockState(path, writersMet) }

// stillLive is LockState for a log that was live a moment ago: meeting one writer is
// enough to believe it still is.
func stillLive(path string) (State, error) { return lockState(path, 1) }

func lockState(path string, meet int) (State, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Unknown, fmt.Errorf("probe lock of log %w", pathCause(err))
	}
	if !info.Mode().IsRegular() {
		return Unknown, fmt.Errorf("probe lock of log %q: not a regular file", path)
	}
	live, err := probe(path, os.O_RDONLY, meet)
	if needsWriteAccess(err) {
		live, err = probe(path, os.O_RDWR, meet)
	}
	switch {
	case err != nil:
		return Unknown, fmt.Errorf("probe lock of log %w", pathCause(err))
	case live:
		return Live, nil
	}
	return Idle, nil
}

// probe tries to take the lock alone, and gives it back at once.
func probe(path string, access, meet int) (live bool, err error) {
	f, err := os.OpenFile(path, access, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	for range lockTries {
		err := lock(f, exclusive)
		if err == nil {
			unlock(f)
			return false, nil
		}
		if errors.Is(err, errLocked) {
			err = lock(f, shared)
		}
		switch {
		case err == nil:
			unlock(f)
			if meet--; meet <= 0 {
				return true, nil
			}
		case !errors.Is(err, errLocked):
			return false, &os.PathError{Op: "lock", Path: path, Err: err}
		}
		time.Sleep(lockPause)
	}
	return true, nil
}

// lockToWrite takes a writer's share of the lock.
func lockToWrite(f *os.File) error {
	err := lock(f, shared)
	for range lockTries {
		if !errors.Is(err, errLocked) {
			break
		}
		time.Sleep(lockPause)
		err = lock(f, shared)
	}
	return err
}

// lockMode is how a lock is held: writers share one, who probes wants it alone.
type lockMode bool

const (
	shared    lockMode = false
	exclusive lockMode = true
)
