package view

import (
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/session"
)

// said words one message as tail does.
func said(m session.Message, c *session.Call, payload string) string {
	f := capture.Frame{
		Label: "weather", Seq: m.Ref.Seq, Time: m.At.Wall, Dir: m.Dir, Kind: m.Frame, Transport: capture.Stdio,
		Payload: []byte(payload),
	}
	f.Form = capture.Classify(&f)
	if m.Dir == 0 {
		f.Dir = capture.S2C
	}
	if m.Size == 0 {
		m.Size = int64(len(payload) + 1)
	}
	m.Element = -1
	var l Liner
	lines := l.Lines(&f, &session.Step{Messages: []session.Message{m}, Calls: []*session.Call{c}})
	if len(lines) != 1 {
		return strings.Repeat("?", len(lines))
	}
	return lines[0].String()
}

func TestTail(t *testing.T) {
	radar := session.Call{
		Dir: capture.C2S, ID: "5", Method: "tools/call", Target: "radar", Start: at(4.5), State: session.StateCancelled, Late: true,
		Cancel: &session.Cancel{At: at(9.5), Reason: "timeout"}, End: at(11.81),
	}
	done := session.Call{Dir: capture.C2S, ID: `"x"`, Method: "tools/list", Start: at(1), State: session.StateCompleted}
	failed := session.Call{
		Dir: capture.C2S, ID: "6", Method: "resources/read", Target: "file:///a", Start: at(1), State: session.StateFailed,
		ErrorCode: -32002, ErrorText: "Resource not found",
	}
	tool := session.Call{
		Dir: capture.C2S, ID: "4", Method: "tools/call", Target: "read_file", Start: at(6.482), State: session.StateCompleted,
		ToolError: true, ErrorText: `ENOENT: no such file "notes.md"`,
	}
	reindex := session.Call{
		Dir: capture.C2S, ID: "4", Method: "tools/call", Target: "reindex", Start: at(2),
		Progress: &session.Progress{Seq: 9, Value: 31, Total: 50, Text: "phase\n2"},
	}
	for _, c := range []struct {
		m       session.Message
		call    *session.Call
		payload string
		want    string
	}{
		{
			session.Message{At: at(4.5), Dir: capture.C2S, Kind: jsonrpc.Request, ID: "5", Method: "tools/call", Target: "radar"}, &radar,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"radar","arguments":{ "zoom": 7, "tiles": 2048 }}}`,
			`19:41:56.500 weather → tools/call radar id=5 {"zoom":7,"tiles":2048}`,
		},
		{
			session.Message{At: at(9.5), Dir: capture.C2S, Kind: jsonrpc.Notification, Method: "notifications/cancelled", Outcome: session.OutcomeCancelled}, &radar,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"timeout"}}`,
			`19:42:01.500 weather → cancelled id=5 after=5.00s reason="timeout"`,
		},
		{
			session.Message{At: at(11.81), Dir: capture.S2C, Kind: jsonrpc.Response, ID: "5", Outcome: session.OutcomeLate, Size: 18842}, &radar, `{}`,
			`19:42:03.810 weather ← result radar id=5 late dur=7.31s 18.4K`,
		},
		{
			session.Message{At: at(1.003), Dir: capture.S2C, Kind: jsonrpc.Response, ID: `"x"`, Outcome: session.OutcomeOK, Size: 3072}, &done, `{}`,
			`19:41:53.003 weather ← result tools/list id="x" ok dur=3ms 3.0K`,
		},
		{
			session.Message{At: at(1.5), Dir: capture.S2C, Kind: jsonrpc.Response, ID: "6", Outcome: session.OutcomeError, Size: 99}, &failed, `{}`,
			`19:41:53.500 weather ← error file:///a id=6 err dur=500ms 99B -32002 "Resource not found"`,
		},
		{
			session.Message{At: at(6.484), Dir: capture.S2C, Kind: jsonrpc.Response, ID: "4", Outcome: session.OutcomeToolError, Size: 120}, &tool, `{}`,
			`19:41:58.484 weather ← result read_file id=4 tool err dur=2ms 120B ENOENT: no such file "notes.md"`,
		},
		{
			session.Message{Ref: capture.Ref{Seq: 9}, At: at(16), Dir: capture.S2C, Kind: jsonrpc.Notification, Method: "notifications/progress"}, &reindex,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":31,"total":50}}`,
			`19:42:08.000 weather ← progress reindex id=4 31/50 "phase\n2"`,
		},
		{
			session.Message{At: at(1), Dir: capture.C2S, Kind: jsonrpc.Notification, Method: "notifications/initialized"}, nil,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`19:41:53.000 weather → initialized`,
		},
		{
			session.Message{At: at(1), Dir: capture.C2S, Kind: jsonrpc.Request, ID: "7", Method: "resources/read", Target: "a://b"}, nil,
			`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"_meta":{"x":1},"uri":"a://b"}}`,
			`19:41:53.000 weather → resources/read a://b id=7`,
		},
		{
			session.Message{At: at(1), Dir: capture.S2C, Kind: jsonrpc.Response, ID: "9", Outcome: session.OutcomeUnmatched}, nil, `{"a":1}`,
			`19:41:53.000 weather ← result id=9 unmatched 8B`,
		},
		{
			session.Message{At: at(1), Dir: capture.Stderr, Outcome: session.NoOutcome}, nil, "cold \x1b[31mcache",
			`19:41:53.000 weather ┆ stderr cold \u{1b}[31mcache`,
		},
		{
			session.Message{At: at(1), Dir: capture.S2C, Outcome: session.OutcomeBad}, nil, "ready",
			`19:41:53.000 weather ← not MCP bad 6B "ready"`,
		},
		{session.Message{At: at(1), Dir: capture.C2S}, nil, "", `19:41:53.000 weather → blank line`},
		{
			session.Message{At: at(1), Dir: capture.S2C, Flags: capture.Truncated, Size: 64 << 20}, nil, `{"jsonrpc":`,
			`19:41:53.000 weather ← body 64.0M "{"jsonrpc":" cut: 11B kept of 64.0M`,
		},
		{
			session.Message{At: at(1), Dir: capture.S2C, Kind: jsonrpc.Odd, ID: "3"}, nil, `{"jsonrpc":"2.0","id":3}`,
			`19:41:53.000 weather ← message of no kind id=3 25B "{"jsonrpc":"2.0","id":3}"`,
		},
	} {
		if got := said(c.m, c.call, c.payload); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestGapsStandBeforeTheFrame(t *testing.T) {
	f := capture.Frame{Label: "files", Seq: 1292, Time: at(73).Wall, Dir: capture.Meta, Kind: capture.Gap}
	step := session.Step{Gaps: []session.GapNote{{Kind: session.Lost, Seq: 87, Gap: capture.GapInfo{Lost: 1204, First: 88, Last: 1291, Reason: "disk full"}}}}
	l := Liner{ASCII: true}
	lines := l.Lines(&f, &step)
	if len(lines) != 1 || lines[0].String() != "19:43:05.000 files - 1,204 frames lost: disk full, seq 88–1291 #" {
		t.Errorf("%v", lines)
	}
}

// TestGapsOfForgedNumbers: numbers of a log may be anything, and are never below 0.
func TestGapsOfForgedNumbers(t *testing.T) {
	for _, kind := range []session.GapKind{session.Lost, session.Hole} {
		for _, n := range []uint64{1 << 63, 1<<64 - 3, 1<<64 - 1} {
			got := Gap(&session.GapNote{Kind: kind, Gap: capture.GapInfo{Lost: n, First: 1, Last: n}})
			if want := Number(n) + " frames "; !strings.HasPrefix(got, want) || got[0] == '-' {
				t.Errorf("%d frames are %q, want %q", n, got, want)
			}
		}
	}
}

func TestNothingOfAPeerIsInterpreted(t *testing.T) {
	evil := "\x1b]0;x\x07\r\n\u202e\u0085" + strings.Repeat("y", 20_000)
	c := session.Call{
		ID: evil, Method: evil, Target: evil, ErrorText: evil, ToolError: true, Start: at(0), End: at(1),
		Cancel: &session.Cancel{Reason: evil, At: at(1)}, Progress: &session.Progress{Text: evil}, Task: &session.Task{Status: evil},
		Legs: []session.Leg{{Answered: at(1)}},
	}
	h := session.Header{
		ID: evil, Label: evil, RevisionText: evil, Client: session.Peer{Name: evil, Version: evil},
		End: &capture.EndInfo{Signal: evil}, First: at(0), Last: at(2),
	}
	var all []string
	for kind := jsonrpc.Invalid; kind <= jsonrpc.Odd; kind++ {
		for o := session.NoOutcome; o <= session.OutcomeStale; o++ {
			for _, payload := range []string{evil, `{"params":{"arguments":"` + strings.Repeat("\u202e\u007f", 5000) + `"}}`, `{"params":{"\u001b":"\u009b` + "\u009b" + `"}}`, "\xff\x1b"} {
				for _, method := range []string{evil, "notifications/cancelled", "notifications/progress"} {
					c.Method = method
					m := session.Message{At: at(1), Dir: capture.S2C, Kind: kind, Outcome: o, ID: evil, Method: method, Target: evil}
					all = append(all, said(m, &c, payload), said(m, nil, payload))
				}
			}
		}
	}
	all = append(all, (Sessions([]SessionRow{{Header: &h}}, time.Now())).Lines(0)...)
	for state := session.StatePending; state <= session.StateAbandoned; state++ {
		for _, dir := range []capture.Dir{capture.C2S, capture.S2C} {
			c.State, c.Dir = state, dir
			w, _ := WhyOf(&c, SceneOf(&h), Evidence{Asks: []string{evil}, Others: 3})
			all = append(append(all, w.First, w.Try, Call(&c), Failure(&c)), w.Bullets...)
		}
	}
	for kind := session.Lost; kind <= session.Stepped; kind++ {
		all = append(all, Gap(&session.GapNote{Kind: kind, Why: evil, Gap: capture.GapInfo{Reason: evil}}))
	}
	for kind := capture.Line; kind <= capture.Other; kind++ {
		f := capture.Frame{Label: evil, Dir: capture.Meta, Kind: kind, HTTP: &capture.HTTPFacts{
			Verb: evil, Path: evil, ClosedBy: evil, SSE: &capture.SSEEvent{Event: evil, Data: evil},
		}}
		var l Liner
		for _, line := range l.Lines(&f, &session.Step{}) {
			all = append(all, line.String())
		}
	}
	for _, s := range all {
		for _, r := range s {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Fatalf("%U in %.300q", r, s)
			}
		}
		if len(s) > 4000 {
			t.Fatalf("%d bytes: %.300q", len(s), s)
		}
	}
}

