package run

import (
	"fmt"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/tracectx"
)

func TestParents(t *testing.T) {
	agent := &capture.Client{Host: here, PID: 10}
	headers := []*session.Header{
		{Start: capture.StartInfo{Host: here, ServerPID: 20, Client: agent}},
		{Start: capture.StartInfo{Host: here, ServerPID: 30, Client: agent}},
		{Start: capture.StartInfo{Host: here, ServerPID: 40, Client: &capture.Client{Host: here, PID: 25, Ancestors: []capture.Process{{PID: 20}}}}},
		{Start: capture.StartInfo{Host: "another", ServerPID: 50, Client: &capture.Client{Host: "another", PID: 20}}},
	}
	call := func(member int, dir capture.Dir, index int32, trace, span byte, from, to int) Timed {
		c := &session.Call{Dir: dir, Index: index, Within: -1}
		if trace != 0 {
			c.Trace, c.Span = tracectx.TraceID{trace}, tracectx.SpanID{span}
		}
		return Timed{member, c, at(from), at(to)}
	}
	within := call(0, capture.S2C, 2, 0, 0, 2, 3)
	within.Call.Within = 0
	for _, c := range []struct {
		name string
		list []Timed
		want string
	}{
		{"one span for all of a client's calls", []Timed{call(0, capture.C2S, 0, 1, 1, 0, 9), call(0, capture.C2S, 1, 1, 1, 1, 9), call(1, capture.C2S, 0, 1, 1, 2, 9)}, "[-1 -1 -1] [0 0 0]"},
		{"the server asks within the span", []Timed{call(0, capture.C2S, 0, 1, 1, 0, 9), call(0, capture.S2C, 1, 1, 1, 1, 2), call(0, capture.S2C, 2, 1, 2, 1, 2)}, "[-1 0 -1] [0 1 0]"},
		{"a server that is a client", []Timed{call(0, capture.C2S, 0, 1, 1, 0, 9), call(2, capture.C2S, 0, 1, 1, 1, 5), call(2, capture.S2C, 1, 1, 1, 2, 3)}, "[-1 0 1] [0 1 2]"},
		{"when the call is over", []Timed{call(0, capture.C2S, 0, 1, 1, 0, 1), call(2, capture.C2S, 0, 1, 1, 2, 5)}, "[-1 -1] [0 0]"},
		{"another trace", []Timed{call(0, capture.C2S, 0, 1, 1, 0, 9), call(2, capture.C2S, 0, 2, 1, 2, 5)}, "[-1 -1] [0 0]"},
		{"another host", []Timed{call(0, capture.C2S, 0, 1, 1, 0, 9), call(3, capture.C2S, 0, 1, 1, 2, 5)}, "[-1 -1] [0 0]"},
		{"two could be meant", []Timed{call(0, capture.C2S, 0, 1, 1, 0, 9), call(0, capture.C2S, 1, 1, 1, 0, 9), call(2, capture.C2S, 0, 1, 1, 2, 5)}, "[-1 -1 -1] [0 0 0]"},
		{"no trace", []Timed{call(0, capture.C2S, 0, 0, 0, 0, 9), call(0, capture.S2C, 1, 0, 0, 1, 2), within}, "[-1 -1 0] [0 0 1]"},
	} {
		parents := Parents(headers, c.list)
		if got := fmt.Sprint(parents, Depths(parents)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
