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
	)
	c := &cobra.Command{
		Use:   "check [SESSION|LOG|-]...",
		Short: "Say what went wrong in a session, and fail if it must not",
		Long: `check counts what went wrong in each session, names the frames, and exits with 1 if
a signal named by --fail-on was seen. Without an argument it takes the newest session.`,
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := gate.ParseFailOn(failOn)
			if err != nil {
				return usagef("", "%w", err)
			}
			return a.check(args, report.Options{FailOn: set, All: all})
		},
	}
	c.Flags().StringVar(&failOn, "fail-on", gate.Default().String(), "signals that fail the check")
	c.Flags().BoolVar(&all, "all", false, "list findings of the other signals too")
	return c
}

func (a *app) check(args []string, o report.Options) error {
	if len(args) == 0 {
		args = []string{""}
	}
	defer a.onInterrupt(nil)()
	check := &report.Check{FailOn: o.FailOn, All: o.All}
	for _, arg := range args {
		if err := a.checkOne(check, arg, o); err != nil {
			return err
		}
	}
	if err := check.WriteText(a.env.Stdout, a.palette()); err != nil {
		return err
	}
	if check.Frames() == 0 {
		return usagef("", "nothing to judge: no frame passed")
	}
	if check.Tripped() != 0 {
		return answer(exitNo)
	}
	return nil
}

func (a *app) checkOne(check *report.Check, arg string, o report.Options) error {
	in, err := a.open(arg, false)
	if err != nil {
		return err
	}
	defer in.Close()
	o.Select = in.pick.ofTap
	o.Judge = a.newJudge(judge.Options{})
	collect := report.NewCollector(o)
	r := session.New(session.Options{Settled: collect.Settled, Revised: collect.Revised})
	if err := judge.Fold(in, r, o.Judge, func(f *capture.Frame, _ capture.Ref, st session.Step) error {
		collect.Step(f, st)
		return nil
	}); err != nil {
		return unreadable(err)
	}
	if err := in.pick.has(r, in.name()); err != nil {
		return err
	}
	found := collect.Report(r)
	if len(found.Sessions) == 0 {
		return usagef("", "nothing to judge in %q: it holds no session", in.name())
	}
	check.Sessions = append(check.Sessions, found.Sessions...)
	return nil
}
