// Package tap forwards bytes untouched and copies them aside.
//
// Forwarding never waits for recording. A pump reads a chunk into a pooled block,
// takes a place for it in one queue under one short lock, and writes the chunk on;
// the block is handed over, not copied. What has a place in the queue is numbered:
// of two messages the one whose last byte was read first comes first, and an
// answer cannot come before its request. One writer goroutine follows the queue,
// splits chunks into lines, counts out the numbers, encodes and appends to the
// log. The queue is bounded; beyond that the newest frames are dropped, counted,
// and a gap is written where they would have been.
package tap

import (
	"cmp"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/proc"
)

// The exit codes of a server that cannot be started.
const (
	ExitCannotRun = proc.ExitCannotRun
	ExitNotFound  = proc.ExitNotFound
)

// Limits bound what a tap keeps; none of them bounds what it forwards.
type Limits struct {
	MessageBytes int64 // of the recorded copy of a message, line end not counted
	QueueBytes   int64 // of what has passed and is not yet written
	LogBytes     int64 // of a part of the log
}

// DefaultLimits returns the limits that apply unless a flag says otherwise.
func DefaultLimits() Limits {
	return Limits{MessageBytes: 16 << 20, QueueBytes: 64 << 20, LogBytes: 1 << 30}
}

// complete fills in the limits that nobody set.
func (l *Limits) complete() {
	d := DefaultLimits()
	l.MessageBytes = cmp.Or(l.MessageBytes, d.MessageBytes)
	l.QueueBytes = cmp.Or(l.QueueBytes, d.QueueBytes)
	l.LogBytes = cmp.Or(l.LogBytes, d.LogBytes)
}

// Log is where frames go; a statedir.LogFile is one. One goroutine uses it at a
// time.
type Log interface {
	// Write appends whole lines in one write and returns how much of p it wrote.
	// After an error the next write begins on a line of its own.
	Write(p []byte) (int, error)
	// Sync makes what was written outlast the machine.
	Sync() error
	// NextPart goes on in another file. After an error the old one is still used.
	NextPart() error
	// Size returns the size of the part that is written.
	Size() int64
	// Gone reports whether nobody will find the part that is written.
	Gone() bool
	// Path returns the path of the part that is written.
	Path() string
}

// Unwritable returns a Log for a tap whose log could not be opened: all frames are
// lost for that reason, and the tap says so.
func Unwritable(path string, reason error) Log { return &unwritable{path, reason} }

type unwritable struct {
	path   string
	reason error
}

func (u *unwritable) Write([]byte) (int, error) { return 0, u.reason }
func (u *unwritable) Sync() error               { return nil }
func (u *unwritable) NextPart() error           { return nil }
func (u *unwritable) Size() int64               { return 0 }
func (u *unwritable) Gone() bool                { return false }
func (u *unwritable) Path() string              { return u.path }

// Recording says what a tap records and where. Without a Log it records nothing.
type Recording struct {
	Tap, Label string
	Start      capture.StartInfo // Tool; the tap fills in what it knows itself
	Log        Log
	Limits     Limits
	Redact     func(capture.Frame) capture.Frame // nil: nothing is redacted
	Notify     func(line string)                 // takes our own lines for stderr, must not block; may be nil
	clock      clock                             // nil: the system's
	kernel     proc.Kernel                       // nil: the system's
	waits      waits                             // how long the end waits for the log
}

// clock returns wall time in nanoseconds since 1970, and the time since the tap
// started, which no suspend and no clock step changes.
type clock func() (wall int64, mono time.Duration)

func systemClock() clock {
	start := time.Now()
	return func() (int64, time.Duration) {
		now := time.Now()
		return now.UnixNano(), now.Sub(start)
	}
}
