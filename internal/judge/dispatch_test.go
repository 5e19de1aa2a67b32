package judge

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

// TestDispatch: nothing is called for what it did not ask for; trackers that come before
// are called first, others last.
func TestDispatch(t *testing.T) {
	var got []string
	told := func(name string) func(*Event) { return func(e *Event) { got = append(got, name+" "+spelt(e)) } }
	check := &Check{ID: "a.a", On: []On{
		{Kind: Request, From: Client, Methods: []string{"ping", "a"}, Do: told("methods")},
		{Kind: Asking, Do: told("any")},
		{Kind: Answer, From: Server, Methods: []string{"ping"}, Do: told("answer")},
	}}
	old := &Check{ID: "a.old", On: []On{{Kind: Asking, Do: told("old")}}}
	before := &Tracker{New: func() any { return 0 }, Before: true, On: []On{{Kind: Request, Do: told("before")}}}
	after := &Tracker{New: func() any { return 0 }, On: []On{{Kind: Request, Methods: []string{"ping"}, Do: func(e *Event) {
		told("after")(e)
		e.OK() // trackers judge nothing
		e.Bad("never")
		e.Note("never")
	}}}}
	w := newWorld(t, registry(t, []*Clause{clause("A-1", legacy, check), clause("A-2", 1<<mcp.V2024_11_05, old)}, after, before))
	handshake(w)
	got = nil
	w.lines("> " + ping + "\n< " + pong + `
		< {"jsonrpc":"2.0","id":1,"method":"ping"}
		> {"jsonrpc":"2.0","id":1,"result":{}}
		> {"jsonrpc":"2.0","method":"ping"}
		> {"jsonrpc":"2.0","id":2,"method":"b"}
		< {"jsonrpc":"2.0","id":7,"result":{}}`)
	same(t, "calls", got,
		"before 3 request client ping", "any 3 request client ping", "methods 3 request client ping", "after 3 request client ping",
		"answer 4 result server ping",
		"before 5 request server ping", "any 5 request server ping", "after 5 request server ping",
		"any 7 notification client ping",
		"before 8 request client b", "any 8 request client b",
	)
	if r := w.judge.End(0); len(w.broken)+len(w.told)+len(r.Notes)+len(spellReport(r)) != 0 {
		t.Errorf("broken %q, told %q, notes %v, rows %q", w.broken, w.told, r.Notes, spellReport(r))
	}
}

