package cli

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/judge"
)

// exporters are the formats of export, by name.
var exporters = map[string]func(io.Writer, export.Log, export.Options) error{
	"json": export.JSON,
	"text": export.Text,
}

func (a *app) exportCommand() *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use:   "export [SESSION|LOG|-]",
		Short: "Write a session as JSON or text",
		Args:  maxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			write, ok := exporters[strings.ToLower(strings.TrimSpace(format))]
			if !ok {
				return usagef("", "unknown format %q: name json or text", format)
			}
			return a.export(first(args), output, write)
		},
	}
	c.Flags().StringVarP(&format, "format", "T", "json", "json or text")
	c.Flags().StringVarP(&output, "output", "o", "-", "file to write, - for standard output")
	return c
}

func (a *app) export(arg, output string, write func(io.Writer, export.Log, export.Options) error) error {
	in, err := a.open(arg, true)
	if err != nil {
		return err
	}
	defer in.Close()
	defer a.onInterrupt(nil)()
	err = a.writeOutput(output, in.paths, func(w io.Writer) error {
		return write(w, in, export.Options{Now: a.env.Now(), Live: in.live, Select: in.pick.ofTap, Judge: a.newJudge(judge.Options{})})
	})
	switch {
	case errors.Is(err, export.ErrNothing) && in.pick != 0:
		return usagef("mcpsnoop sessions lists them", "no session %d in %q", in.pick, in.name())
	case errors.Is(err, export.ErrNothing):
		return usagef("", "%w", err)
	case errors.Is(err, capture.ErrEmpty), errors.Is(err, capture.ErrNoCapture):
		return unreadable(err)
	}
	return err
}

// first returns the argument of a command that takes at most one.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
