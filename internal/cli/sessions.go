package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/export"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

func (a *app) sessionsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"ls"},
		Short:   "List the recorded sessions, newest first",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.sessions(asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) sessions(asJSON bool) error {
	defer a.onInterrupt(nil)()
	dir, err := a.state()
	if err != nil {
		return err
	}
	r, err := a.recordings(dir)
	if err != nil {
		return err
	}
	parts := export.NewRunParts(r.runs)
	rows := make([]view.SessionRow, len(r.list))
	doc := export.SessionList{Version: export.FormatVersion, Sessions: make([]export.ListedSession, 0, len(rows))}
	for i := range rows {
		one := &r.list[i]
		rows[i] = view.SessionRow{Header: one.header, Live: one.log.Live, Findings: one.facts.Findings, Index: i}
		for _, part := range parts[i] {
			rows[i].Runs = append(rows[i].Runs, part.ID)
		}
	}
	view.SortSessions(rows)
	switch {
	case asJSON:
		for i := range rows {
			s := &rows[i]
			doc.Sessions = append(doc.Sessions, export.NewListedSession(s.Header, s.Live, s.Findings, parts[s.Index]))
		}
		return a.printJSON(&doc)
	case len(rows) == 0:
		a.note("no session in %q", dir.Sessions())
		return nil
	}
	return a.print(view.Sessions(rows, a.env.Now()))
}

// print writes a table, cut to the terminal if there is one.
func (a *app) print(t *view.Table) error {
	columns, _, _ := term.Size(a.env.Stdout)
	for _, line := range t.Paint(columns, a.palette()) {
		if _, err := a.env.Stdout.WriteString(line + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// parseSeq reads the number of a frame.
func parseSeq(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, usagef("frames are numbered as tail and check name them", "no frame number: %q", s)
	}
	return n, nil
}
