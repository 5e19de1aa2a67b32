package judge

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// anyRegistry convicts of much, at all revisions: by what was said before, late, and of
// what never came.
func anyRegistry(t testing.TB) *Registry {
	seen := &Tracker{New: func() any { return map[string]bool{} }, On: []On{{Kind: Asking, Do: func(e *Event) {
		if m := State[map[string]bool](e); len(m) < 100 {
			m[e.Method] = true
		}
	}}}}
	var slot Slot[string]
	again := &Check{ID: "a.again", On: []On{{Kind: Asking, Do: func(e *Event) {
		if e.OK(); Of[map[string]bool](e, seen)[e.Method] {
			e.Bad("again")
		}
	}}}}
	answers := &Check{ID: "a.answers", On: []On{
		{Kind: Request, Do: func(e *Event) { slot.Put(e.Request, e.Method) }},
		{Kind: Answer, Do: func(e *Event) {
			was, ok := slot.Get(e.Request)
			switch {
			case !ok:
				e.Note("to nothing")
			case was != e.Method || e.Request.From == e.From || e.Request.Answered != e.Seq:
				t.Errorf("answer %d to %q of %v, %d", e.Seq, was, e.Request.From, e.Request.Answered)
			case e.Kind == Error:
				e.BadAt(e.Request.Seq, "failed")
			}
		}},
	}}
	left := &Check{ID: "a.left", New: func() any { return new([]*Req) }, On: []On{
		{Kind: Request, Do: func(e *Event) { list := State[*[]*Req](e); *list = append(*list, e.Request) }},
		{Kind: End, Do: func(e *Event) {
			for _, r := range *State[*[]*Req](e) {
				if r.Answered == 0 {
					e.BadAt(r.Seq, "no answer")
				}
			}
		}},
	}}
	heads := &Check{ID: "a.heads", On: []On{
		{Kind: Head | Status | Closed, Do: func(e *Event) {
			if e.Kind == Head && e.Post == nil || e.Kind == Status && e.Reply == nil {
				t.Errorf("%s without a head", spelt(e))
			}
			e.OK()
		}},
		{Kind: Status, Do: func(e *Event) {
			if e.Reply.Status >= 400 {
				e.Bad("refused")
			}
		}},
	}}
	gated := clause("G-1", legacy, bad("a.gated", Result))
	gated.Gate = "server.tools"
	should := clause("S-1", mcp.AllRevisions, bad("a.malformed", Malformed))
	should.Level = Should
	own := clause("O-1", mcp.AllRevisions, bad("a.own", Notification, "n"))
	own.Own, own.Actor = true, Server
	return registry(t, []*Clause{
		clause("A-1", legacy, again), clause("A-2", 1<<mcp.V2025_11_25|modern, again), clause("A-3", modern, again, answers),
		clause("A-4", legacy, answers), clause("A-5", mcp.AllRevisions, left), clause("A-6", mcp.AllRevisions, heads), gated, should, own,
	}, seen)
}

// TestAnyLog: of any frames in any order nothing panics, what was told stands in every
// report from then on, and a report changes nothing.
func TestAnyLog(t *testing.T) {
	r := anyRegistry(t)
	rapid.Check(t, func(rt *rapid.T) { anyLog(rt, r) })
}

// FuzzAnyLog is TestAnyLog led by coverage.
func FuzzAnyLog(f *testing.F) {
	r := anyRegistry(f)
	f.Fuzz(rapid.MakeFuzz(func(rt *rapid.T) { anyLog(rt, r) }))
}

func anyLog(rt *rapid.T, r *Registry) {
	o := Options{Registry: r, Revision: mcp.Revision(rapid.IntRange(0, int(mcp.Latest)).Draw(rt, "revision"))}
	asked, quiet := newAny(rt, o), newAny(rt, o)
	base := capture.Frame{Tap: "a", Transport: capture.Stdio}
	if rapid.Bool().Draw(rt, "web") {
		base.Transport = capture.HTTP
	}
	if rapid.IntRange(0, 3).Draw(rt, "trace") == 0 {
		base.Flags = capture.Sparse
	}
	unordered := rapid.IntRange(0, 3).Draw(rt, "unordered") == 0
	for n := range rapid.IntRange(1, 40).Draw(rt, "frames") {
		f := anyFrame(rt, base, uint64(n+1), unordered)
		quiet.step(f)
		asked.step(f)
		spoil(f)
		said := asked.said()
		if !slices.Equal(said, asked.said()) {
			rt.Fatalf("after frame %d, two reports differ", n+1)
		}
		for _, told := range asked.told {
			if !slices.Contains(said, told) {
				rt.Fatalf("told and withdrawn by frame %d: %s\n%q", n+1, told, said)
			}
		}
	}
	asked.judge.Finish()
	quiet.judge.Finish()
	if !slices.Equal(asked.said(), quiet.said()) || !slices.Equal(asked.told, quiet.told) {
		rt.Fatalf("reports in between changed what was told or said:\n%q\n%q", asked.said(), quiet.said())
	}
}

// spoil overwrites the memory of a frame, which holds for the step alone.
func spoil(f *capture.Frame) {
	if f == nil {
		return
	}
	for i := range f.Payload {
		f.Payload[i] = '#'
	}
	if f.HTTP != nil {
		clear(f.HTTP.Request)
		clear(f.HTTP.Response)
	}
}

