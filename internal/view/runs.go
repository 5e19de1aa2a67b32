package view

import (
	"strconv"
	"time"

	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// RunLabel says what ties the sessions of a run together: "trace 70289e6fadb5", "client
// 97001 since 19:20". A process is no conversation, and is not called one.
func RunLabel(r *run.Run, now time.Time) string {
	if r.Kind == run.ByTrace {
		_, digits, _ := cutKind(r.ID)
		return "trace " + digits
	}
	return "client " + strconv.Itoa(r.Client.PID) + " since " + minute(r.First, now)
}

func cutKind(id string) (kind, rest string, ok bool) {
	for i := range len(id) {
		if id[i] == ':' {
			return id[:i], id[i+1:], true
		}
	}
	return "", id, false
}

// minute formats a moment to the minute as seen at now, with the date where that is not
// today.
func minute(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if SameDay(t, now) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// Runs lists runs as seen at now.
func Runs(runs []run.Run, now time.Time) *Table {
	t := &Table{Columns: []Column{
		{Head: "RUN"}, {Head: "KEY"}, {Head: "FIRST"}, {Head: "LAST"}, {Head: "SESSIONS", Right: true}, {Head: "CALLS", Right: true},
		{Head: "ERR", Right: true},
	}}
	judged := false
	for i := range runs {
		judged = judged || runs[i].Findings != nil
	}
	if judged {
		t.Columns = append(t.Columns, Column{Head: "FIND", Right: true})
	}
	for i := range runs {
		r := &runs[i]
		row := []string{
			r.ID, RunLabel(r, now), Moment(r.First, now), Moment(r.Last, now), Count(int64(len(r.Members))),
			Count(int64(r.Counts.Calls)), Count(int64(r.Counts.Errors)),
		}
		roles := map[int]term.Role{6: errorsRole(r.Counts.Errors)}
		if judged {
			row = append(row, Found(r.Findings))
			roles[7] = findingsRole(r.Findings)
		}
		t.Rows, t.Roles = append(t.Rows, row), append(t.Roles, roles)
	}
	return t
}

// Found is how many findings there are, where somebody has judged.
func Found(n *int) string {
	if n == nil {
		return Nothing
	}
	return Count(int64(*n))
}

func findingsRole(n *int) term.Role {
	if n != nil && *n > 0 {
		return term.Find
	}
	return term.Text
}

// RunSession is a session as part of a run that is looked at.
type RunSession struct {
	Header   *session.Header
	Live     bool
	Shared   bool       // it is part of other runs too
	Counts   run.Counts // that belong to the run
	Findings int
}

// Name is the shortest name of a session: its label, and its number where its tap
// holds several.
func (s *RunSession) Name() string { return cut(s.Header.Label + s.Header.ID[len(s.Header.Tap):]) }

// runHead words what a run is and how it stands.
func runHead(r *run.Run, sessions []RunSession, untraced int, now time.Time) string {
	live, findings := false, 0
	for i := range sessions {
		live = live || sessions[i].Live
		findings += sessions[i].Findings
	}
	calls := Plural(r.Counts.Calls, "call", "calls")
	if untraced > 0 {
		calls += " and " + Number(untraced) + " without trace id"
	}
	lasted := Duration(r.Last.Sub(r.First))
	if live {
		lasted = Duration(now.Sub(r.First)) + " so far"
	}
	return r.ID + "  " + RunLabel(r, now) + ": " + Plural(len(sessions), "session", "sessions") + ", " + calls + ", " +
		Plural(r.Counts.Errors, "error", "errors") + ", " + Plural(findings, "finding", "findings") + ", " + lasted
}

// runSessions lists the sessions of a run.
func runSessions(sessions []RunSession, p term.Palette) []string {
	t := &Table{Columns: make([]Column, 6)}
	digits := [3]int{}
	for i := range sessions {
		s := &sessions[i]
		for k, n := range []int{s.Counts.Calls, s.Counts.Errors, s.Findings} {
			digits[k] = max(digits[k], len(Number(n)))
		}
	}
	amount := func(k, n int, one, many string) string {
		text := Plural(n, one, many)
		return spaces(digits[k]-len(Number(n))) + text
	}
	for i := range sessions {
		s := &sessions[i]
		h := s.Header
		state := State(h, s.Live)
		if n := h.Counts.Pending; n > 0 {
			state += ", " + Number(n) + " pending"
		}
		if n := h.Counts.Late; n > 0 {
			state += ", " + Number(n) + " late"
		}
		if s.Shared {
			state += ", in other runs too"
		}
		t.Rows = append(t.Rows, []string{
			s.Name(), SessionID(h.ID), amount(0, s.Counts.Calls, "call", "calls"), amount(1, s.Counts.Errors, "error", "errors"),
			amount(2, s.Findings, "finding", "findings"), state,
		})
		t.Roles = append(t.Roles, map[int]term.Role{
			3: errorsRole(s.Counts.Errors), 4: findingsRole(&s.Findings), 5: stateRole(h, s.Live),
		})
	}
	lines := t.Paint(0, p)[1:]
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}
