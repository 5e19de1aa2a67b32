package statedir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// LogFile is a log being written, by one goroutine; only Close may be called while a
// Write of another hangs. While it is open a shared lock is held on it, see
// [LockState].
type LogFile struct {
	first string // path of the first part
	*logFilePart
}

// logFilePart is the part of a log that is being written.
type logFilePart struct {
	n       int // which it is
	path    string
	f       *os.File
	info    os.FileInfo // identity of f
	regular bool        // neither FIFO nor device
	made    bool        // by us
	written atomic.Bool // anything was, by us
	size    int64       // where the last write ended
	torn    bool        // the last write, as far as we know, ended inside a line
	lockErr error
}

// Create makes the log of a new tap, and the directories around it, for their owner
// only. An id that has a log already is refused.
func (d Dir) Create(id string) (*LogFile, error) {
	if _, _, ok := ParseID(id); !ok {
		return nil, fmt.Errorf("create log: %q is no id", id)
	}
	if err := d.make(); err != nil {
		return nil, err
	}
	path := d.logPath(id)
	p, err := createPart(path, 1)
	if err != nil {
		return nil, fmt.Errorf("create log %w", pathCause(err))
	}
	return &LogFile{path, p}, nil
}

// OpenTrace opens a file that a person named, to append to it. It may be a FIFO or
// a device; opening a FIFO does not wait for a reader. If what is there ends inside
// a line, as a killed tap leaves it, the first write begins with a line end.
func OpenTrace(path string) (*LogFile, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("open trace file %q: is a directory", path)
	}
	var f *os.File
	switch {
	case err != nil || info.Mode().IsRegular():
		f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	case info.Mode()&os.ModeNamedPipe != 0:
		f, err = openPipe(path)
	default:
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	if err != nil {
		if dir := filepath.Dir(path); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("open trace file %q: there is no directory %q: %w", path, dir, os.ErrNotExist)
		}
		return nil, fmt.Errorf("open trace file %w", pathCause(err))
	}
	p := &logFilePart{n: 1, path: path}
	if err := p.take(f); err != nil {
		return nil, fmt.Errorf("open trace file %w", pathCause(err))
	}
	return &LogFile{path, p}, nil
}

// createPart makes the file of a part, which must not exist.
func createPart(path string, n int) (*logFilePart, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	p := &logFilePart{n: n, path: path, made: true}
	return p, p.take(f)
}

// take makes f the file that is written, locked where there are locks.
func (p *logFilePart) take(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	p.f, p.info, p.regular = f, info, info.Mode().IsRegular()
	if p.regular {
		if err := lockToWrite(f); err != nil {
			p.lockErr = fmt.Errorf("lock log %q: %w", p.path, err)
		}
	}
	return nil
}

// Path returns the path of the part being written.
func (l *LogFile) Path() string { return l.path }

// LockErr says why no lock is held, so that nobody can tell whether the log is
// live; nil if one is.
func (l *LogFile) LockErr() error { return l.lockErr }

// Size returns the size of the part being written as of the last write, 0 for what
// is no regular file.
func (l *LogFile) Size() int64 {
	if !l.regular {
		return 0
	}
	return l.size
}

// Write appends whole lines by one write, and returns how much of p was written.
// After an error a line of which only a part was written must be written again
// whole, if at all: the next write begins on a line of its own.
func (l *LogFile) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := l.measure(); err != nil {
		return 0, fmt.Errorf("write log %w", pathCause(err))
	}
	lead := 0
	if l.torn {
		lead = 1
		p = append([]byte{'\n'}, p...)
	}
	n, err := l.f.Write(p)
	if n > 0 {
		l.written.Store(true)
		l.size += int64(n)
		l.torn = p[n-1] != '\n'
	}
	if err != nil {
		return max(0, n-lead), fmt.Errorf("write log %w", pathCause(err))
	}
	return n - lead, nil
}

// midWrite is how long a write of another process may look half done.
const midWrite = 2 * time.Millisecond

// measure looks whether another writer, or whoever cuts files, changed where the
// next write lands. A file that ends inside a line is believed to be torn only if
// it does so a moment later: file systems show a write of others while it goes on.
func (l *LogFile) measure() error {
	if !l.regular {
		return nil
	}
	for {
		info, err := l.f.Stat()
		if err != nil {
			return err
		}
		if info.Size() == l.size {
			return nil
		}
		l.size, l.torn = info.Size(), false
		if l.size == 0 {
			return nil
		}
		var last [1]byte
		if _, err := l.f.ReadAt(last[:], l.size-1); err != nil {
			if errors.Is(err, io.EOF) {
				continue // cut meanwhile
			}
			return err
		}
		if last[0] == '\n' {
			return nil
		}
		l.torn = true
		time.Sleep(midWrite)
	}
}

// Sync makes what was written to this part outlast the machine's power.
func (l *LogFile) Sync() error {
	if !l.regular {
		return nil
	}
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("sync log %w", pathCause(err))
	}
	return nil
}

// maxParts bounds the search for a free part number.
const maxParts = 100_000

// NextPart goes on writing in the next part of the log, the first whose file does
// not exist. The old part is given up only when the new one is locked, so the tap
// is never seen as ended. After an error the old part is still written. What is no
// regular file has no parts, and nothing happens.
func (l *LogFile) NextPart() error {
	if !l.regular {
		return nil
	}
	for n := l.n + 1; n < maxParts; n++ {
		next, err := createPart(partPath(l.first, n), n)
		switch {
		case errors.Is(err, os.ErrExist):
		case err != nil:
			return fmt.Errorf("create next part of log %w", pathCause(err))
		default:
			_ = l.close() // what was written there is there
			l.logFilePart = next
			return nil
		}
	}
	return fmt.Errorf("create next part of log %q: there are %d already", l.first, maxParts)
}

// Gone reports whether the file was deleted, moved or replaced since it was opened:
// what is written now nobody will find.
func (l *LogFile) Gone() bool { return l.gone() }

func (p *logFilePart) gone() bool {
	if !p.regular {
		return false
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	return !os.SameFile(p.info, info)
}

// Close ends writing and releases the lock. A log made by Create to which nothing
// was written is removed again.
func (l *LogFile) Close() error { return l.close() }

func (p *logFilePart) close() error {
	remove := p.made && !p.written.Load() && !p.gone()
	if p.regular {
		unlock(p.f)
	}
	if err := p.f.Close(); err != nil {
		return fmt.Errorf("close log %w", pathCause(err))
	}
	if remove {
		if err := os.Remove(p.path); err != nil {
			return fmt.Errorf("remove empty log %w", pathCause(err))
		}
	}
	return nil
}
