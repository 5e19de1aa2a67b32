package view

import (
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// This file is the one place that says which colour a thing has. None stands alone:
// each has a word or a mark too.

// Roles of what has no status.
const (
	RoleLost   = term.Warn // the record lacks something
	RolePassed = term.OK   // the verdict of a check
	RoleFailed = term.Err
)

// Role returns the role of the word.
func (s Status) Role() term.Role {
	switch s {
	case StatusOK, StatusDone:
		return term.OK
	case StatusError, StatusToolError, StatusBad, StatusFailed:
		return term.Err
	case StatusPending, StatusNoAnswer, StatusAbandoned, StatusStream, StatusInput, StatusWorking:
		return term.Run
	case StatusCancel, StatusLate, StatusDuplicate, StatusUnmatched, StatusSuperseded, StatusStale, StatusStopped:
		return term.Warn
	case StatusRefused:
		return term.Dim
	}
	return term.Text
}

// signalRoles are the roles of the signals of a check, by name.
var signalRoles = map[string]term.Role{
	"error": term.Err, "invalid": term.Err,
	"warn": term.Find, "mismatch": term.Find, "schema": term.Find, "args": term.Find, "output": term.Find,
	"should": term.Warn, "late-result": term.Warn, "drift": term.Warn, "deprecated": term.Warn, "incomplete": term.Warn,
	"pending": term.Run,
}

// SignalRole returns the role of a signal, by its name.
func SignalRole(name string) term.Role { return signalRoles[name] }

// stateRole is the role of where a session stands: what it left open counts, then how
// it ended.
func stateRole(h *session.Header, live bool) term.Role {
	switch {
	case live:
		return term.Run
	case h.End != nil && abnormal(h.End):
		return term.Err
	case h.End == nil && (h.Counts.Torn > 0 || h.Start.Format > 0):
		return term.Warn
	case h.Counts.Pending > 0:
		return term.Run
	}
	return term.Text
}

// errorsRole is the role of a number of errors.
func errorsRole(n int) term.Role {
	if n > 0 {
		return term.Err
	}
	return term.Text
}
