package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

const (
	legacy mcp.Revisions = mcp.Legacy
	modern mcp.Revisions = 1 << mcp.V2026_07_28
)

// clause makes a clause of checks that are told of.
func clause(id string, in mcp.Revisions, checks ...*Check) *Clause {
	return &Clause{ID: id, In: in, Level: Must, Actor: Both, Section: "basic#messages", Rule: "rule of " + id, Checks: checks}
}

// bad makes a check that convicts every event of a kind.
func bad(id string, kind Kind, methods ...string) *Check {
	return &Check{ID: id, On: []On{{Kind: kind, Methods: methods, Do: func(e *Event) { e.Bad("seq " + fmt.Sprint(e.Seq)) }}}}
}

// spy makes a check that writes down what it is told of.
func spy(id string, to *[]string, kind Kind, spell func(e *Event) string) *Check {
	return &Check{ID: id, On: []On{{Kind: kind, Do: func(e *Event) { *to = append(*to, spell(e)) }}}}
}

var kindNames = map[Kind]string{
	Request: "request", Notification: "notification", Result: "result", Error: "error", Malformed: "malformed", Head: "head", Status: "status", Closed: "closed", End: "end",
}

// spelt spells kind, sender, number and method.
func spelt(e *Event) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %v %s", e.Seq, kindNames[e.Kind], e.From, e.Method))
}

// world judges a log that is made frame by frame.
type world struct {
	t       testing.TB
	judge   *Judge
	reducer *session.Reducer
	n       uint64
	now     time.Duration
	all     []func(*capture.Frame) // changes of every frame
	told    []string               // clause, revision and seq of each finding
	found   []*Finding
	broken  []string
}

func registry(t testing.TB, clauses []*Clause, trackers ...*Tracker) *Registry {
	t.Helper()
	r, err := NewRegistry(clauses, trackers)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newWorld(t testing.TB, r *Registry, all ...func(*capture.Frame)) *world {
	w := &world{t: t, reducer: session.New(session.Options{}), all: all}
	w.judge = New(Options{
		Registry: r,
		Found: func(i int, f *Finding) {
			w.told = append(w.told, fmt.Sprintf("%s %v %d", f.Clause.ID, f.Revision, f.Seq))
			w.found = append(w.found, f)
		},
		Broken: func(i int, check string, reason any) {
			w.broken = append(w.broken, fmt.Sprintf("%d %s: %v", i, check, reason))
		},
	})
	return w
}

// add steps a frame and returns its session.
func (w *world) add(dir capture.Dir, payload string, with ...func(*capture.Frame)) int {
	w.n++
	w.now += time.Millisecond
	f := &capture.Frame{
		Tap: "t-1-000000000000", Label: "t", Seq: w.n, Time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(w.now), Mono: w.now,
		Dir: dir, Transport: capture.Stdio, Form: capture.Unjudged, Payload: []byte(payload), Size: int64(len(payload) + 1),
	}
	if payload == "" {
		f.Form = capture.NoPayload
	}
	for _, change := range slices.Concat(w.all, with) {
		change(f)
	}
	if f.Form == capture.Unjudged {
		f.Form = capture.Classify(f)
	}
	w.n = max(w.n, f.Seq)
	st := w.reducer.Apply(f, capture.Ref{Seq: f.Seq})
	w.judge.Step(f, st)
	return st.Session
}

// lines steps a message a line: "> …" from the client, "< …" from the server.
func (w *world) lines(text string, with ...func(*capture.Frame)) {
	w.t.Helper()
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "> "):
			w.add(capture.C2S, line[2:], with...)
		case strings.HasPrefix(line, "< "):
			w.add(capture.S2C, line[2:], with...)
		case line != "":
			w.t.Fatalf("line %q", line)
		}
	}
}

// Changes of frames.

func web(f *capture.Frame) { f.Transport = capture.HTTP }

func unordered(f *capture.Frame) { f.Mono = capture.NoMono }

func trace(f *capture.Frame) { f.Flags |= capture.Sparse }

func of(exchange uint64) func(*capture.Frame) {
	return func(f *capture.Frame) { f.Exchange = exchange }
}

func kind(k capture.Kind) func(*capture.Frame) { return func(f *capture.Frame) { f.Kind = k } }

func mcpSession(id string) func(*capture.Frame) { return func(f *capture.Frame) { f.MCPSession = id } }

func facts(f *capture.Frame) *capture.HTTPFacts {
	if f.HTTP == nil {
		f.HTTP = &capture.HTTPFacts{}
	}
	return f.HTTP
}

func status(n int, headers ...string) func(*capture.Frame) {
	return func(f *capture.Frame) { facts(f).Status, facts(f).Response = n, pairs(headers) }
}

func verb(name string, headers ...string) func(*capture.Frame) {
	return func(f *capture.Frame) { facts(f).Verb, facts(f).Path, facts(f).Request = name, "/mcp", pairs(headers) }
}

func event(f *capture.Frame) { facts(f).SSE = &capture.SSEEvent{} }

func pairs(list []string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

// same compares what was written down.
func same(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// spellReport spells the rows of a report that were decided.
func spellReport(r *Report) (all []string) {
	for _, rows := range append([]Rows{r.Rows}, r.Also...) {
		for _, row := range rows.List {
			if row.Outcome == NotObserved || row.Outcome == Excluded {
				continue
			}
			line := fmt.Sprintf("%v %s %v", rows.Revision, row.Clause.ID, row.Outcome)
			for _, f := range row.Findings {
				line += fmt.Sprintf(" %d", f.Seq)
			}
			if row.More > 0 {
				line += fmt.Sprintf(" +%d", row.More)
			}
			all = append(all, line)
		}
	}
	return all
}

// A handshake, and what declares the revision without one itself.
const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`
	declared    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	discover    = `{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + declared + `}}`
	discovered  = `{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}`
	ping        = `{"jsonrpc":"2.0","id":9,"method":"ping"}`
	pong        = `{"jsonrpc":"2.0","id":9,"result":{}}`
)

func handshake(w *world) { w.lines("> " + initialize + "\n< " + initialized) }
