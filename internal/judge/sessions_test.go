package judge

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// TestSessions: sessions of one tap have books of their own, and heads go where the
// bodies behind them go.
func TestSessions(t *testing.T) {
	var got []string
	check := spy("a.a", &got, Head|Message, func(e *Event) string {
		text := fmt.Sprintf("%d in %d, start %v one %v", e.Seq, e.s.index, e.FromStart(), e.OneClient())
		if e.Request != nil && e.Kind&Answer != 0 {
			text += fmt.Sprintf(" to %d", e.Request.Seq)
		}
		return text
	})
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)}), web)
	begin := func(n uint64, id, conn string) {
		on := func(f *capture.Frame) { f.Conn = conn }
		w.add(capture.Meta, `{}`, of(n), kind(capture.HTTPHead), verb("POST"), on)
		w.add(capture.C2S, initialize, of(n), verb("POST"), on)
		w.add(capture.S2C, initialized, of(n), status(200, mcp.SessionHeader, id), mcpSession(id), on)
	}
	begin(1, "one", "a")
	begin(2, "two", "b")
	ask := func(n uint64, id, conn string) {
		on := func(f *capture.Frame) { f.Conn = conn }
		w.add(capture.Meta, `{}`, of(n), kind(capture.HTTPHead), verb("POST", mcp.SessionHeader, id), mcpSession(id), on)
		w.add(capture.C2S, ping, of(n), verb("POST", mcp.SessionHeader, id), mcpSession(id), on)
	}
	ask(3, "one", "b") // on the other's connection
	ask(4, "two", "a")
	w.add(capture.S2C, pong, of(4), status(200), mcpSession("two"))
	w.add(capture.S2C, pong, of(3), status(200), mcpSession("one"))
	same(t, "events", got,
		"2 in 0, start false one false", "2 in 0, start true one false", "3 in 0, start true one true to 2",
		"5 in 1, start false one false", "5 in 1, start true one false", "6 in 1, start true one true to 5",
		"8 in 0, start true one true", "8 in 0, start true one true", "10 in 1, start true one true", "10 in 1, start true one true",
		"11 in 1, start true one true to 10", "12 in 0, start true one true to 8",
	)
	if w.judge.Len() != 2 || len(w.judge.heads) != 0 {
		t.Errorf("%d sessions, %d heads wait", w.judge.Len(), len(w.judge.heads))
	}
}

// TestOneClient: without session ids nobody knows who is who.
func TestOneClient(t *testing.T) {
	var got []string
	check := spy("a.a", &got, Request, func(e *Event) string { return fmt.Sprint(e.OneClient()) })
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)}), web)
	for _, payload := range []string{ping, initialize, ping, strings.ReplaceAll(discover, `"name":"c"`, `"name":"d"`), ping} {
		w.add(capture.C2S, payload, verb("POST"))
	}
	same(t, "one client", got, "false", "false", "true", "true", "false")
}

