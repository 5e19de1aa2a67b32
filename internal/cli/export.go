package cli

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
)

// exporters are the formats of export, by name.
var exporters = map[string]func(io.Writer, export.Log, export.Options) error{
	"json": export.JSON,
	"text": export.Text,
}

func (a *app) exportCommand() *cobra.Command {
	var format, output, runID string
	c := &cobra.Command{
		Use:   "export [SESSION|LOG|-]",
		Short: "Write a session as JSON or text",
		Args:  maxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			write, ok := exporters[strings.ToLower(strings.TrimSpace(format))]
			if !ok {
				return usagef("", "unknown format %q: name json or text", format)
			}
			return a.export(args, runID, output, write)
		},
	}
	c.Flags().StringVarP(&format, "format", "T", "json", "json or text")
	c.Flags().StringVarP(&output, "output", "o", "-", "file to write, - for standard output")
	addRun(c, &runID)
	return c
}

func (a *app) export(args []string, runID, output string, write func(io.Writer, export.Log, export.Options) error) error {
	targets, run, err := a.targets(args, runID)
	if err != nil {
		return err
	}
	in, err := a.openExport(targets, run)
	if err != nil {
		return err
	}
	defer in.Close()
	defer a.onInterrupt(nil)()
	var own []ownSession
	o := export.Options{Now: a.env.Now(), Live: in.isLive, Select: in.wants, Judge: a.newJudge(judge.Options{}), Trace: traceOf(run)}
	if run != nil {
		o.Run = export.NewRun(run, o.Now)
	}
	o.Runs = func(all []session.Header) map[int][]export.RunPart {
		own = ownOf(in, all)
		return a.partsOf(in, all)
	}
	err = a.writeOutput(output, in.paths, func(w io.Writer) error { return write(w, in, o) })
	switch {
	case errors.Is(err, export.ErrNothing) && in.pick != 0:
		return usagef("mcpsnoop sessions lists them", "no session %d in %q", in.pick, in.name())
	case errors.Is(err, export.ErrNothing):
		return usagef("", "%w", err)
	case errors.Is(err, capture.ErrEmpty), errors.Is(err, capture.ErrNoCapture):
		return unreadable(err)
	case err == nil && run == nil:
		a.tellRuns("export", own)
	}
	return err
}

// openExport opens what is to be exported: one log, or those of a run.
func (a *app) openExport(targets []target, run *run.Run) (*input, error) {
	if run != nil {
		return a.openRun(targets)
	}
	return a.openTarget(targets[0], true)
}

// first returns the argument of a command that takes at most one.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
