package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/proc"
	"mcpsnoop/internal/report"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/term"
)

// onlooker judges what taps of another process write, behind their logs, and tells of it
// on stderr.
type onlooker struct {
	app     *app
	o       watchOptions
	out     *stallable // stderr
	palette term.Palette
	line    *term.Progress // of the tally, nil where it is not rewritten in place

	following sync.WaitGroup
	behind    context.Context // ends when the taps have written all
	over      func()          // ends it

	open sync.Mutex // held for a moment: whoever hears from the taps takes it
	logs []*watchedLog
	lost []string // why sessions have no log to be judged

	mu    sync.Mutex      // held while messages are judged and anything is printed
	names map[nameKey]int // of sessions, from 1 in order of their first frame
	tally tally
	told  tally // as printed last
}

// tally is what the line of that name says.
type tally struct{ exchanges, fail, warn int }

func (t tally) String() string {
	return fmt.Sprintf("mcpsnoop watch: %d exchange(s); findings so far: %d fail, %d warn", t.exchanges, t.fail, t.warn)
}

type nameKey struct {
	log     *watchedLog
	session int
}

// watchedLog is one log of a tap, being judged.
type watchedLog struct {
	onlooker *onlooker
	tap      string
	paths    []string // of the parts seen
	wake     chan struct{}
	wrote    bool   // the tap did, which its onlooker.open guards
	fault    string // why it first could not, guarded likewise
	reducer  *session.Reducer
	judge    *judge.Judge
	told     map[int][]judge.Finding
	fresh    bool   // findings were told since the last tally
	begun    bool   // a frame of the tap's was seen
	last     uint64 // the last of them
	ended    bool   // it says that nothing follows
	stopped  error  // why not all was judged
}

func newOnlooker(a *app, o watchOptions) *onlooker {
	w := &onlooker{
		app: a, o: o, out: &stallable{w: a.env.Stderr}, palette: a.paletteFor(a.env.Stderr), line: term.NewProgress(a.env.Stderr, a.env.Getenv),
		names: map[nameKey]int{},
	}
	w.behind, w.over = context.WithCancel(context.Background())
	return w
}

// follow judges what the tap of that id writes to a log, from now on.
func (w *onlooker) follow(path, id string) {
	l := &watchedLog{
		onlooker: w, tap: id, paths: []string{path}, told: map[int][]judge.Finding{}, reducer: session.New(session.Options{}),
		wake: make(chan struct{}, 1),
	}
	l.judge = w.app.newJudge(judge.Options{Revision: w.o.revision, Found: l.found, Broken: l.broken})
	w.logs = append(w.logs, l)
	w.following.Add(1)
	go func() {
		defer w.following.Done()
		l.stopped = l.run()
	}()
}

// run judges the log until the tap has written all. Until then nobody may have to wait
// for us; after that somebody may wait for the end.
func (l *watchedLog) run() error {
	entry, err := statedir.At(l.paths[0])
	if err != nil {
		return err
	}
	w := l.onlooker
	f := statedir.Follower{Logs: []statedir.Entry{entry}, Wake: l.wake}
	behind := make(chan error, 1)
	go func() {
		proc.GiveWay()
		behind <- f.Run(w.behind, func(e *statedir.Event) error {
			if err := l.event(e); err != nil {
				return err
			}
			return w.behind.Err()
		})
	}()
	if err := <-behind; !errors.Is(err, context.Canceled) {
		return err
	}
	f.Done = w.behind.Done()
	return f.Run(context.Background(), l.event)
}
func (l *watchedLog) event(e *statedir.Event) error {
	w := l.onlooker
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(l.paths) < len(e.Log.Paths) {
		l.paths = slices.Clone(e.Log.Paths)
	}
	switch e.Kind {
	case statedir.Read:
		if e.Frame.Tap == l.tap {
			l.step(e.Frame, e.Ref)
		}
	case statedir.BadLine:
		var bad *capture.LineError
		if errors.As(e.Err, &bad) && l.begun { // before, it was another's
			l.reducer.Skip(bad)
			l.judge.Skip()
		}
	case statedir.CaughtUp:
		w.caughtUp(l.fresh)
		l.fresh = false
	case statedir.Again, statedir.Gone, statedir.Trouble:
		if e.Err != nil {
			return e.Err
		}
		return fmt.Errorf("log %q was removed", l.paths[0])
	}
	return nil
}

func (l *watchedLog) step(f *capture.Frame, ref capture.Ref) {
	st := l.reducer.Apply(f, ref)
	l.begun, l.last, l.ended = true, f.Seq, f.Kind == capture.End
	l.onlooker.name(l, st.Session)
	l.judge.Step(f, st)
	for i := range st.Messages {
		if exchanged(&st.Messages[i]) {
			l.onlooker.tally.exchanges++
		}
	}
}

// exchanged reports whether a message ends an exchange: it answers a request, or it is
// something that waits for no answer.
func exchanged(m *session.Message) bool {
	switch {
	case m.Dir == capture.Stderr || m.Dir == capture.Meta:
		return false
	case m.Frame == capture.HTTPHead: // a status that answers a request
		return m.Call >= 0 && (m.Outcome == session.OutcomeError || m.Outcome == session.OutcomeExpected)
	case m.Frame != capture.Line || m.Kind == jsonrpc.Request:
		return false
	}
	return m.Kind == jsonrpc.Notification || m.Kind == jsonrpc.Response || m.Outcome == session.OutcomeBad
}

// found prints a finding.
func (l *watchedLog) found(i int, f *judge.Finding) {
	w := l.onlooker
	w.line.Clear()
	report.WriteFinding(w.out, w.palette, f, w.called(l, i))
	l.told[i] = append(l.told[i], *f)
	l.fresh = true
	if f.Clause.Level.Binds() {
		w.tally.fail++
	} else {
		w.tally.warn++
	}
}

// broken names a check that panicked.
func (l *watchedLog) broken(i int, check string, reason any) {
	w := l.onlooker
	w.line.Clear()
	term.Note(w.out, brokenText(w.name(l, i)-1, check, reason))
}

// name returns the number of a session: from 1, in order of their first frames.
func (w *onlooker) name(l *watchedLog, i int) int {
	key := nameKey{l, i}
	if w.names[key] == 0 {
		w.names[key] = len(w.names) + 1
	}
	return w.names[key]
}

// called names a session where there are several: s1, s2.
func (w *onlooker) called(l *watchedLog, i int) string {
	n := w.name(l, i)
	if len(w.names) < 2 {
		return ""
	}
	return fmt.Sprintf("s%d", n)
}

// caughtUp prints the tally: in place, or after new findings.
func (w *onlooker) caughtUp(fresh bool) {
	switch {
	case w.line == nil && fresh:
		fmt.Fprintln(w.out, w.tally)
	case w.line != nil && w.tally != w.told || fresh:
		w.told = w.tally
		w.line.Set(w.tally.String())
	}
}
