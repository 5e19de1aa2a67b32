package view

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestPaintedLines: the word or mark that says how something stands is coloured, and
// taking the colours away leaves what a pipe gets.
func TestPaintedLines(t *testing.T) {
	call := &session.Call{Dir: capture.C2S, ID: "5", Method: "tools/call", Target: "ok", Cancel: &session.Cancel{}}
	lost := session.GapNote{Kind: session.Lost, Gap: capture.GapInfo{Lost: 2, First: 3, Last: 4}}
	for want, c := range map[string]struct {
		m   session.Message
		gap []session.GapNote
	}{
		"result ok id=5 \x1b[32mok\x1b[0m dur=0ms 2B":   {m: session.Message{Dir: capture.S2C, Kind: jsonrpc.Response, ID: "5", Outcome: session.OutcomeOK}},
		"result ok id=5 \x1b[33mlate\x1b[0m dur=0ms 2B": {m: session.Message{Dir: capture.S2C, Kind: jsonrpc.Response, ID: "5", Outcome: session.OutcomeLate}},
		"error ok id=5 \x1b[1;31merr\x1b[0m dur=0ms 2B": {m: session.Message{Dir: capture.S2C, Kind: jsonrpc.Response, ID: "5", Outcome: session.OutcomeError}},
		"\x1b[33mcancelled\x1b[0m id=5 after=0ms":       {m: session.Message{Dir: capture.C2S, Kind: jsonrpc.Notification, Method: "notifications/cancelled", Outcome: session.OutcomeCancelled}},
		"not MCP \x1b[1;31mbad\x1b[0m 2B \"{}\"":        {m: session.Message{Dir: capture.S2C, Outcome: session.OutcomeBad}},
		"2 frames lost, seq 3–4 \x1b[33m▒\x1b[0m":       {m: session.Message{Dir: capture.S2C, Kind: jsonrpc.Notification, Method: "n"}, gap: []session.GapNote{lost}},
	} {
		c.m.Size, c.m.Element = 2, -1
		f := capture.Frame{Label: "s", Dir: c.m.Dir, Transport: capture.Stdio, Form: capture.Raw, Payload: []byte("{}")}
		var l Liner
		line := l.Lines(&f, &session.Step{Messages: []session.Message{c.m}, Calls: []*session.Call{call}, Gaps: c.gap})[0]
		got := line.Paint(term.Palette{Depth: term.SixteenColors})
		if !strings.HasSuffix(got, " "+want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if plain := line.Paint(term.Palette{}); plain != line.String() || sgr.ReplaceAllString(got, "") != plain {
			t.Errorf("without colours %q, want %q", plain, line.String())
		}
	}
}

// TestPaintedSessions: a count of errors and a state that is no rest are coloured.
func TestPaintedSessions(t *testing.T) {
	zero, one := 0, 1
	rows := []SessionRow{
		{Header: &session.Header{ID: "a", Counts: session.Counts{Errors: 3}}, Live: true},
		{Header: &session.Header{ID: "b", End: &capture.EndInfo{ExitCode: &zero}}},
		{Header: &session.Header{ID: "c", End: &capture.EndInfo{ExitCode: &one}}},
		{Header: &session.Header{ID: "d", Counts: session.Counts{Torn: 1, Pending: 1}}},
		{Header: &session.Header{ID: "e", End: &capture.EndInfo{}, Counts: session.Counts{Pending: 2}}},
	}
	table := Sessions(rows, time.Time{})
	painted, plain := table.Paint(0, term.Palette{Depth: term.SixteenColors}), table.Lines(0)
	for i, line := range painted {
		if bare := sgr.ReplaceAllString(line, ""); bare != plain[i] {
			t.Errorf("without colours %q, want %q", bare, plain[i])
		}
		var spans []string
		for _, span := range regexp.MustCompile("\x1b\\[[1-9][0-9;]*m[^\x1b]*").FindAllString(line, -1) {
			spans = append(spans, span[1:])
		}
		want := []string{"", "[1;31m3 [36mlive", "", "[1;31mexit 1", "[33mtorn · 1 open", "[36mclosed · 2 open"}[i]
		if got := strings.Join(spans, " "); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

// TestEveryWordHasItsRole: none is left out by mistake.
func TestEveryWordHasItsRole(t *testing.T) {
	for _, s := range []Status{
		StatusOK, StatusError, StatusToolError, StatusRefused, StatusPending, StatusStream, StatusNoAnswer, StatusAbandoned,
		StatusCancel, StatusLate, StatusDuplicate, StatusUnmatched, StatusSuperseded, StatusInput, StatusBad, StatusStale,
		StatusWorking, StatusDone, StatusFailed, StatusStopped,
	} {
		if s.Role() == term.Text {
			t.Errorf("%q has no role", s)
		}
	}
}
