package cli

import (
	"fmt"
	"slices"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/report"
	"mcpsnoop/internal/term"
)

// end prints the report once all is judged, and returns what the command exits with:
// whether the answer is no, or findings were withdrawn.
func (w *onlooker) end() error {
	w.over()
	done := make(chan error, 1)
	go func() {
		w.following.Wait()
		w.open.Lock()
		defer w.open.Unlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		done <- w.conclude()
	}()
	if err, ok := w.out.wait(done, w.o.patience); ok {
		return err
	}
	return answer(exitFailed) // nobody reads what is to be said
}

// conclude prints the report and returns the answer.
func (w *onlooker) conclude() error {
	verdicts := &report.Verdicts{Version: w.app.env.Version}
	var withdrawn []string
	for _, key := range w.sessions() {
		l, i := key.log, key.session
		h, found := l.reducer.Header(i), l.judge.End(i)
		withdrawn = append(withdrawn, l.compare(i, found)...)
		verdicts.Sessions = append(verdicts.Sessions, report.Verdict{Session: h.ID, Report: found, Files: l.paths})
	}
	w.line.Clear()
	if len(verdicts.Sessions) > 1 {
		for i := range verdicts.Sessions {
			fmt.Fprintf(w.out, "s%d = %s\n", i+1, term.Escape(verdicts.Sessions[i].Session))
		}
	}
	verdicts.WriteText(w.out, w.palette)
	fmt.Fprintln(w.out, w.tally)
	for _, l := range w.logs {
		l.sayWhere()
	}
	for _, reason := range w.lost {
		fmt.Fprintf(w.out, "mcpsnoop watch: a session was not judged: %s\n", term.Escape(reason))
	}
	for _, text := range withdrawn {
		fmt.Fprintf(w.out, "mcpsnoop watch: withdrawn: %s\n", text)
	}
	switch {
	case len(withdrawn) > 0:
		return answer(exitDefect)
	case verdicts.Answer() == report.Broken:
		return answer(exitNo)
	}
	return nil
}

// sessions returns all sessions by their numbers, once nothing follows.
func (w *onlooker) sessions() []nameKey {
	for _, l := range w.logs {
		l.reducer.Finish()
		l.judge.Finish()
		for i := range l.reducer.Len() {
			w.name(l, i)
		}
	}
	keys := make([]nameKey, len(w.names))
	for key, n := range w.names {
		keys[n-1] = key
	}
	return keys
}

// compare tells of what only the end makes certain, and returns what was told and does
// not stand in the report.
func (l *watchedLog) compare(i int, found *judge.Report) (withdrawn []string) {
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

// sayWhere names the log, and why not all of it was judged.
func (l *watchedLog) sayWhere() {
	out, fault := l.onlooker.out, l.fault
	if fault == "" && l.stopped != nil {
		fault = l.stopped.Error()
	}
	switch {
	case fault == "":
	case l.begun && l.ended && l.stopped == nil:
		fmt.Fprintf(out, "mcpsnoop watch: not all was judged: %s\n", term.Escape(fault))
	case l.begun:
		fmt.Fprintf(out, "mcpsnoop watch: judging stopped after seq %d: %s\n", l.last, term.Escape(fault))
	default:
		fmt.Fprintf(out, "mcpsnoop watch: nothing was judged: %s\n", term.Escape(fault))
	}
	if l.wrote || l.begun {
		fmt.Fprintf(out, "log: %s (message bodies in full)\n", term.Escape(l.paths[0]))
	}
}