// TestGaps: what is missing is missing in all sessions that had begun.
func TestGaps(t *testing.T) {
	var got []string
	check := spy("a.a", &got, Request, func(e *Event) string { return fmt.Sprintf("%s %v %v", e.Frame.Tap, e.FromStart(), e.Whole()) })
	r := registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)})
	of := func(tap string) func(*capture.Frame) { return func(f *capture.Frame) { f.Tap = tap; f.Seq = 0 } }
	w := newWorld(t, r, trace, func(f *capture.Frame) { f.Flags = 0 })
	seqs := map[string]uint64{}
	ask := func(tap string, lost uint64) {
		seqs[tap] += lost + 1
		w.add(capture.C2S, ping, of(tap), func(f *capture.Frame) { f.Seq = seqs[tap] })
	}
	ask("a", 0)
	ask("b", 0)
	ask("a", 2)
	ask("b", 0)
	w.judge.Skip()
	ask("b", 0)
	ask("c", 0)
	same(t, "whole", got, "a true true", "b true true", "a false false", "b true true", "b false false", "c true true")

	got = nil
	w = newWorld(t, r)
	w.judge.Skip() // perhaps the beginning of what follows
	w.add(capture.C2S, ping)
	same(t, "after a line that could not be read", got, "t-1-000000000000 false false")

	got = nil
	w = newWorld(t, r, web)
	w.add(capture.C2S, initialize, mcpSession("x"))
	w.add(capture.C2S, strings.ReplaceAll(initialize, `"id":0`, `"id":1`), mcpSession("y"))
	w.add(capture.C2S, ping, mcpSession("x"))
	w.n += 3
	w.add(capture.C2S, ping, mcpSession("y"))
	w.add(capture.C2S, ping, mcpSession("x"))
	same(t, "two of one tap", got, "t-1-000000000000 true true", "t-1-000000000000 true true", "t-1-000000000000 true true",
		"t-1-000000000000 false false", "t-1-000000000000 false false")
}

// source is a log in memory; a nil frame is a line that cannot be read.
type source struct {
	frames []*capture.Frame
	err    error
}

func (s *source) Next(f *capture.Frame) (capture.Ref, error) {
	if len(s.frames) == 0 {
		return capture.Ref{}, s.err
	}
	next := s.frames[0]
	s.frames = s.frames[1:]
	if next == nil {
		return capture.Ref{}, &capture.LineError{Err: errors.New("broken")}
	}
	*f = *next
	return capture.Ref{Seq: f.Seq}, nil
}

// TestFold: the judge hears of all that the reducer hears of, and of the end.
func TestFold(t *testing.T) {
	frame := func(n uint64, dir capture.Dir, payload string) *capture.Frame {
		return &capture.Frame{Tap: "t-1-00", Seq: n, Mono: capture.NoMono, Dir: dir, Transport: capture.Stdio, Form: capture.Raw, Payload: []byte(payload)}
	}
	var got []string
	check := spy("a.a", &got, Message, func(e *Event) string { return fmt.Sprintf("%s %v", spelt(e), e.Whole()) })
	log := func(err error) *source {
		return &source{[]*capture.Frame{frame(1, capture.C2S, ping), nil, frame(3, capture.S2C, strings.ReplaceAll(pong, "9", "8"))}, err}
	}
	j := New(Options{Registry: registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)})})
	n := 0
	if err := Fold(log(io.EOF), session.New(session.Options{}), j, func(*capture.Frame, capture.Ref, session.Step) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("%d frames, %v", n, err)
	}
	same(t, "events", got, "1 request client ping true", "3 result server false")
	if err := Fold(log(io.ErrUnexpectedEOF), session.New(session.Options{}), New(j.options), nil); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	if err := Fold(log(io.EOF), session.New(session.Options{}), nil, nil); err != nil {
		t.Error(err)
	}
}

// TestGrouped: what several rows say of one frame is one thing.
func TestGrouped(t *testing.T) {
	check := bad("a.a", Request)
	other := clause("A-3", 1<<mcp.V2025_06_18, check)
	w := newWorld(t, registry(t, []*Clause{clause("A-1", 1<<mcp.V2025_11_25, check), clause("A-2", legacy&^(1<<mcp.V2025_06_18), check), other}))
	handshake(w)
	for range maxFindings + 1 {
		w.lines("> " + ping)
	}
	list, more := w.judge.End(0).Grouped()
	if len(list) != maxFindings+1 || list[0].Rows != 2 || list[0].Clause.ID != "A-1" || len(more) != 1 {
		t.Errorf("%d groups, %d rows, more %v", len(list), list[0].Rows, more)
	}
	for c, n := range more {
		if n != 1 || c.ID != "A-1" {
			t.Errorf("%d more of %s", n, c.ID)
		}
	}
}

