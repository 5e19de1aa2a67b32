package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	palette term.Palette

	following sync.WaitGroup
	ended     chan struct{} // closed when the tap has written all

	mu    sync.Mutex // held while anything below is used, or printed
	logs  []*watchedLog
	tally tally
	shown bool // the last thing printed is a tally that is rewritten in place
}

// tally is what the line of that name says.
type tally struct{ exchanges, fail, warn int }

// watchedLog is one log of the tap, being judged.
type watchedLog struct {
	watch   *watch
	tap     string
	log     tap.Log
	wake    chan struct{}
	reducer *session.Reducer
	judge   *judge.Judge
	first   int // how many sessions the logs before it hold so far
	told    map[int][]judge.Finding
	fresh   bool  // findings were told since the last tally
	stopped error // why not all was judged
}

func startWatch(a *app, o watchOptions) *watch {
	return &watch{app: a, o: o, palette: a.paletteFor(a.env.Stderr), ended: make(chan struct{})}
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
		watch: w, tap: id, log: log, wake: make(chan struct{}, 1), told: map[int][]judge.Finding{},
		reducer: session.New(session.Options{}),
	}
	l.judge = w.app.newJudge(judge.Options{Revision: w.o.revision, Found: l.found})
	w.mu.Lock()
	w.logs = append(w.logs, l)
	w.mu.Unlock()
	w.following.Add(1)
	go func() {
		defer w.following.Done()
		l.run()
	}()
	return wakingLog{log, l.wake}
}

// wakingLog says when something was written.
type wakingLog struct {
	tap.Log
	wake chan<- struct{}
}

func (l wakingLog) Write(p []byte) (int, error) {
	n, err := l.Log.Write(p)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return n, err
}

// run judges the log until the tap has ended.
func (l *watchedLog) run() {
	tap.YieldCPU()
	entry, err := statedir.At(l.log.Path())
	if err != nil {
		l.stopped = err
		return
	}
	f := statedir.Follower{Logs: []statedir.Entry{entry}, Wake: l.wake, Done: l.watch.ended}
	l.stopped = f.Run(context.Background(), l.event)
}

func (l *watchedLog) event(e *statedir.Event) error {
	w := l.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case statedir.Read:
		if e.Frame.Tap == l.tap {
			l.step(e.Frame, e.Ref)
		}
	case statedir.BadLine:
		var bad *capture.LineError
		if errors.As(e.Err, &bad) {
			l.reducer.Skip(bad)
			l.judge.Skip()
		}
	case statedir.CaughtUp:
		if l.fresh || w.shown {
			l.fresh = false
			w.printTally(false)
		}
	case statedir.Again, statedir.Gone, statedir.Trouble:
		if e.Err != nil {
			return e.Err
		}
		return fmt.Errorf("log %q was removed", l.log.Path())
	}
	return nil
}

func (l *watchedLog) step(f *capture.Frame, ref capture.Ref) {
	st := l.reducer.Apply(f, ref)
	l.judge.Step(f, st)
	for i := range st.Messages {
		if m := &st.Messages[i]; m.Dir != capture.Stderr && m.Kind != jsonrpc.Request && m.Frame == capture.Line {
			l.watch.tally.exchanges++
		}
	}
}

// found prints a finding.
func (l *watchedLog) found(i int, f *judge.Finding) {
	w := l.watch
	w.clearTally()
	report.WriteFinding(w.app.env.Stderr, w.palette, f, w.nameOf(l, i))
	l.told[i] = append(l.told[i], *f)
	l.fresh = true
	if f.Clause.Level.Binds() {
		w.tally.fail++
	} else {
		w.tally.warn++
	}
}

// nameOf names a session where there are several: s1, s2 in order of their beginning.
func (w *watch) nameOf(l *watchedLog, i int) string {
	n, all := 0, 0
	for _, other := range w.logs {
		if other == l {
			n = all + i + 1
		}
		all += max(other.reducer.Len(), other.judge.Len())
	}
	if all < 2 {
		return ""
	}
	return fmt.Sprintf("s%d", n)
}

func (w *watch) printTally(last bool) {
	line := fmt.Sprintf("mcpsnoop watch: %d exchange(s); findings so far: %d fail, %d warn", w.tally.exchanges, w.tally.fail, w.tally.warn)
	if !last && term.IsTerminal(w.app.env.Stderr) {
		fmt.Fprintf(w.app.env.Stderr, "\r%s\x1b[K", line)
		w.shown = true
		return
	}
	fmt.Fprintln(w.app.env.Stderr, line)
}

func (w *watch) clearTally() {
	if w.shown {
		fmt.Fprint(w.app.env.Stderr, "\r\x1b[K")
		w.shown = false
	}
}

// end prints the report once the tap has ended with that exit code, and returns what
// the program exits with.
func (w *watch) end(code int) error {
	if w == nil {
		return answer(code)
	}
	close(w.ended)
	w.following.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	verdicts := &report.Verdicts{Version: w.app.env.Version}
	var withdrawn []string
	for _, l := range w.logs {
		l.reducer.Finish()
		l.judge.Finish()
		for i := range l.judge.Len() {
			h, found := l.reducer.Header(i), l.judge.End(i)
			withdrawn = append(withdrawn, l.conclude(i, found)...)
			verdicts.Sessions = append(verdicts.Sessions, report.Verdict{Session: h.ID, Report: found, Path: l.log.Path()})
		}
	}
	w.clearTally()
	stderr := w.app.env.Stderr
	if n := len(verdicts.Sessions); n > 1 {
		for i := range verdicts.Sessions {
			fmt.Fprintf(stderr, "s%d = %s\n", i+1, term.Escape(verdicts.Sessions[i].Session))
		}
	}
	verdicts.WriteText(stderr, w.palette)
	w.printTally(true)
	w.sayWhere()
	for _, text := range withdrawn {
		fmt.Fprintf(stderr, "mcpsnoop watch: withdrawn: %s\n", text)
	}
	switch {
	case len(withdrawn) > 0:
		return answer(exitDefect)
	case code == exitYes && w.o.fail && verdicts.Answer() == report.Broken:
		return answer(exitNo)
	}
	return answer(code)
}

// conclude tells of what only the end makes certain, and returns what was told and does
// not stand in the report.
func (l *watchedLog) conclude(i int, found *judge.Report) (withdrawn []string) {
	told := slices.Clone(l.told[i])
	same := func(f *judge.Finding) func(judge.Finding) bool {
		return func(g judge.Finding) bool {
			return g.Clause.ID == f.Clause.ID && g.Seq == f.Seq && g.Detail == f.Detail
		}
	}
	for _, rows := range append([]judge.Rows{found.Rows}, found.Also...) {
		for _, row := range rows.List {
			for k := range row.Findings {
				f := &row.Findings[k]
				if at := slices.IndexFunc(told, same(f)); at >= 0 {
					told = slices.Delete(told, at, at+1)
					continue
				}
				l.found(i, f)
			}
		}
	}
	for k := range told {
		withdrawn = append(withdrawn, told[k].Clause.ID+" "+report.FindingText(&told[k]))
	}
	return withdrawn
}

// sayWhere names the logs, and why not all of one was judged.
func (w *watch) sayWhere() {
	for _, l := range w.logs {
		if l.stopped != nil {
			fmt.Fprintf(w.app.env.Stderr, "mcpsnoop watch: judging stopped after %d exchange(s): %s\n", w.tally.exchanges, term.Escape(l.stopped.Error()))
		}
		fmt.Fprintf(w.app.env.Stderr, "log: %s (message bodies in full)\n", term.Escape(strings.TrimSpace(l.log.Path())))
	}
}
