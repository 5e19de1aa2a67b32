// Package run puts the sessions of one agent run together, by what was observed and
// nothing else: a trace id that requests carried, or the client process that started
// the taps.
package run

import (
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// Session is what grouping needs to know of a session. It has no text of messages.
type Session struct {
	ID       string    `json:"id"`
	Tap      string    `json:"tap"` // id of the tap, the same for all sessions of one log of ours
	Label    string    `json:"label"`
	HTTP     bool      `json:"http,omitempty"`
	First    time.Time `json:"first"` // of its frames, by the wall clock
	Last     time.Time `json:"last"`
	Counts   Counts    `json:"counts"`
	Traces   []Trace   `json:"traces,omitempty"`   // in order of their first request
	Client   *Client   `json:"client,omitempty"`   // nil over HTTP and where the recorder wrote none
	Findings *int      `json:"findings,omitempty"` // nil where nobody has judged it
}

// Counts are those of a session, or of a part of it.
type Counts struct {
	Calls     int `json:"calls"`
	Requests  int `json:"requests"`
	Responses int `json:"responses"`
	Errors    int `json:"errors"`
}

// add adds others.
func (c *Counts) add(o Counts) {
	c.Calls += o.Calls
	c.Requests += o.Requests
	c.Responses += o.Responses
	c.Errors += o.Errors
}

// Trace is a trace id that requests of a session carried in params._meta.traceparent,
// with what belongs to it.
type Trace struct {
	ID     string    `json:"id"` // 32 lower-case hex digits
	Counts Counts    `json:"counts"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
}

// Client is the process that started a tap, as the tap recorded it.
type Client struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Start string `json:"start"` // compared as it stands, and no time
	Name  string `json:"name,omitempty"`
	Weak  string `json:"weak,omitempty"` // why it groups nothing; "" if it does
}

// Of returns what grouping needs to know of a session.
func Of(h *session.Header) Session {
	s := Session{
		ID: h.ID, Tap: h.Tap, Label: h.Label, HTTP: h.Transport == capture.HTTP, First: h.First.Wall, Last: h.Last.Wall,
		Counts: Counts{h.Counts.Calls, h.Counts.Requests, h.Counts.Responses, h.Counts.Errors},
	}
	for i := range h.Traces {
		t := &h.Traces[i]
		s.Traces = append(s.Traces, Trace{
			ID: t.ID.String(), Counts: Counts{t.Calls, t.Requests, t.Responses, t.Errors}, First: t.First.Wall, Last: t.Last.Wall,
		})
	}
	if c := h.Start.Client; c != nil && !s.HTTP { // an HTTP tap serves whoever connects
		s.Client = &Client{Host: c.Host, PID: c.PID, Start: c.Start, Name: c.Name, Weak: WeakClient(c)}
	}
	return s
}

// WeakClient says why a client's identity ties nothing together, "" if it may: what
// its recorder says, and whatever it lacks.
func WeakClient(c *capture.Client) string {
	switch {
	case c.Weak != "":
		return c.Weak
	case c.Host == "":
		return "its host was not recorded"
	case c.PID <= 0:
		return "its process id was not recorded"
	case c.Start == "":
		return "its start was not recorded"
	}
	return ""
}
