package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/tracectx"
)

// tailRun prints the logs of a run until all have ended or ctx does.
func (a *app) tailRun(ctx context.Context, targets []target, trace tracectx.TraceID, asJSON bool) error {
	m := &merging{out: bufio.NewWriter(a.env.Stdout), lanes: map[string]*lane{}}
	if asJSON {
		m.out = bufio.NewWriter(a.jsonOut())
		if err := export.NewEventWriter(m.out).Begin(); err != nil {
			return err
		}
	}
	follow := statedir.Follower{Decoder: foreign.NewDecoder}
	for i := range targets {
		l := m.add(a, &targets[i], trace, asJSON)
		if l.tail.entry.Packed() {
			if err := l.packed(ctx); err != nil {
				return errors.Join(err, m.flush())
			}
			continue
		}
		follow.Logs = append(follow.Logs, l.tail.entry)
	}
	err := m.pass()
	if len(follow.Logs) > 0 && err == nil {
		err = follow.Run(ctx, m.event)
	}
	if errors.Is(err, errEnded) {
		err = nil
		for _, l := range m.order {
			err = errors.Join(err, l.tail.nothing())
		}
	}
	return errors.Join(err, m.flush())
}

// merging puts what several logs bring in order of time: what lies there before it is
// followed, and what comes between two looks.
type merging struct {
	out     *bufio.Writer
	lanes   map[string]*lane // by path
	order   []*lane
	waiting []lines
	read    int // frames since lines were passed on last
}

// lane is one log of them.
type lane struct {
	merging *merging
	tail    *tailing
	rank    int
	text    bytes.Buffer
	now     time.Time // of its last frame
	caught  bool      // all that lay there was read
	ended   bool
}

// lines is what one frame brought.
type lines struct {
	at   time.Time
	rank int
	text string
}

// passEvery is after how many frames lines are passed on while logs are caught up with.
const passEvery = 4096

func (m *merging) add(a *app, of *target, trace tracectx.TraceID, asJSON bool) *lane {
	l := &lane{merging: m, rank: len(m.order)}
	t := &tailing{app: a, entry: *of.log, trace: trace}
	t.out = bufio.NewWriter(&l.text)
	t.begin()
	t.picked.members = of.members
	t.printer = &linePrinter{out: t.out, palette: a.palette()}
	if asJSON {
		w := export.NewEventWriter(t.out)
		_ = w.Begin() // into memory; the line was written once for all
		_ = t.out.Flush()
		l.text.Reset()
		t.printer = &jsonPrinter{out: w}
	}
	l.tail = t
	m.order = append(m.order, l)
	m.lanes[t.entry.Paths[0]] = l
	return l
}

// event takes what happened to one of the logs.
func (m *merging) event(e *statedir.Event) error {
	l := (*lane)(nil)
	if e.Log != nil && len(e.Log.Paths) > 0 {
		l = m.lanes[e.Log.Paths[0]]
	}
	if l == nil || l.ended {
		return nil
	}
	if err := l.event(e); err != nil {
		return err
	}
	if m.read >= passEvery || e.Kind == statedir.CaughtUp || l.ended {
		if err := m.pass(); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(m.order, func(l *lane) bool { return !l.ended }) {
		return errEnded
	}
	return nil
}

func (l *lane) event(e *statedir.Event) error {
	err := l.tail.event(e)
	l.caught = l.caught || e.Kind == statedir.CaughtUp
	if errors.Is(err, errEnded) {
		l.caught, l.ended, err = true, true, nil
	}
	if e.Kind == statedir.Read {
		if e.Frame.Time.After(l.now) {
			l.now = e.Frame.Time
		}
		l.merging.read++
	}
	return errors.Join(err, l.take())
}

// take makes lines of what was printed.
func (l *lane) take() error {
	if err := l.tail.out.Flush(); err != nil {
		return err
	}
	if l.text.Len() > 0 {
		l.merging.waiting = append(l.merging.waiting, lines{l.now, l.rank, l.text.String()})
		l.text.Reset()
	}
	return nil
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

// pass writes the lines before which nothing can come any more: no log that is still
// being caught up with has come less far.
func (m *merging) pass() error {
	m.read = 0
	slices.SortStableFunc(m.waiting, func(a, b lines) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.rank, b.rank)) })
	n := len(m.waiting)
	for _, l := range m.order {
		if !l.caught {
			n = min(n, slices.IndexFunc(append(m.waiting, lines{at: l.now.Add(1)}), func(w lines) bool { return w.at.After(l.now) }))
		}
	}
	for _, w := range m.waiting[:n] {
		if _, err := io.WriteString(m.out, w.text); err != nil {
			return err
		}
	}
	m.waiting = slices.Delete(m.waiting, 0, n)
	return m.out.Flush()
}

// flush writes all that waits.
func (m *merging) flush() error {
	for _, l := range m.order {
		l.caught = true
	}
	return m.pass()
}

// ofTrace takes out of a step what belongs to other traces, and reports whether anything
// is left.
func ofTrace(st *session.Step, trace tracectx.TraceID) bool {
	if trace == (tracectx.TraceID{}) || len(st.Messages) == 0 {
		return true
	}
	var messages []session.Message
	var calls []*session.Call
	for i, c := range st.Calls {
		if !ofOthers(c, trace) {
			messages, calls = append(messages, st.Messages[i]), append(calls, c)
		}
	}
	st.Messages, st.Calls = messages, calls
	return len(messages) > 0
}
