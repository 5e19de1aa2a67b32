package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/statedir"
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
	list, err := a.readAll(dir)
	if err != nil {
		return err
	}
	if asJSON {
		return a.sessionsJSON(list)
	}
	if len(list) == 0 {
		a.note("no session in %q", dir.Sessions())
		return nil
	}
	return a.print(view.Sessions(list, a.env.Now()))
}

// readAll folds every log of the directory, newest start first. Logs that cannot be
// read are named on stderr and left out.
func (a *app) readAll(dir statedir.Dir) ([]view.SessionRow, error) {
	listing, err := dir.List()
	if err != nil {
		return nil, unreadable(err) // as when a session is looked for in it
	}
	for _, problem := range listing.Problems {
		a.note("%v", problem)
	}
	bar := term.NewProgress(a.env.Stderr, a.env.Getenv)
	defer bar.Clear()
	var list []view.SessionRow
	for i := range listing.Logs {
		bar.Show(func() string { return fmt.Sprintf("reading log %d of %d", i+1, len(listing.Logs)) })
		found, err := headers(&listing.Logs[i])
		if err != nil {
			bar.Clear()
			a.note("%v", err)
		}
		list = append(list, found...)
	}
	view.SortSessions(list)
	return list, nil
}

// headers folds one log of the state directory.
func headers(e *statedir.Entry) ([]view.SessionRow, error) {
	log, err := capture.OpenLog(capture.Options{Decoder: foreign.NewDecoder}, e.Paths...)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r := session.New(session.Options{})
	if err := session.Fold(log, r, nil); err != nil {
		return nil, err
	}
	state, _ := e.State()
	list := make([]view.SessionRow, r.Len())
	for i := range list {
		list[i] = view.SessionRow{Header: r.Header(i), Live: state == statedir.Live}
	}
	return list, nil
}

// sessionJSON is one session of "sessions --json".
type sessionJSON struct {
	ID            string     `json:"id"`
	Label         string     `json:"label"`
	Transport     string     `json:"transport"`
	State         string     `json:"state"`
	Client        string     `json:"client"`
	Server        string     `json:"server"`
	Revision      string     `json:"revision"`
	First         *time.Time `json:"first"`
	Last          *time.Time `json:"last"`
	Frames        int        `json:"frames"`
	Calls         int        `json:"calls"`
	Requests      int        `json:"requests"`
	Responses     int        `json:"responses"`
	Notifications int        `json:"notifications"`
	Errors        int        `json:"errors"`
	Invalid       int        `json:"invalid"`
	Pending       int        `json:"pending"`
	LateResults   int        `json:"late_results"`
	Incomplete    int        `json:"incomplete"`
}

func (a *app) sessionsJSON(list []view.SessionRow) error {
	doc := struct {
		Version  int           `json:"version"`
		Sessions []sessionJSON `json:"sessions"`
	}{Version: 1, Sessions: []sessionJSON{}}
	for i := range list {
		s := &list[i].Header
		doc.Sessions = append(doc.Sessions, sessionJSON{
			ID: s.ID, Label: s.Label, Transport: s.Transport.String(), State: view.State(s, list[i].Live),
			Client: name(s.Client), Server: name(s.Server), Revision: s.RevisionText,
			First: utc(s.First.Wall), Last: utc(s.Last.Wall),
			Frames: s.Counts.Frames, Calls: s.Counts.Calls, Requests: s.Counts.Requests, Responses: s.Counts.Responses,
			Notifications: s.Counts.Notifications, Errors: s.Counts.Errors, Invalid: s.Counts.Invalid,
			Pending: s.Counts.Pending, LateResults: s.Counts.Late, Incomplete: s.Counts.Incomplete(),
		})
	}
	out := json.NewEncoder(a.jsonOut())
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(&doc)
}

// name is what a peer calls itself, "" if it never said.
func name(p session.Peer) string {
	if p.Version == "" {
		return p.Name
	}
	return p.Name + " " + p.Version
}

// utc is a time as JSON has it, null for none.
func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
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
