package term

import (
	"io"
	"sync"
	"time"
)

// A line of progress appears when the work has taken showAfter, and changes at most
// once every showEvery.
const (
	showAfter = 300 * time.Millisecond
	showEvery = 100 * time.Millisecond
)

// Progress is one line on a terminal that tells how far long work has come, and is
// gone when it is done. A nil *Progress shows nothing. All methods may be called by
// several goroutines.
type Progress struct {
	w       io.Writer
	now     func() time.Time
	columns func() int

	mu    sync.Mutex
	next  time.Time // do not show before
	shown bool
}

// NewProgress returns a Progress on w; nil unless w is a terminal that can erase a line.
func NewProgress(w io.Writer, getenv func(string) string) *Progress {
	if !IsTerminal(w) || depthOf(getenv) == Plain {
		return nil
	}
	enableSequences(w)
	return newProgress(w, time.Now, func() int { columns, _, _ := Size(w); return columns })
}

func newProgress(w io.Writer, now func() time.Time, columns func() int) *Progress {
	return &Progress{w: w, now: now, columns: columns, next: now().Add(showAfter)}
}

// Show shows what text returns. It may be called for each step, however small:
// text is only called when the line is due.
func (p *Progress) Show(text func() string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(showEvery)
	p.show(text())
}

// Set shows text at once.
func (p *Progress) Set(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(text)
}

func (p *Progress) show(text string) {
	p.shown = true
	width := p.columns()
	if width <= 0 {
		width = 80
	}
	// The last column stays free: a cursor beyond it may have wrapped.
	line := "\r" + Cut(Escape(text), width-1) + "\x1b[K"
	_, _ = io.WriteString(p.w, line) // nothing depends on it
}

// Clear removes the line, so that something else may be written. Show brings it back.
func (p *Progress) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		p.shown = false
		_, _ = io.WriteString(p.w, "\r\x1b[K")
	}
}