func TestState(t *testing.T) {
	for want, h := range map[string]session.Header{
		"exit 3":       {End: code(3)},
		"SIGKILL":      {End: &capture.EndInfo{Signal: "SIGKILL"}},
		"closed":       {End: &capture.EndInfo{}},
		"torn":         {Start: capture.StartInfo{Format: 1}},
		"no end frame": {},
	} {
		if got := State(&h, false); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := State(&h, true); got != "live" {
			t.Errorf("live: %q", got)
		}
	}
	torn := session.Header{Counts: session.Counts{Torn: 1}}
	http := session.Header{Transport: capture.HTTP}
	if State(&torn, false) != "torn" || State(&http, true) != "live http" {
		t.Error("torn or live http")
	}
}

func TestSessions(t *testing.T) {
	row := func(id, label string, start float64) SessionRow {
		return SessionRow{Header: &session.Header{ID: id, Label: label, First: at(start), Last: at(16), RevisionText: "2025-11-25", Client: session.Peer{Name: "demo-agent", Version: "1.0.0"}, Counts: session.Counts{Frames: 15, Calls: 4}}, Live: true}
	}
	rows := []SessionRow{row("files-97011-4be1c0d2a9f3", "files", 0), row("weather-97013-77c2e90b14aa", "weather", 5), row("memory-97012-1d0b6f3a55e8", "memory", 3)}
	SortSessions(rows)
	want := strings.Join([]string{
		"SESSION                     CLIENT            REVISION    FRAMES  CALLS  ERR  LAST      STATE",
		"weather-97013-77c2e90b14aa  demo-agent 1.0.0  2025-11-25      15      4    0  19:42:08  live",
		"memory-97012-1d0b6f3a55e8   demo-agent 1.0.0  2025-11-25      15      4    0  19:42:08  live",
		"files-97011-4be1c0d2a9f3    demo-agent 1.0.0  2025-11-25      15      4    0  19:42:08  live",
	}, "\n")
	if got := strings.Join(Sessions(rows, at(18).Wall).Lines(0), "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestNotMCP(t *testing.T) {
	for _, c := range []struct {
		f    capture.Frame
		want string
	}{
		{capture.Frame{Dir: capture.S2C, Payload: []byte("ready (2 roots)")}, `stdout line is not MCP: "ready (2 roots)"`},
		{capture.Frame{Dir: capture.C2S, Payload: []byte("42")}, `stdin line is not MCP: "42"`},
		{capture.Frame{Dir: capture.C2S, Transport: capture.HTTP, Payload: []byte("a=b")}, `HTTP request body is not MCP: "a=b"`},
		{capture.Frame{Dir: capture.S2C, Transport: capture.HTTP}, `HTTP answer is not MCP: it is blank`},
		{capture.Frame{Dir: capture.S2C, Payload: []byte("\ufeff{}")}, `stdout line is not MCP (byte-order mark U+FEFF before it): "\u{feff}{}"`},
		{capture.Frame{Dir: capture.S2C, Payload: []byte("{\x00}\x00\r\x00")}, `stdout line is not MCP (zero bytes between the letters, as in UTF-16): "{\u{0}}\u{0}\r\u{0}"`},
		{capture.Frame{Dir: capture.S2C, Payload: []byte(strings.Repeat("é", 5000))}, `stdout line is not MCP: "` + strings.Repeat("é", 199) + `…"`},
	} {
		if got := NotMCP(&c.f); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
