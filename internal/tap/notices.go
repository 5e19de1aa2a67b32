package tap

import (
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// Notices writes our own lines to stderr without ever waiting for it: where nobody
// reads, they are dropped and counted.
type Notices struct {
	w       io.Writer
	lines   chan string
	done    chan struct{}
	dropped atomic.Int64
}

// NewNotices returns Notices on w.
func NewNotices(w io.Writer) *Notices {
	survivePipes()
	n := &Notices{w: w, lines: make(chan string, 16), done: make(chan struct{})}
	go func() {
		defer close(n.done)
		for line := range n.lines {
			io.WriteString(n.w, line)
		}
	}()
	return n
}

// Line writes one line, sooner or later.
func (n *Notices) Line(line string) {
	select {
	case n.lines <- strings.TrimSuffix(line, "\n") + "\n":
	default:
		n.dropped.Add(1)
	}
}

// Close waits at most so long for what is not yet written, and returns how many
// lines were dropped. Line must not be called any more.
func (n *Notices) Close(wait time.Duration) (dropped int) {
	close(n.lines)
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-n.done:
	case <-t.C:
		n.dropped.Add(int64(len(n.lines)) + 1)
	}
	return int(n.dropped.Load())
}
