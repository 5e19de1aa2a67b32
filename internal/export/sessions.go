package export

import (
	"strings"
	"time"

	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/view"
)

// SessionList is the JSON of "sessions": the newest beginning first.
type SessionList struct {
	Version  int             `json:"version"`
	Sessions []ListedSession `json:"sessions"`
}

// ListedSession is a session in a list.
type ListedSession struct {
	ID            string         `json:"id"`
	Label         string         `json:"label"`
	Transport     string         `json:"transport"`
	State         string         `json:"state"`
	Client        string         `json:"client"` // as it calls itself
	ClientProcess *ClientProcess `json:"client_process,omitempty"`
	Server        string         `json:"server"`
	Revision      string         `json:"revision"`
	First         *time.Time     `json:"first"`
	Last          *time.Time     `json:"last"`
	Frames        int            `json:"frames"`
	Calls         int            `json:"calls"`
	Requests      int            `json:"requests"`
	Responses     int            `json:"responses"`
	Notifications int            `json:"notifications"`
	Errors        int            `json:"errors"`
	Invalid       int            `json:"invalid"`
	Pending       int            `json:"pending"`
	LateResults   int            `json:"late_results"`
	Incomplete    int            `json:"incomplete"`
	Findings      *int           `json:"findings"` // null where nobody has judged it
	Runs          []RunPart      `json:"runs"`     // that it is part of
}

// NewListedSession returns the JSON of a session; live says that it is being recorded.
func NewListedSession(h *session.Header, live bool, findings *int, runs []RunPart) ListedSession {
	c := &h.Counts
	return ListedSession{
		ID: h.ID, Label: h.Label, Transport: h.Transport.String(), State: view.State(h, live),
		Client: selfName(h.Client), ClientProcess: newClientProcess(h), Server: selfName(h.Server), Revision: h.RevisionText,
		First: moment(h.First.Wall), Last: moment(h.Last.Wall),
		Frames: c.Frames, Calls: c.Calls, Requests: c.Requests, Responses: c.Responses,
		Notifications: c.Notifications, Errors: c.Errors, Invalid: c.Invalid,
		Pending: c.Pending, LateResults: c.Late, Incomplete: c.Incomplete(), Findings: findings, Runs: append([]RunPart{}, runs...),
	}
}

// selfName is what a peer calls itself, "" if it never said.
func selfName(p session.Peer) string { return strings.TrimSpace(p.Name + " " + p.Version) }

// newClientProcess is the process that started the tap, nil if that was not recorded.
func newClientProcess(h *session.Header) *ClientProcess {
	p := h.Start.Client
	if p == nil {
		return nil
	}
	c := &ClientProcess{Host: p.Host, PID: p.PID, Start: p.Start, Name: p.Name, Weak: run.WeakClient(p)}
	for _, a := range p.Ancestors {
		c.Ancestors = append(c.Ancestors, Process(a))
	}
	return c
}