// TestState: each session has states of its own, and checks read those of trackers as
// they were before the event.
func TestState(t *testing.T) {
	var got []string
	count := &Tracker{New: func() any { return new(int) }, On: []On{{Kind: Request, Do: func(e *Event) { *State[*int](e)++ }}}}
	stateless := bad("a.none", Malformed)
	check := &Check{ID: "a.a", New: func() any { return new(string) }, On: []On{{Kind: Request, Do: func(e *Event) {
		own := State[*string](e)
		*own += e.Method
		got = append(got, fmt.Sprint(*own, *Of[*int](e, count)))
	}}}}
	w := newWorld(t, registry(t, []*Clause{clause("A-0", legacy, stateless), clause("A-1", legacy, check)}, count))
	for _, tap := range []string{"a", "b", "a"} {
		w.add(capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"`+tap+`"}`, func(f *capture.Frame) { f.Tap = tap })
	}
	same(t, "states", got, "a0", "b0", "aa1")
}

// TestPanics: what panics is off for the session, with one word of it, and all else goes on.
func TestPanics(t *testing.T) {
	n := map[string]int{}
	fails := &Check{ID: "a.fails", On: []On{{Kind: Request | End, Do: func(e *Event) {
		n["fails"]++
		panic("no")
	}}}}
	good := &Check{ID: "a.good", On: []On{{Kind: Request, Do: func(e *Event) { n["good"]++; e.OK() }}}}
	tracker := &Tracker{New: func() any { return nil }, Before: true, On: []On{{Kind: Request, Do: func(*Event) { n["tracker"]++; panic("never") }}}}
	atEnd := &Check{ID: "a.end", On: []On{{Kind: End, Do: func(e *Event) { n["end"]++; panic("late") }}}}
	w := newWorld(t, registry(t, []*Clause{clause("A-1", legacy, fails, good), clause("A-2", legacy, atEnd)}, tracker))
	handshake(w)
	w.lines("> " + ping)
	w.judge.End(0)
	w.judge.End(0)
	w.add(capture.C2S, ping, func(f *capture.Frame) { f.Tap = "other" })
	same(t, "broken", w.broken, "0 a tracker: never", "0 a.fails: no", "0 a.end: late", "0 a.end: late", "1 a tracker: never", "1 a.fails: no")
	if n["fails"] != 2 || n["good"] != 3 || n["tracker"] != 2 || n["end"] != 2 {
		t.Errorf("calls: %v", n)
	}
}

func TestNewRegistry(t *testing.T) {
	check := bad("a.a", Request)
	two := *clause("A-2", legacy)
	two.Unjudged = "nobody can"
	with := func(change func(*Clause)) *Clause {
		c := clause("A-1", legacy, check)
		change(c)
		return c
	}
	for _, c := range []struct {
		fault   string
		clauses []*Clause
	}{
		{"clause A-1 has neither checks nor a reason to have none", []*Clause{clause("A-1", legacy)}},
		{"clause A-2 has checks and a reason to have none", []*Clause{with(func(c *Clause) { c.ID, c.Unjudged = "A-2", "nobody can" })}},
		{"clause A-1 is in force at no revision", []*Clause{clause("A-1", 0, check)}},
		{"clause A-1 has no level", []*Clause{with(func(c *Clause) { c.Level = 0 })}},
		{"clause A-1 binds nobody", []*Clause{with(func(c *Clause) { c.Actor = 0 })}},
		{"clause A-1 names no section", []*Clause{with(func(c *Clause) { c.Section = "" })}},
		{"clause A-1 has no rule", []*Clause{with(func(c *Clause) { c.Rule = "" })}},
		{"clause A-1 stands twice in 2025-11-25", []*Clause{clause("A-1", 1<<mcp.V2025_11_25, check), clause("A-1", 1<<mcp.V2025_11_25, check)}},
		{"two checks are called a.a", []*Clause{clause("A-1", legacy, check), clause("A-3", legacy, bad("a.a", Request))}},
		{"", []*Clause{clause("A-1", 1<<mcp.V2025_11_25, check), clause("A-1", 1<<mcp.V2025_06_18, check), &two}},
	} {
		r, err := NewRegistry(c.clauses, nil)
		if c.fault == "" {
			if err != nil || len(r.Checks()) != 1 || len(r.Clauses()) != 3 || len(r.In(mcp.V2025_11_25)) != 2 {
				t.Errorf("registry: %v", err)
			}
			continue
		}
		if err == nil || err.Error() != c.fault {
			t.Errorf("got %v, want %s", err, c.fault)
		}
	}
}

// TestOneRegistry: a check or tracker is of one registry, since that writes into it where its
// state stands.
func TestOneRegistry(t *testing.T) {
	check, tracker := bad("a.a", Request), &Tracker{New: func() any { return 0 }}
	clauses := []*Clause{clause("A-1", legacy, check)}
	if _, err := NewRegistry(clauses, []*Tracker{tracker, tracker}); err == nil || err.Error() != "tracker 1 stands twice" {
		t.Error(err)
	}
	registry(t, clauses, tracker)
	if _, err := NewRegistry(clauses, nil); err == nil || err.Error() != "check a.a belongs to another registry" {
		t.Error(err)
	}
	if _, err := NewRegistry(nil, []*Tracker{tracker}); err == nil || err.Error() != "tracker 0 belongs to another registry" {
		t.Error(err)
	}
}

// TestTexts: what reports spell.
func TestTexts(t *testing.T) {
	c := clause("A-1", legacy, bad("area.name", Request))
	if got := c.URL(mcp.V2024_11_05); got != site+"2024-11-05/basic/messages" {
		t.Error(got)
	}
	if got := c.URL(mcp.V2025_11_25); got != site+"2025-11-25/basic#messages" {
		t.Error(got)
	}
	if c.Newest() != mcp.V2025_11_25 || (&Clause{}).Newest() != mcp.NoRevision {
		t.Error(c.Newest())
	}
	words := fmt.Sprint(Client, Server, Both, Actor(0), Must, MustNot, Should, ShouldNot, Warn, Invalid, Mismatch, Advice, Passed, PassedWithWarnings, Failed, CannotJudge,
		Excluded, NotApplicable, NotObserved, Pass, Fail, Warned, Unsupported, ByHandshake, ByDeclaration, ByOption, ByProposal, ByDefault, Basis(99))
	want := "client server both  MUST MUST NOT SHOULD SHOULD NOT warn invalid mismatch should pass pass-with-warnings fail unsupported " +
		"excluded not-applicable not-observed pass fail warn unsupported negotiated declared by messages as told proposed, never agreed nothing declared: the newest"
	if strings.TrimSpace(words) != want {
		t.Error(words)
	}
	if !Must.Binds() || !MustNot.Binds() || Should.Binds() || ShouldNot.Binds() {
		t.Error("levels that bind")
	}
}
