package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/export"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/tracectx"
	"mcpsnoop/internal/view"
)

func (a *app) runsCommand() *cobra.Command {
	var asJSON bool
	var limit int
	var since time.Duration
	c := &cobra.Command{
		Use:   "runs [RUN]",
		Short: "List the runs of agents, or show one across its servers",
		Long: `An agent run talks to several servers at once, and each is a session of its own. runs
puts together what was seen to belong together: requests that carried one trace id in
params._meta.traceparent, else sessions of stdio servers that one client process
started. With a run it shows its sessions and every call of theirs to scale: +0.000s
is its first call. A call without a trace id, such as initialize, belongs to its session
in whatever run that is; in the run of a trace it is marked session-wide, and its bar is
cut (‹ ›) where it lies outside of the run. A run is named by its id, by a beginning of
its id, or by the process id of its client.`,
		Args: maxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if limit < 0 || since < 0 {
				return usagef("", "--limit and --since take no negative values")
			}
			if len(args) > 0 {
				return a.showRun(args[0], asJSON)
			}
			return a.listRuns(limit, since, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().IntVar(&limit, "limit", 0, "list at most that many, the newest (0: all)")
	c.Flags().DurationVar(&since, "since", 0, "list only what something happened in during that time, such as 2h")
	return c
}

func (a *app) listRuns(limit int, since time.Duration, asJSON bool) error {
	defer a.onInterrupt(nil)()
	dir, err := a.state()
	if err != nil {
		return err
	}
	r, err := a.recordings(dir)
	if err != nil {
		return err
	}
	now := a.env.Now()
	runs := r.runs
	if since > 0 {
		runs = slices.DeleteFunc(runs, func(one run.Run) bool { return one.Last.Before(now.Add(-since)) })
	}
	if limit > 0 {
		runs = runs[:min(limit, len(runs))]
	}
	switch {
	case asJSON:
		return a.printJSON(export.NewRunList(runs, now))
	case len(runs) == 0:
		a.note("no run in %q", dir.Sessions())
		return nil
	}
	return a.print(view.Runs(runs, now))
}

// printJSON prints a document.
func (a *app) printJSON(doc any) error {
	out := json.NewEncoder(a.jsonOut())
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(doc)
}

// pipeColumns is how wide the page of a run is where there is no terminal.
const pipeColumns = 100

func (a *app) showRun(id string, asJSON bool) error {
	defer a.onInterrupt(nil)()
	r, found, err := a.findRun(id)
	if err != nil {
		return err
	}
	defer a.keepJudged()
	page, err := a.runPage(r, found)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(export.NewRunDocument(page))
	}
	page.Width = pipeColumns
	if columns, _, ok := term.Size(a.env.Stdout); ok {
		page.Width, page.Cut = columns, true
	}
	_, err = a.env.Stdout.WriteString(strings.Join(page.Lines(a.palette()), "\n") + "\n")
	return err
}

// runReader reads the logs of a run for its page.
type runReader struct {
	app    *app
	run    *run.Run
	trace  tracectx.TraceID
	now    time.Time
	member map[sessionKey]int
	page   *view.RunPage
	timed  []run.Timed
}

func (a *app) runPage(r *recordings, of *run.Run) (*view.RunPage, error) {
	p := &runReader{app: a, run: of, trace: traceOf(of), now: a.env.Now(), member: map[sessionKey]int{}}
	p.page = &view.RunPage{Run: of, Now: p.now, Sessions: make([]view.RunSession, len(of.Members))}
	for i := range of.Members {
		m := &of.Members[i]
		one := &r.list[m.Index]
		p.member[one.key] = i
		p.page.Sessions[i] = view.RunSession{Header: one.header, Live: one.log.Live, Shared: m.Shared, Counts: m.Counts}
	}
	for _, t := range r.targets(of) {
		if err := p.read(t); err != nil {
			return nil, err
		}
	}
	p.lay()
	return p.page, nil
}

// read folds one log.
func (p *runReader) read(t target) error {
	in, err := p.app.openTarget(t, false)
	if err != nil {
		return err
	}
	defer in.Close()
	var r *session.Reducer
	var calls []run.Timed // Member is the index in the reducer
	r = session.New(session.Options{Settled: func(i int, c *session.Call) {
		if p.trace == (tracectx.TraceID{}) || !c.Traced() || c.InTrace(p.trace) {
			own := c.Clone()
			calls = append(calls, run.Timed{Member: i, Call: &own})
		}
	}})
	j := p.app.newJudge(judge.Options{})
	others := frameSet{}
	err = judge.Fold(in, r, j, p.others(others))
	if err != nil {
		return unreadable(err)
	}
	in.bar.Clear()
	p.app.judged(in, r, j)
	of := map[int]int{} // members by index in the reducer
	for i := range r.Len() {
		h := r.Header(i)
		m, ok := p.member[keyOf(in.paths, &h)]
		if !ok {
			continue
		}
		of[i] = m
		s := &p.page.Sessions[m]
		s.Header, s.Findings = &h, others.findings(i, j.End(i))
	}
	for _, c := range calls {
		if m, ok := of[c.Member]; ok {
			c.Member = m
			p.timed = append(p.timed, c)
		}
	}
	return nil
}

// lay makes rows of calls.
func (p *runReader) lay() {
	rows := make([]view.RunCall, len(p.timed))
	row := func(t *run.Timed) view.RunCall {
		s := &p.page.Sessions[t.Member]
		upto := s.Header.Last
		if s.Live && p.now.After(upto.Wall) {
			upto = session.Instant{Wall: p.now, Mono: upto.Mono + p.now.Sub(upto.Wall)}
		}
		return view.RunCall{
			Session: t.Member, Server: s.Name(), Call: t.Call, Upto: upto, Over: !s.Live,
			Wide: p.run.Kind == run.ByTrace && !t.Call.Traced(),
		}
	}
	for i := range p.timed {
		t := &p.timed[i]
		one := row(t)
		t.Start, t.End = one.Start(), one.End()
	}
	slices.SortStableFunc(p.timed, func(a, b run.Timed) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(p.page.Sessions[a.Member].Header.Label, p.page.Sessions[b.Member].Header.Label),
			cmp.Compare(a.Member, b.Member), cmp.Compare(a.Call.Index, b.Call.Index))
	})
	headers := make([]*session.Header, len(p.page.Sessions))
	for i := range headers {
		headers[i] = p.page.Sessions[i].Header
	}
	depths := run.Depths(run.Parents(headers, p.timed))
	for i := range p.timed {
		rows[i] = row(&p.timed[i])
		rows[i].Depth = depths[i]
	}
	p.page.Calls = rows
}