// TestVerdicts: a rule that binds fails a session, others warn.
func TestVerdicts(t *testing.T) {
	must, should := clause("A-1", legacy, bad("a.must", Request, "must")), clause("A-2", legacy, bad("a.should", Request, "should"))
	should.Level = Should
	ok := clause("A-3", legacy, &Check{ID: "a.ok", On: []On{{Kind: Request, Do: func(e *Event) { e.OK() }}}})
	absent := clause("A-4", legacy, &Check{ID: "a.absent", On: []On{{Kind: End, Do: func(e *Event) {
		if e.Facts.Messages == 4 {
			e.BadAt(1, "only four messages")
		}
	}}}})
	w := newWorld(t, registry(t, []*Clause{must, should, ok, absent}))
	handshake(w)
	verdict := func(want Verdict, rows ...string) {
		t.Helper()
		r := w.judge.End(0)
		if r.Verdict() != want || !r.Judged() {
			t.Errorf("verdict %v", r.Verdict())
		}
		same(t, "rows", spellReport(r), rows...)
	}
	verdict(Passed, "2025-11-25 A-3 pass")
	w.lines(`> {"jsonrpc":"2.0","id":1,"method":"should"}`)
	verdict(PassedWithWarnings, "2025-11-25 A-2 warn 3", "2025-11-25 A-3 pass")
	w.lines(`> {"jsonrpc":"2.0","id":2,"method":"n"}`)
	verdict(Failed, "2025-11-25 A-2 warn 3", "2025-11-25 A-3 pass", "2025-11-25 A-4 fail 1")
	n, found := w.judge.Tally(0, absent.Checks[0], mcp.V2025_11_25)
	if n != 1 || len(found) != 1 || found[0].At != 0 || found[0].Seq != 1 {
		t.Errorf("%d subjects, %v", n, found)
	}
	w.lines(`> {"jsonrpc":"2.0","id":3,"method":"must"}`)
	verdict(Failed, "2025-11-25 A-1 fail 5", "2025-11-25 A-2 warn 3", "2025-11-25 A-3 pass")
}

// TestGateway: behind one gateway the handshakes of two clients without session ids may be
// anybody's, and so may all that follows.
func TestGateway(t *testing.T) {
	var certain []string
	sure := &Check{ID: "a.sure", On: []On{{Kind: Request, Do: func(e *Event) { certain = append(certain, fmt.Sprint(e.Seq, e.OneClient())) }}}}
	w := newWorld(t, registry(t, []*Clause{clause("C-1", mcp.AllRevisions, sure)}), web)
	n := uint64(0)
	post := func(conn, body, answer string) {
		n++
		from := func(f *capture.Frame) { f.Conn, f.Exchange = conn, n }
		w.add(capture.C2S, body, from)
		w.add(capture.S2C, answer, from, func(f *capture.Frame) { facts(f).Status = 200 })
	}
	// A session that was recorded from its middle has an id, and no handshake to be left out.
	n++
	w.add(capture.C2S, strings.Replace(ping, "9", "77", 1), of(n), mcpSession("S"))
	w.add(capture.S2C, `{"jsonrpc":"2.0","id":77,"result":{}}`, of(n), mcpSession("S"), func(f *capture.Frame) {
		facts(f).Status, facts(f).Response = 200, map[string]string{"mcp-session-id": "S"}
	})
	post("a:1", initialize, initialized)
	post("a:1", ping, `{"jsonrpc":"2.0","id":9,"result":{}}`)
	post("b:1", strings.Replace(initialize, `"name":"c"`, `"name":"d"`, 1), initialized)
	post("a:1", strings.Replace(ping, "9", "10", 1), `{"jsonrpc":"2.0","id":10,"result":{}}`)
	if w.judge.Len() != 3 {
		t.Fatalf("%d sessions", w.judge.Len())
	}
	same(t, "certain", certain, "1 false", "3 false", "5 true", "7 false", "9 false")
}
