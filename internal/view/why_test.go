package view

import (
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// at is a moment of the tests' day, in seconds after its start.
func at(seconds float64) session.Instant {
	d := time.Duration(seconds*1000+.5) * time.Millisecond
	return session.Instant{Wall: time.Date(2026, 11, 30, 19, 41, 52, 0, time.UTC).Add(d), Mono: d}
}

func code(n int) *capture.EndInfo { return &capture.EndInfo{ExitCode: &n} }

func TestWhy(t *testing.T) {
	// A call asked of the server at second 2 of a session of our recorder.
	open := session.Call{Dir: capture.C2S, ID: "4", Method: "tools/call", Target: "reindex", Start: at(2), HasToken: true}
	live := session.Header{Start: capture.StartInfo{Format: 1}, Last: at(18)}
	ended := func(e *capture.EndInfo) session.Header {
		h := live
		h.End = e
		return h
	}
	with := func(c session.Call, change func(*session.Call)) session.Call {
		change(&c)
		return c
	}
	cancelled := with(open, func(c *session.Call) {
		c.State, c.HasToken = session.StateCancelled, false
		c.Cancel = &session.Cancel{At: at(7), Reason: "timeout"}
		c.End = at(7)
	})
	late := with(cancelled, func(c *session.Call) { c.Late, c.End = true, at(9.31) })
	asked := with(open, func(c *session.Call) {
		c.Legs = []session.Leg{{Asked: at(2), Answered: at(3), Response: capture.Ref{Seq: 7}, Input: true}}
	})
	server := session.Call{Dir: capture.S2C, ID: "0", Method: "roots/list", Start: at(2)}

	for name, c := range map[string]struct {
		call session.Call
		head session.Header
		e    Evidence
		want string
	}{
		"progress": {
			with(open, func(c *session.Call) {
				c.LastSign, c.Progress = at(16), &session.Progress{Value: 31, Total: 50}
			}), live, Evidence{},
			"with the server: still working, last sign 2s ago (progress 31/50)",
		},
		"stderr only": {
			with(open, func(c *session.Call) { c.LastSign = at(18) }), live, Evidence{Stderr: at(18)},
			"with the server: still working, last sign 0s ago",
		},
		"silent": {open, live, Evidence{}, "with the server: silent for 16.0s"},
		"went on talking": {
			with(open, func(c *session.Call) { c.LastSign = at(16) }), ended(code(0)),
			Evidence{Others: 14, Ended: true, EndedAt: at(18)},
			"never answered: the server sent 14 other frames afterwards\n• the server exited with code 0 at +16.0s",
		},
		"upstream's logs have no end": {
			with(open, func(c *session.Call) { c.LastSign = at(16) }), session.Header{Last: at(18)}, Evidence{Others: 1},
			"never answered: the server sent 1 other frame afterwards",
		},
		"crashed": {
			open, ended(code(1)), Evidence{Ended: true, EndedAt: at(2.31)},
			"nobody left to answer: server exited with code 1, 310ms after the request",
		},
		"killed": {
			with(open, func(c *session.Call) { c.LastSign = at(3) }), ended(&capture.EndInfo{Signal: "SIGKILL"}),
			Evidence{Ended: true, EndedAt: at(214.4)},
			"nobody left to answer: server was ended by SIGKILL, 3m32s after the request\n• its last sign of life was at +1.00s",
		},
		"silent to a regular end": {
			with(open, func(c *session.Call) { c.LastSign = at(2.3) }), ended(code(0)),
			Evidence{Ended: true, EndedAt: at(18), Stderr: at(2.3)},
			"with the server: silent for 15.7s, until it exited with code 0\n• the server was alive meanwhile: stderr at +300ms",
		},
		"late": {
			late, live, Evidence{Stderr: at(2.5)},
			"with the server: it had the call for 7.31s, the client waited 5.00s\n" +
				"• the answer exists: it came 2.31s after the client had given up\n" +
				"• no progressToken was sent, so progress could not extend the client's limit\n" +
				"• the server was alive meanwhile: stderr at +500ms\n" +
				"try: send a progressToken, or raise the client's limit above 7.31s",
		},
		"late with a token": {
			with(late, func(c *session.Call) { c.HasToken = true }), live, Evidence{},
			"with the server: it had the call for 7.31s, the client waited 5.00s\n" +
				"• the answer exists: it came 2.31s after the client had given up\n" +
				"try: raise the client's limit above 7.31s",
		},
		"cancelled for good": {
			cancelled, live, Evidence{},
			"cancelled by the client after 5.00s; no answer came\n" +
				"• no progressToken was sent, so progress could not extend the client's limit",
		},
		"asked for input": {asked, live, Evidence{Asks: []string{"city"}}, `with the client: asked for "city" 15.0s ago, no retry yet`},
		"input never came": {
			with(asked, func(c *session.Call) { c.State, c.End = session.StateAbandoned, at(5) }), live, Evidence{},
			"with the client: asked for input 2.00s before it left, no answer came",
		},
		"server's request": {server, live, Evidence{}, "with the client: asked roots/list 16.0s ago, no answer yet"},
		"server's request, client gone": {
			with(server, func(c *session.Call) { c.State, c.End = session.StateAbandoned, at(5) }), live, Evidence{},
			"with the client: asked roots/list 3.00s before it left, no answer came",
		},
		"stream cut by an idle limit": {
			with(open, func(c *session.Call) {
				c.Cut = &session.Cut{At: at(127), Silent: 125 * time.Second, By: session.ByUpstream}
			}), live, Evidence{},
			"cut: the stream closed after 125s without a byte\n• 125s is a known idle limit (60, 125, 300)\n" +
				"try: send something on the stream more often: progress, or comments as keep-alives",
		},
		"stream closed by the client": {
			with(open, func(c *session.Call) { c.Cut = &session.Cut{At: at(12), Silent: time.Second, By: session.ByClient} }), live, Evidence{},
			"cut: the client closed the stream after 10s",
		},
		"stream closed before the answer": {
			with(open, func(c *session.Call) { c.Cut = &session.Cut{At: at(4), Silent: time.Second, By: session.ByServer} }), live, Evidence{},
			"cut: the stream closed after 2.00s, before the answer",
		},
		"given up by closing the stream": {
			with(open, func(c *session.Call) {
				c.State, c.HasToken, c.Cancel = session.StateCancelled, true, &session.Cancel{At: at(5), Closed: true}
			}), live, Evidence{},
			"cancelled by the client after 3.00s: it closed the stream; no answer came",
		},
		"id used again": {
			with(open, func(c *session.Call) { c.State, c.End = session.StateSuperseded, at(3.5) }), live, Evidence{},
			"never answered: the client used the id again 1.50s later",
		},
		"slept, and frames lost": {
			open, live, Evidence{Lost: 1204, Jumps: []capture.ClockInfo{{Wall: 8*time.Hour + 3*time.Minute}, {Wall: 0, Mono: 3 * time.Second}}},
			"with the server: silent for 16.0s\n• the machine slept 8h03m meanwhile, not counted\n• the clock stepped by -3s\n" +
				"• 1,204 frames are missing from the record since the request: what is looked for may be among them",
		},
	} {
		why, ok := WhyOf(&c.call, SceneOf(&c.head), c.e)
		if !ok {
			t.Errorf("%s: nothing to say", name)
			continue
		}
		lines := []string{why.First}
		for _, b := range why.Bullets {
			lines = append(lines, "• "+b)
		}
		if why.Try != "" {
			lines = append(lines, "try: "+why.Try)
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
	if _, ok := WhyOf(&session.Call{State: session.StateCompleted}, Scene{}, Evidence{}); ok {
		t.Error("a call that was answered in time is explained")
	}
}
