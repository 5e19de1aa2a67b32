package view

import (
	"cmp"
	"slices"
	"time"

	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// SessionRow is a session in a list of sessions.
type SessionRow struct {
	Header   *session.Header
	Live     bool     // its recorder is at work
	Findings *int     // nil where nobody has judged it
	Runs     []string // ids of those that it is part of
	Index    int      // of whoever made the row
}

// SortSessions puts the newest start first: a start never changes, so rows stay.
// Equal ones stand by label, then by id.
func SortSessions(rows []SessionRow) {
	slices.SortStableFunc(rows, func(a, b SessionRow) int {
		return cmp.Or(
			b.Header.First.Wall.Compare(a.Header.First.Wall),
			cmp.Compare(a.Header.Label, b.Header.Label),
			cmp.Compare(a.Header.ID, b.Header.ID),
		)
	})
}

// Sessions lists sessions as seen at now.
func Sessions(rows []SessionRow, now time.Time) *Table {
	t := &Table{Columns: []Column{
		{Head: "SESSION"}, {Head: "CLIENT"}, {Head: "REVISION"}, {Head: "FRAMES", Right: true}, {Head: "CALLS", Right: true},
		{Head: "ERR", Right: true}, {Head: "FIND", Right: true}, {Head: "LAST"}, {Head: "STATE"}, {Head: "RUN"},
	}}
	judged, grouped := false, false
	for i := range rows {
		h := rows[i].Header
		t.Rows = append(t.Rows, []string{
			SessionID(h.ID), Peer(h.Client), revision(h), Count(int64(h.Counts.Frames)), Count(int64(h.Counts.Calls)),
			Count(int64(h.Counts.Errors)), Found(rows[i].Findings), Moment(h.Last.Wall, now), stateOpen(h, rows[i].Live), runCell(rows[i].Runs),
		})
		t.Roles = append(t.Roles, map[int]term.Role{
			5: errorsRole(h.Counts.Errors), 6: findingsRole(rows[i].Findings), 8: stateRole(h, rows[i].Live),
		})
		judged, grouped = judged || rows[i].Findings != nil, grouped || len(rows[i].Runs) > 0
	}
	if !grouped {
		t.drop(9)
	}
	if !judged {
		t.drop(6)
	}
	return t
}

// runCell names the runs that a session is part of.
func runCell(ids []string) string {
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return ids[0]
	}
	return ids[0] + " +" + Count(int64(len(ids)-1))
}

// stateOpen adds to the state of a session that is over what it left open.
func stateOpen(h *session.Header, live bool) string {
	state := State(h, live)
	if !live && h.Counts.Pending > 0 {
		state += " · " + Count(int64(h.Counts.Pending)) + " open"
	}
	return state
}

func revision(h *session.Header) string {
	if h.RevisionText == "" {
		return Nothing
	}
	return cut(h.RevisionText)
}
