package view

import (
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

func TestHTTPText(t *testing.T) {
	for want, f := range map[string]capture.Frame{
		"GET /mcp?a=b last-event-id=\"7\" exchange=3": {
			Dir: capture.Meta, Kind: capture.HTTPHead, Exchange: 3,
			HTTP: &capture.HTTPFacts{Verb: "GET", Path: "/mcp", Query: "a=b", Request: map[string]string{"last-event-id": "7"}},
		},
		"stream open HTTP 200 exchange=3":                 {Dir: capture.Meta, Kind: capture.Open, Exchange: 3, HTTP: &capture.HTTPFacts{Status: 200}},
		"event id=\"7\" retry=3000ms":                     {Dir: capture.Meta, Kind: capture.HTTPHead, HTTP: &capture.HTTPFacts{SSE: &capture.SSEEvent{ID: "7", Retry: 3000}}},
		"event endpoint /messages?s=1":                    {Dir: capture.Meta, Kind: capture.HTTPHead, HTTP: &capture.HTTPFacts{SSE: &capture.SSEEvent{Event: "endpoint", Data: "/messages?s=1"}}},
		"event endpoint http://s/m sent on as http://t/m": {Dir: capture.Meta, Kind: capture.HTTPHead, HTTP: &capture.HTTPFacts{SSE: &capture.SSEEvent{Event: "endpoint", Data: "http://s/m", Rewritten: "http://t/m"}}},
		"comment \"keep-alive\"":                          {Dir: capture.Meta, Kind: capture.HTTPHead, HTTP: &capture.HTTPFacts{SSE: &capture.SSEEvent{Comment: "keep-alive"}}},
		"closed by client exchange=3":                     {Dir: capture.Meta, Kind: capture.Close, Exchange: 3, HTTP: &capture.HTTPFacts{ClosedBy: "client"}},
		"closed by upstream reset":                        {Dir: capture.Meta, Kind: capture.Close, HTTP: &capture.HTTPFacts{ClosedBy: "upstream", Error: "reset"}},
	} {
		var l Liner
		if lines := l.Lines(&f, &session.Step{}); len(lines) != 1 || lines[0].Text != want {
			t.Errorf("got %+v, want %q", lines, want)
		}
	}
	status := func(status int, facts capture.HTTPFacts) string {
		facts.Status = status
		f := capture.Frame{Dir: capture.S2C, Transport: capture.HTTP, Kind: capture.HTTPHead, HTTP: &facts}
		r := session.New(session.Options{})
		st := r.Apply(&f, capture.Ref{})
		var l Liner
		return l.Lines(&f, &st)[0].Text
	}
	for want, got := range map[string]string{
		"HTTP 202": status(202, capture.HTTPFacts{}),
		"HTTP 401 www-authenticate=\"Bearer, Basic\" err": status(401, capture.HTTPFacts{Response: map[string]string{"www-authenticate": "Bearer, Basic"}}),
		"HTTP 502: dial tcp: refused err":                 status(502, capture.HTTPFacts{Error: "dial tcp: refused"}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHTTPFacts(t *testing.T) {
	f := capture.Frame{Exchange: 3, Conn: "127.0.0.1:5", MCPSession: "S", HTTP: &capture.HTTPFacts{
		Verb: "POST", Path: "/mcp", Request: map[string]string{"b": "2", "a": "1\x1b"}, ClosedBy: "server",
		SSE: &capture.SSEEvent{ID: "7"},
	}}
	want := "POST /mcp|a: 1\\u{1b}|b: 2|event id=\"7\"|closed by: server|exchange 3, connection 127.0.0.1:5, MCP session S"
	if got := strings.Join(HTTPFacts(&f), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := HTTPFacts(&capture.Frame{}); got != nil {
		t.Errorf("stdio: %q", got)
	}
}

func TestHTTPFailure(t *testing.T) {
	var w Witness
	r := session.New(session.Options{})
	said := ""
	for i, f := range []capture.Frame{
		{Dir: capture.Meta, Kind: capture.HTTPHead, Exchange: 1, HTTP: &capture.HTTPFacts{Verb: "POST", Path: "/mcp"}},
		{Dir: capture.C2S, Exchange: 1, Form: capture.Raw, Payload: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)},
		{Dir: capture.S2C, Kind: capture.HTTPHead, Exchange: 1, HTTP: &capture.HTTPFacts{Status: 502, Error: "dial tcp: refused"}},
	} {
		f.Transport, f.Seq = capture.HTTP, uint64(i+1)
		w.See(&f, r.Apply(&f, capture.Ref{}))
		if f.Status() >= 400 {
			said = w.HTTPFailure(&f)
		}
	}
	if want := "HTTP 502 to POST /mcp (seq 1): dial tcp: refused"; said != want {
		t.Errorf("got %q, want %q", said, want)
	}
	if n := len(w.heads); n != 1 {
		t.Errorf("%d heads", n)
	}
}