// watched is a judge with what it told.
type watched struct {
	judge   *Judge
	reducer *session.Reducer
	told    []string
}

func newAny(rt *rapid.T, o Options) *watched {
	w := &watched{reducer: session.New(session.Options{})}
	o.Found = func(i int, f *Finding) {
		w.told = append(w.told, fmt.Sprintf("%d %s %d %s", i, f.Clause.ID, f.Seq, f.Detail))
	}
	o.Broken = func(i int, check string, reason any) { rt.Fatalf("%s panicked: %v", check, reason) }
	w.judge = New(o)
	return w
}

func (w *watched) step(f *capture.Frame) {
	if f == nil {
		w.judge.Skip()
		return
	}
	w.judge.Step(f, w.reducer.Apply(f, capture.Ref{Seq: f.Seq}))
}

func (w *watched) said() (all []string) {
	for i := range w.judge.Len() {
		r := w.judge.End(i)
		for _, rows := range append([]Rows{r.Rows}, r.Also...) {
			for _, row := range rows.List {
				all = append(all, fmt.Sprintf("%d %v %s %v", i, rows.Revision, row.Clause.ID, row.Outcome))
				for _, f := range row.Findings {
					all = append(all, fmt.Sprintf("%d %s %d %s", i, row.Clause.ID, f.Seq, f.Detail))
				}
			}
		}
		all = append(all, fmt.Sprint(r.Notes, r.Messages, r.Revision, r.Basis, r.Unsupported))
	}
	return all
}

func anyOf[T any](rt *rapid.T, from ...T) T { return rapid.SampledFrom(from).Draw(rt, "of") }

// anyFrame draws from few ids, exchanges and sessions, so that they meet; nil is a line
// that cannot be read.
func anyFrame(rt *rapid.T, f capture.Frame, n uint64, unordered bool) *capture.Frame {
	if rapid.IntRange(0, 40).Draw(rt, "skip") == 0 {
		return nil
	}
	f.Seq, f.Mono, f.Dir = n, 0, anyOf(rt, capture.C2S, capture.C2S, capture.S2C, capture.S2C, capture.Meta, capture.Stderr)
	if unordered {
		f.Mono = capture.NoMono
	}
	switch rapid.IntRange(0, 30).Draw(rt, "odd") {
	case 0:
		f.Flags |= capture.Redacted
	case 1:
		f.Flags |= capture.Truncated
	case 2:
		f.Flags |= capture.Batch
	case 3:
		f.Tap = "b"
	case 4:
		f.Seq += 3
	case 5:
		f.Kind = capture.Kind(rapid.IntRange(0, int(capture.Other)).Draw(rt, "kind"))
	}
	if f.Dir == capture.Meta {
		f.Kind = anyOf(rt, capture.Start, capture.HTTPHead, capture.Open, capture.Close, capture.Gap, capture.End)
	}
	if f.Transport == capture.HTTP {
		f.Exchange, f.MCPSession = rapid.Uint64Range(0, 3).Draw(rt, "exchange"), anyOf(rt, "", "", "x", "y")
		f.HTTP = &capture.HTTPFacts{Verb: anyOf(rt, "POST", "POST", "GET", ""), Request: map[string]string{mcp.VersionHeader: anyOf(rt, "", "2025-06-18", "2026-07-28")}}
		if f.Dir != capture.C2S && f.Kind != capture.HTTPHead {
			f.HTTP = &capture.HTTPFacts{Status: anyOf(rt, 200, 202, 400, 0), Response: map[string]string{mcp.SessionHeader: f.MCPSession}, ClosedBy: anyOf(rt, "", "client", "server")}
			if rapid.Bool().Draw(rt, "event") {
				f.HTTP.SSE = &capture.SSEEvent{}
			}
		}
	}
	f.Payload, f.Form = []byte(anyPayload(rt)), capture.Unjudged
	f.Form = capture.Classify(&f)
	return &f
}

func anyPayload(rt *rapid.T) string {
	id := anyOf(rt, "0", "1", "2", `"1"`, "null", "1.0", "{}")
	meta := anyOf(rt, "", "", declared, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}`, `"_meta":7`)
	return anyOf(rt,
		initialize, initialized, discover, discovered, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"`+anyOf(rt, "2031-01-01", "2024-11-05", "2025-03-26", "x")+`"}}`,
		`{"jsonrpc":"2.0","id":`+id+`,"method":"`+anyOf(rt, "ping", "tools/call", "initialize")+`","params":{`+meta+`}}`,
		`{"jsonrpc":"2.0","id":`+id+`,"result":{`+meta+`}}`,
		`{"jsonrpc":"2.0","id":`+id+`,"result":{"resultType":"complete"}}`,
		`{"jsonrpc":"2.0","id":`+id+`,"error":{"code":`+anyOf(rt, "-32601", "-32022", "1.5")+`,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"`+anyOf(rt, "n", "ping")+`","params":{`+meta+`}}`,
		"["+ping+","+pong+",7]", "[]", "{}", "7", "no", "", `{"error":"x"}`, `{"id":`+id+`}`,
	)
}
