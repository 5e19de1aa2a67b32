package view

import (
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/run"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

var runStart = time.Date(2026, 11, 30, 19, 41, 52, 0, time.UTC)

func moment(after time.Duration) session.Instant {
	return session.Instant{Wall: runStart.Add(after), Mono: after}
}

// ran is a call of a run, from its start on for as long as it took.
func ran(server, method, target string, start, took time.Duration, change func(*session.Call)) RunCall {
	c := &session.Call{
		Dir: capture.C2S, Method: method, Target: target, State: session.StateCompleted, Start: moment(start), End: moment(start + took),
		Response: capture.Ref{Seq: 1}, Within: -1, TaskOf: -1,
	}
	if change != nil {
		change(c)
	}
	return RunCall{Server: server, Call: c, Upto: moment(18 * time.Second)}
}

const ms = time.Millisecond

func tripRun() *RunPage {
	head := func(label, id string, pending, late int) *session.Header {
		return &session.Header{ID: id, Tap: id, Label: label, Counts: session.Counts{Pending: pending, Late: late}}
	}
	return &RunPage{
		Run: &run.Run{
			ID: "trace:70289e6fadb5", Kind: run.ByTrace, Trace: "70289e6fadb56a55872b4d2d09d8d33c", First: runStart, Last: runStart.Add(16 * time.Second),
			Counts: run.Counts{Calls: 12, Errors: 1},
		},
		Sessions: []RunSession{
			{Header: head("files", "files-97011-4be1c0d2a9f3", 0, 0), Live: true, Counts: run.Counts{Calls: 4, Errors: 1}, Findings: 1},
			{Header: head("memory", "memory-97012-1d0b6f3a55e8", 1, 0), Live: true, Counts: run.Counts{Calls: 4}},
			{Header: head("weather", "weather-97013-77c2e90b14aa", 0, 1), Live: true, Counts: run.Counts{Calls: 4}, Findings: 1},
		},
		Calls: []RunCall{
			ran("files", "initialize", "", 0, 12*ms, nil),
			ran("weather", "tools/call", "forecast", 1140*ms, 3200*ms, func(c *session.Call) {
				c.Retries, c.Asking = 1, 2900*ms
				c.Legs = []session.Leg{{Asked: moment(1140 * ms), Answered: moment(1290 * ms), Input: true}, {Asked: moment(4190 * ms), Answered: moment(4340 * ms)}}
			}),
			ran("memory", "tools/call", "reindex", 2010*ms, 0, func(c *session.Call) {
				c.State, c.End, c.Response = session.StatePending, session.Instant{}, capture.Ref{}
				c.Progress = &session.Progress{Value: 31, Total: 50}
			}),
			ran("weather", "tools/call", "radar", 4500*ms, 7310*ms, func(c *session.Call) {
				c.State, c.Late, c.Cancel = session.StateCancelled, true, &session.Cancel{At: moment(9500 * ms)}
			}),
			ran("files", "tools/call", "read_file", 6482*ms, 2*ms, func(c *session.Call) { c.ToolError, c.Errored = true, true }),
		},
		Now: runStart.Add(18 * time.Second), Width: 102,
	}
}

func TestRunPage(t *testing.T) {
	want := `trace:70289e6fadb5  trace 70289e6fadb5: 3 sessions, 12 calls, 1 error, 2 findings, 18.0s so far

  files    files-97011-4be1c0d2a9f3    4 calls  1 error   1 finding   live
  memory   memory-97012-1d0b6f3a55e8   4 calls  0 errors  0 findings  live, 1 pending
  weather  weather-97013-77c2e90b14aa  4 calls  0 errors  1 finding   live, 1 late

  START  SERVER   CALL                             DUR  OUTCOME   0s      4s      8s      12s     16s
+0.000s  files    initialize                      12ms  ok        ▏
+1.140s  weather  tools/call forecast  1 retry  3.20s!  ok          █░░░░░█
+2.010s  memory   tools/call reindex  62%       16.0s!  pending       ███████████████████████████████▸
+4.500s  weather  tools/call radar              7.31s!  late               ██████████⊘▓▓▓◷
+6.482s  files    tools/call read_file             2ms  tool err              ✗`
	if got := strings.Join(tripRun().Lines(term.Palette{}), "\n"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestRunPageOver(t *testing.T) {
	p := tripRun()
	for i := range p.Sessions {
		p.Sessions[i].Live = false
	}
	for i := range p.Calls {
		p.Calls[i].Over = true
	}
	p.Calls[0].Wide, p.Calls[4].Depth = true, 1
	p.Width, p.Cut, p.ASCII = 70, true, true
	got := p.Lines(term.Palette{})
	for _, line := range got[6:] {
		if term.Width(line) > 82 { // no name and no bar is cut any further
			t.Errorf("%d columns: %s", term.Width(line), line)
		}
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{"12 calls and 1 without trace id, 1 error, 2 findings, 16.0s\n", "forecast  1…", "no answer", `\ read_file`, "c:::l", "\n-1.140s  files    initialize    wide     12ms  ok         {\n", "\n+0.000s  weather  "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "█░▓⊘◷✗▸▏") {
		t.Errorf("not ASCII:\n%s", text)
	}
}

// TestSessionWide: calls of the session, however far away, leave the scale to those of
// the trace. Where they lie outside of it their bars are cut, and said to be.
func TestSessionWide(t *testing.T) {
	p := tripRun()
	p.Calls = []RunCall{
		ran("files", "initialize", "", -2*time.Hour, 12*ms, nil),
		ran("files", "tools/call", "long", -time.Second, 1500*ms, nil),
		ran("weather", "tools/call", "forecast", 0, time.Second, nil),
		ran("weather", "ping", "", 500*ms, 100*ms, nil),
		ran("files", "tools/call", "read", 1800*ms, 200*ms, nil),
		ran("files", "tools/call", "longer", 1900*ms, time.Hour, func(c *session.Call) { c.Errored = true }),
		ran("files", "ping", "", time.Hour, ms, nil),
	}
	for _, i := range []int{0, 1, 3, 5, 6} {
		p.Calls[i].Wide = true
	}
	p.Width = 101
	want := `     START  SERVER   CALL                 SCOPE            DUR  OUTCOME  0s            1s
-7200.000s  files    initialize           session-wide    12ms  ok       ‹
   -1.000s  files    tools/call long      session-wide  1.50s!  ok       ‹███████
   +0.000s  weather  tools/call forecast                1.00s!  ok       ███████████████
   +0.500s  weather  ping                 session-wide   100ms  ok              ██
   +1.800s  files    tools/call read                     200ms  ok                                ███
   +1.900s  files    tools/call longer    session-wide  1h00m!  ok                                 █›
+3600.000s  files    ping                 session-wide     1ms  ok                                  ›`
	got := strings.Join(p.Lines(term.Palette{})[6:], "\n")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	dim := term.Palette{Depth: term.SixteenColors}
	if !strings.Contains(p.Lines(dim)[7], dim.Paint(term.Dim, "session-wide")) {
		t.Errorf("the mark stands out: %q", p.Lines(dim)[7])
	}
	for i := range p.Calls { // of a client: nothing is wide
		p.Calls[i].Wide = false
	}
	if head := p.Lines(term.Palette{})[6]; strings.Contains(head, "SCOPE") {
		t.Errorf("a column of nothing: %s", head)
	}
}

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		span  time.Duration
		cells int
		want  string
	}{
		{0, 24, "0ms"},
		{16 * time.Second, 48, "0s       3s       6s       9s       12s      15s"},
		{90 * time.Second, 24, "0s      30s     60s"},
		{3 * 24 * time.Hour, 36, "0d          1d          2d"},
		{5 * ms, 40, "0ms     1ms     2ms     3ms     4ms"},
	} {
		s := newScale(runStart, runStart.Add(c.span), c.cells)
		if got := s.axis(); got != c.want {
			t.Errorf("%s in %d cells: %q, want %q", c.span, c.cells, got, c.want)
		}
	}
}

func TestRunLabel(t *testing.T) {
	defer func(l *time.Location) { time.Local = l }(time.Local)
	time.Local = time.UTC
	r := &run.Run{ID: "client:97001@20261130T194152Z", Kind: run.ByClient, Client: &run.Client{PID: 97001}, First: runStart}
	if got := RunLabel(r, runStart.Add(time.Hour)); got != "client 97001 since 19:41" {
		t.Error(got)
	}
	if got := RunLabel(r, runStart.Add(24*time.Hour)); got != "client 97001 since 2026-11-30 19:41" {
		t.Error(got)
	}
}

func TestRunsTable(t *testing.T) {
	defer func(l *time.Location) { time.Local = l }(time.Local)
	time.Local = time.UTC
	n := 2
	runs := []run.Run{
		{ID: "trace:70289e6fadb5", Kind: run.ByTrace, First: runStart, Last: runStart.Add(16 * time.Second), Counts: run.Counts{Calls: 12, Errors: 1}, Members: make([]run.Member, 3), Findings: &n},
		{ID: "client:7@20261130T194152Z", Kind: run.ByClient, Client: &run.Client{PID: 7}, First: runStart, Last: runStart, Members: make([]run.Member, 1)},
	}
	want := `RUN                        KEY                   FIRST     LAST      SESSIONS  CALLS  ERR  FIND
trace:70289e6fadb5         trace 70289e6fadb5    19:41:52  19:42:08         3     12    1     2
client:7@20261130T194152Z  client 7 since 19:41  19:41:52  19:41:52         1      0    0     –`
	if got := strings.Join(Runs(runs, runStart).Lines(0), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i := range runs {
		runs[i].Findings = nil
	}
	if got := Runs(runs, runStart).Lines(0)[0]; strings.Contains(got, "FIND") {
		t.Errorf("nobody has judged: %s", got)
	}
}
