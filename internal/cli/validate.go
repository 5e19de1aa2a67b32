package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/report"
	"mcpsnoop/internal/session"
)

// validating is what flags say of how to validate.
type validating struct {
	format, revision, output string
	strict, all              bool
	run                      string
}

func (a *app) validateCommand() *cobra.Command {
	var v validating
	c := &cobra.Command{
		Use:   "validate [SESSION|LOG|-]...",
		Short: "Judge sessions by the specification, requirement by requirement",
		Long: `validate judges each session at its own revision: the negotiated one, else the newest
that its messages declare, else --revision. It exits with 1 if a MUST was broken, with
--strict also if a SHOULD was, and with 2 if nothing at all could be judged. What was
not observed has not passed. Unlike check, which counts what went wrong by frames, it
says of every requirement what became of it, and a call that failed is none of its
concern. Without an argument it takes the newest session.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.validate(args, v) },
	}
	c.Flags().StringVar(&v.format, "format", "text", "text, json, junit or sarif")
	c.Flags().StringVar(&v.revision, "revision", "", "revision of sessions that declare none themselves, such as 2025-11-25")
	c.Flags().BoolVar(&v.strict, "strict", false, "fail on warnings too: a SHOULD that was broken")
	c.Flags().BoolVar(&v.all, "all", false, "list every row, not only those with findings")
	c.Flags().StringVarP(&v.output, "output", "o", "-", "file to write, - for standard output")
	addRun(c, &v.run)
	return c
}

func (a *app) validate(args []string, v validating) error {
	revision, err := parseRevision(v.revision)
	if err != nil {
		return err
	}
	verdicts := &report.Verdicts{Version: a.env.Version, All: v.all, Strict: v.strict}
	write, err := a.verdictWriter(verdicts, v)
	if err != nil {
		return err
	}
	defer a.onInterrupt(nil)()
	targets, _, err := a.targets(args, v.run)
	if err != nil {
		return err
	}
	defer a.keepJudged()
	var inputs []string
	for _, t := range targets {
		paths, err := a.validateOne(verdicts, t, revision, v.format == "sarif")
		if err != nil {
			return err
		}
		inputs = append(inputs, paths...)
	}
	if v.format == "text" && toStdout(v.output) {
		err = flushed(a.env.Stdout, write) // coloured, and escaped already
	} else {
		err = a.writeOutput(v.output, inputs, write)
	}
	if err != nil {
		return err
	}
	switch verdicts.Answer() {
	case report.Broken:
		return answer(exitNo)
	case report.Unable:
		for i := range verdicts.Sessions {
			if s := &verdicts.Sessions[i]; s.Unsupported != "" {
				return usagef("", "cannot judge session %s: this build does not know revision %q", s.Session, s.Unsupported)
			}
		}
		return usagef("", "nothing to judge: nothing happened that a requirement is about")
	}
	return nil
}

// verdictWriter returns what renders verdicts as flags say.
func (a *app) verdictWriter(verdicts *report.Verdicts, v validating) (func(io.Writer) error, error) {
	switch v.format {
	case "text":
		palette := a.palette()
		if !toStdout(v.output) {
			palette = a.paletteFor(nil)
		}
		return func(w io.Writer) error { return verdicts.WriteText(w, palette) }, nil
	case "json":
		return verdicts.WriteJSON, nil
	case "junit":
		return verdicts.WriteJUnit, nil
	case "sarif":
		dir, err := os.Getwd()
		if err != nil {
			return nil, failed(err, "")
		}
		return func(w io.Writer) error { return verdicts.WriteSARIF(w, dir) }, nil
	}
	return nil, usagef("", "unknown format %q: name text, json, junit or sarif", v.format)
}

// validateOne judges the sessions of one log. It returns the files it read.
func (a *app) validateOne(verdicts *report.Verdicts, t target, revision mcp.Revision, lines bool) ([]string, error) {
	in, err := a.openTarget(t, false)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, j := session.New(session.Options{}), a.newJudge(judge.Options{Revision: revision})
	where := frameLines{}
	if err := judge.Fold(in, r, j, func(f *capture.Frame, ref capture.Ref, _ session.Step) error {
		if lines {
			where.add(f.Tap, ref)
		}
		return nil
	}); err != nil {
		return nil, unreadable(err)
	}
	in.bar.Clear()
	if err := in.pick.has(r, in.name()); err != nil {
		return nil, err
	}
	if revision == mcp.NoRevision { // else it may not be what others would find
		a.judged(in, r, j)
	}
	for i := range r.Len() {
		h := r.Header(i)
		if !in.wants(&h) {
			continue
		}
		found := j.End(i)
		a.basisNote(h.ID, found)
		verdicts.Sessions = append(verdicts.Sessions, report.Verdict{Session: h.ID, Report: found, Files: in.paths, Place: where.of(h.Tap)})
	}
	return in.paths, nil
}
