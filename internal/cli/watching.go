package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/report"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/tap"
	"mcpsnoop/internal/term"
)

// watch judges what a tap of this process records, behind its log: the tap never
// waits for it. A nil watch does nothing.
type watch struct {
	app     *app
	o       watchOptions
	out     *stallable // stderr
	palette term.Palette
	line    *term.Progress // of the tally, nil where it is not rewritten in place

	following sync.WaitGroup
	ended     chan struct{} // closed when the tap has written all
	over      func()        // closes it

	open sync.Mutex // held for a moment: the tap takes it
	logs []*watchedLog
	lost []error // why sessions have no log to be judged

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

// watchedLog is one log of the tap, being judged.
type watchedLog struct {
	watch   *watch
	tap     string
	paths   []string // of the parts seen
	writing *wakingLog
	reducer *session.Reducer
	judge   *judge.Judge
	told    map[int][]judge.Finding
	fresh   bool   // findings were told since the last tally
	begun   bool   // a frame of the tap's was seen
	last    uint64 // the last of them
	ended   bool   // it says that nothing follows
	stopped error  // why not all was judged
}

func startWatch(a *app, o watchOptions) *watch {
	w := &watch{
		app: a, o: o, out: &stallable{w: a.env.Stderr}, palette: a.paletteFor(a.env.Stderr), line: term.NewProgress(a.env.Stderr, a.env.Getenv),
		ended: make(chan struct{}), names: map[nameKey]int{},
	}
	w.over = sync.OnceFunc(func() { close(w.ended) })
	return w
}

// target is the flag that names the server of the HTTP tap.
func (w *watch) target() string {
	if w == nil {
		return targetFlag
	}
	return upstreamFlag
}

// follow judges what a tap of that id writes to a log, from now on. The tap must write
// to what it returns.
func (w *watch) follow(log tap.Log, id string) tap.Log {
	if w == nil {
		return log
	}
	l := &watchedLog{
		watch: w, tap: id, paths: []string{log.Path()}, told: map[int][]judge.Finding{}, reducer: session.New(session.Options{}),
		writing: &wakingLog{Log: log, wake: make(chan struct{}, 1)},
	}
	l.judge = w.app.newJudge(judge.Options{Revision: w.o.revision, Found: l.found, Broken: l.broken})
	w.open.Lock()
	w.logs = append(w.logs, l)
	w.open.Unlock()
	w.following.Add(1)
	go func() {
		defer w.following.Done()
		l.run()
	}()
	return l.writing
}

// unjudged notes that a session is not recorded, and so not judged.
func (w *watch) unjudged(err error) {
	if w != nil {
		w.open.Lock()
		defer w.open.Unlock()
		w.lost = append(w.lost, err)
	}
}

// wakingLog says when something was written.
type wakingLog struct {
	tap.Log
	wake chan struct{}

	mu    sync.Mutex
	some  bool  // was written
	fault error // the first
}

func (l *wakingLog) Write(p []byte) (int, error) {
	n, err := l.Log.Write(p)
	l.mu.Lock()
	l.some = l.some || n > 0
	l.fault = cmp.Or(l.fault, err)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return n, err
}

// state reports whether anything was written, and what first was not.
func (l *wakingLog) state() (some bool, fault error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.some, l.fault
}

// run judges the log until the tap has ended.
func (l *watchedLog) run() {
	tap.YieldCPU()
	entry, err := statedir.At(l.paths[0])
	if err != nil {
		l.stopped = err
		return
	}
	f := statedir.Follower{Logs: []statedir.Entry{entry}, Wake: l.writing.wake, Done: l.watch.ended}
	l.stopped = f.Run(context.Background(), l.event)
}

func (l *watchedLog) event(e *statedir.Event) error {
	w := l.watch
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
	l.watch.name(l, st.Session)
	l.judge.Step(f, st)
	for i := range st.Messages {
		if exchanged(&st.Messages[i]) {
			l.watch.tally.exchanges++
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
	w := l.watch
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
	w := l.watch
	w.line.Clear()
	term.Note(w.out, brokenText(w.name(l, i)-1, check, reason))
}

// name returns the number of a session: from 1, in order of their first frames.
func (w *watch) name(l *watchedLog, i int) int {
	key := nameKey{l, i}
	if w.names[key] == 0 {
		w.names[key] = len(w.names) + 1
	}
	return w.names[key]
}

// called names a session where there are several: s1, s2.
func (w *watch) called(l *watchedLog, i int) string {
	n := w.name(l, i)
	if len(w.names) < 2 {
		return ""
	}
	return fmt.Sprintf("s%d", n)
}

// caughtUp prints the tally: in place, or after new findings.
func (w *watch) caughtUp(fresh bool) {
	switch {
	case w.line == nil && fresh:
		fmt.Fprintln(w.out, w.tally)
	case w.line != nil && w.tally != w.told || fresh:
		w.told = w.tally
		w.line.Set(w.tally.String())
	}
}
