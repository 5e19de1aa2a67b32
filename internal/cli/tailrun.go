package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/tracectx"
)

// tailRun prints the sessions of a run until all have ended or ctx does, those too that
// join it meanwhile.
func (a *app) tailRun(ctx context.Context, r *recordings, of *run.Run, asJSON bool) error {
	dir, err := a.state()
	if err != nil {
		return err
	}
	over, err := r.over(dir)
	if err != nil {
		return unreadable(err)
	}
	m := &merging{app: a, run: of, out: bufio.NewWriter(a.env.Stdout), lanes: map[string]*lane{}, json: asJSON}
	if asJSON {
		m.out = bufio.NewWriter(a.jsonOut())
		if err := export.NewEventWriter(m.out).Begin(); err != nil {
			return err
		}
	}
	follow := statedir.Follower{Dir: dir, Want: func(e *statedir.Entry) bool { return !over[e.ID] }}
	for _, t := range r.targets(of) {
		l := m.add(t.log, t.members)
		if l.tail.entry.Packed() {
			if err := l.packed(ctx); err != nil {
				return errors.Join(err, m.flush())
			}
			continue
		}
		follow.Logs = append(follow.Logs, l.tail.entry)
	}
	if m.going() {
		err = m.follow(ctx, &follow)
	}
	for _, l := range m.order {
		if err == nil && l.members != nil {
			err = l.tail.nothing()
		}
	}
	return errors.Join(err, m.flush())
}

// over returns the logs of a directory that nobody writes: no session in them joins a
// run any more.
func (r *recordings) over(dir statedir.Dir) (map[string]bool, error) {
	listing, err := dir.List()
	if err != nil {
		return nil, err
	}
	live := map[string]bool{}
	for i := range r.list {
		if log := r.list[i].log; log != nil {
			live[log.ID] = log.Live
		}
	}
	over := map[string]bool{}
	for i := range listing.Logs {
		e := &listing.Logs[i]
		is, known := live[e.ID]
		if !known { // it is new, or holds nothing
			state, _ := e.State()
			is = state == statedir.Live
		}
		over[e.ID] = !is
	}
	return over, nil
}

// merging puts what the logs of a run bring in order of time: what lies there before they
// are followed, and what comes between two looks.
type merging struct {
	app     *app
	run     *run.Run
	json    bool
	brief   bool // messages only
	out     *bufio.Writer
	lanes   map[string]*lane // by path
	order   []*lane
	waiting []lines
	upto    time.Time // of what waited when logs were looked at last
}

// lines is what one frame brought.
type lines struct {
	at   time.Time
	rank int
	text string
}

// trace is that of the run, zero if its key is none.
func (m *merging) trace() tracectx.TraceID { return traceOf(m.run) }

// takes reports whether a session is one of the run.
func (m *merging) takes(h *session.Header) bool {
	s := run.Of(h)
	return m.run.Takes(&s, m.app.env.thisHost())
}

// follow prints what logs bring until those of the run have ended.
func (m *merging) follow(ctx context.Context, f *statedir.Follower) error {
	f.Decoder, f.Turns = foreign.NewDecoder, true
	f.OnScreen = func(e *statedir.Entry) bool {
		l := m.lanes[e.Paths[0]]
		return l != nil && l.part() && !l.ended
	}
	err := f.Run(ctx, m.event)
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

// event takes what happened to one of the logs.
func (m *merging) event(e *statedir.Event) error {
	if e.Kind == statedir.Turned {
		return m.turned()
	}
	if e.Log == nil || len(e.Log.Paths) == 0 {
		return nil
	}
	l := m.lanes[e.Log.Paths[0]]
	if l == nil {
		l = m.add(e.Log, nil)
	}
	if l.ended {
		return nil
	}
	if err := l.event(e); err != nil {
		return err
	}
	switch {
	case !l.ended:
	case !l.part():
		*l = lane{ended: true} // nobody asks for it any more
	case !m.going():
		return errEnded
	}
	return nil
}

// going reports whether a log of the run may hold more.
func (m *merging) going() bool {
	return slices.ContainsFunc(m.order, func(l *lane) bool { return l.part() && !l.ended })
}

// turned writes what waited before the logs were looked at: what belongs before it has
// come since.
func (m *merging) turned() error {
	upto := m.upto
	for i := range m.waiting {
		if m.waiting[i].at.After(m.upto) {
			m.upto = m.waiting[i].at
		}
	}
	return m.pass(upto)
}

// pass writes the lines up to a moment, as far as no log that is still being caught up
// with has come less far.
func (m *merging) pass(upto time.Time) error {
	for _, l := range m.order {
		if l.part() && !l.caught && l.now.Before(upto) {
			upto = l.now
		}
	}
	slices.SortStableFunc(m.waiting, func(a, b lines) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return a.rank - b.rank
	})
	n := 0
	for ; n < len(m.waiting) && !m.waiting[n].at.After(upto); n++ {
		if _, err := io.WriteString(m.out, m.waiting[n].text); err != nil {
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
	if err := m.turned(); err != nil { // which sees how far the lines go
		return err
	}
	return m.pass(m.upto)
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
