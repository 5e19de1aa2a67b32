package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
)

// lane is one log that holds sessions of a run, or may yet.
type lane struct {
	merging *merging
	tail    *tailing
	members members // sessions of the run when it was looked for; nil: none
	rank    int
	text    bytes.Buffer
	inner   printer
	now     time.Time        // of its last frame
	joined  map[int]bool     // sessions by index in the reducer that are of the run
	held    map[int]*holding // lines of the others
	caught  bool             // all that lay there was read
	ended   bool
}

// holding is what a session printed that is of no run so far.
type holding struct {
	lines []lines
	lost  int // lines before them
}

// maxHolding bounds the lines of a session that is of no run.
const maxHolding = 4096

func (m *merging) add(log *statedir.Entry, of members) *lane {
	l := &lane{merging: m, rank: len(m.order), members: of}
	t := &tailing{app: m.app, entry: *log, trace: m.trace()}
	t.entry.Paths = slices.Clone(log.Paths) // it holds during an event only
	t.out = bufio.NewWriter(&l.text)
	l.tail = t
	l.begin()
	t.begin()
	t.picked.sorted = true
	l.inner = &linePrinter{out: t.out, palette: m.app.palette()}
	if m.json {
		w := export.NewEventWriter(t.out)
		_ = w.Begin() // into memory; the line was written once for all
		_ = t.out.Flush()
		l.text.Reset()
		l.inner = &jsonPrinter{out: w}
	}
	t.printer = l
	m.order = append(m.order, l)
	m.lanes[t.entry.Paths[0]] = l
	return l
}

func (l *lane) begin() { l.joined, l.held = map[int]bool{}, map[int]*holding{} }

// part reports whether the log holds anything of the run.
func (l *lane) part() bool { return l.members != nil || len(l.joined) > 0 }

func (l *lane) event(e *statedir.Event) error {
	l.tail.quiet = !l.part()
	switch {
	case e.Kind == statedir.Again:
		l.begin()
	case e.Kind == statedir.Trouble && l.tail.quiet:
		return nil
	case e.Kind == statedir.Read && e.Frame.Time.After(l.now):
		l.now = e.Frame.Time
	}
	err := l.tail.event(e)
	l.caught = l.caught || e.Kind == statedir.CaughtUp
	if errors.Is(err, errEnded) {
		l.caught, l.ended, err = true, true, nil
	}
	return err
}

// packed reads a log that nobody writes any more.
func (l *lane) packed(ctx context.Context) error {
	err := l.tail.packedTo(ctx, l.event)
	if err != nil && !errors.Is(err, errEnded) {
		return err
	}
	l.caught, l.ended = true, true
	return nil
}

// frame makes lines of a frame. They wait for their time, or for their session to join.
func (l *lane) frame(id string, f *capture.Frame, st session.Step, found []judge.Group) error {
	if l.merging.brief && (len(st.Messages) == 0 || f.Kind == capture.HTTPHead) {
		return nil
	}
	if err := l.inner.frame(id, f, st, found); err != nil {
		return err
	}
	if err := l.tail.out.Flush(); err != nil {
		return err
	}
	if l.text.Len() == 0 {
		return nil
	}
	one := lines{l.now, l.rank, l.text.String()}
	l.text.Reset()
	if l.isJoined(st.Session) {
		l.merging.waiting = append(l.merging.waiting, one)
		return nil
	}
	h := l.held[st.Session]
	if h == nil {
		h = &holding{}
		l.held[st.Session] = h
	}
	if len(h.lines) >= maxHolding {
		h.lines, h.lost = slices.Delete(h.lines, 0, maxHolding/2), h.lost+maxHolding/2
	}
	h.lines = append(h.lines, one)
	return nil
}

// isJoined reports whether a session is of the run, and passes on what it printed before
// it was.
func (l *lane) isJoined(i int) bool {
	if l.joined[i] {
		return true
	}
	h := l.tail.reducer.Header(i)
	if !(l.members != nil && l.members.has(&h)) && !l.merging.takes(&h) {
		return false
	}
	l.joined[i] = true
	if held := l.held[i]; held != nil {
		if held.lost > 0 {
			l.tail.app.note("session %q joins the run: its first %d frames are not shown", h.ID, held.lost)
		}
		l.merging.waiting = append(l.merging.waiting, held.lines...)
		delete(l.held, i)
	}
	return true
}
