package cli

import (
	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/report"
	"mcpsnoop/internal/session"
)

func (a *app) checkCommand() *cobra.Command {
	var (
		failOn string
		all    bool
		runID  string
	)
	c := &cobra.Command{
		Use:   "check [SESSION|LOG|-]...",
		Short: "Say what went wrong in a session, and fail if it must not",
		Long: `check counts what went wrong in each session, names the frames, and exits with 1 if
a signal named by --fail-on was seen. Unlike validate, which reports on every
requirement of the specification, it counts frames, and knows failures that break no
requirement. Without an argument it takes the newest session. The signals:

  error        answered with an error, or with a tool's result that is one
  invalid      no MCP message
  warn         a MUST was broken
  mismatch     HTTP headers and body disagree (counts as warn too)
  pending      never answered
  late-result  answered after it had been cancelled
  incomplete   the recording lacks something there
  should       a SHOULD was broken`,
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := gate.ParseFailOn(failOn)
			if err != nil {
				return usagef("", "%w", err)
			}
			return a.check(args, runID, report.Options{FailOn: set, All: all})
		},
	}
	c.Flags().StringVar(&failOn, "fail-on", gate.Default().String(), "signals that fail the check")
	c.Flags().BoolVar(&all, "all", false, "list findings of the other signals too")
	addRun(c, &runID)
	return c
}

func (a *app) check(args []string, runID string, o report.Options) error {
	defer a.onInterrupt(nil)()
	targets, run, err := a.targets(args, runID)
	if err != nil {
		return err
	}
	defer a.keepJudged()
	check := &report.Check{FailOn: o.FailOn, All: o.All}
	var own []ownSession
	for _, t := range targets {
		one, err := a.checkOne(check, t, o)
		if err != nil {
			return err
		}
		own = append(own, one...)
	}
	if err := check.WriteText(a.env.Stdout, a.palette()); err != nil {
		return err
	}
	if run == nil {
		a.tellRuns("check", own)
	}
	if check.Frames() == 0 {
		return usagef("", "nothing to judge: no frame passed")
	}
	if check.Tripped() != 0 {
		return answer(exitNo)
	}
	return nil
}

// checkOne checks the sessions of one log, which it returns.
func (a *app) checkOne(check *report.Check, t target, o report.Options) (own []ownSession, err error) {
	in, err := a.openTarget(t, false)
	if err != nil {
		return own, err
	}
	defer in.Close()
	o.Select = in.wants
	o.Judge = a.newJudge(judge.Options{})
	collect := report.NewCollector(o)
	r := session.New(session.Options{Settled: collect.Settled, Revised: collect.Revised})
	if err := judge.Fold(in, r, o.Judge, func(f *capture.Frame, _ capture.Ref, st session.Step) error {
		collect.Step(f, st)
		return nil
	}); err != nil {
		return own, unreadable(err)
	}
	if err := in.pick.has(r, in.name()); err != nil {
		return own, err
	}
	a.judged(in, r, o.Judge)
	found := collect.Report(r)
	if len(found.Sessions) == 0 {
		return own, usagef("", "nothing to judge in %q: it holds no session", in.name())
	}
	check.Sessions = append(check.Sessions, found.Sessions...)
	return ownOf(in, headersOf(r)), nil
}
