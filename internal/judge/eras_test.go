package judge

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

// both are two checks of pings, one for each way of beginning; common is in all
// revisions with a handshake.
func both() []*Clause {
	ping := []string{"ping"}
	return []*Clause{
		clause("L-1", 1<<mcp.V2025_11_25, bad("a.legacy", Request, ping...)),
		clause("M-1", modern, bad("a.modern", Request, ping...)),
		clause("C-1", legacy, bad("a.common", Request, ping...)),
	}
}

// TestWaits: what was found before anybody said at which revision is told when that
// is known.
func TestWaits(t *testing.T) {
	w := newWorld(t, registry(t, both()))
	w.lines("> " + ping)
	same(t, "told at once", w.told)
	w.lines("> " + initialize)
	same(t, "told while initialize waits", w.told)
	w.lines(`> {"jsonrpc":"2.0","id":4,"method":"ping"}`)
	same(t, "told of what all revisions share", w.told, "C-1 2025-11-25 3")
	w.lines("< " + initialized)
	same(t, "told by the result", w.told, "C-1 2025-11-25 3", "L-1 2025-11-25 1", "C-1 2025-11-25 1", "L-1 2025-11-25 3")
	same(t, "report", spellReport(w.judge.End(0)), "2025-11-25 L-1 fail 1 3", "2025-11-25 C-1 fail 1 3")
	for _, f := range w.found {
		if f.At != f.Seq || f.Check.ID == "" || f.From != Client || f.given != nil {
			t.Errorf("finding %+v", f)
		}
	}
}

// TestWaitsForModern: the same without a handshake, and with one that comes later: what was
// told stays, under the revision it was told for.
func TestWaitsForModern(t *testing.T) {
	w := newWorld(t, registry(t, both()))
	w.lines("> " + ping + "\n> " + discover)
	same(t, "told before the server answers", w.told)
	w.lines("< " + discovered)
	same(t, "told by then", w.told, "M-1 2026-07-28 1")
	same(t, "report", spellReport(w.judge.End(0)), "2026-07-28 M-1 fail 1")
	w.lines(`> {"jsonrpc":"2.0","id":4,"method":"ping"}`)
	same(t, "told at once", w.told, "M-1 2026-07-28 1", "M-1 2026-07-28 4")
	if len(w.judge.convs[0].waiting) != 3 { // a handshake may decide otherwise
		t.Errorf("%d findings wait", len(w.judge.convs[0].waiting))
	}
	handshake(w)
	same(t, "told after the handshake", w.told[2:], "L-1 2025-11-25 1", "C-1 2025-11-25 1")
	same(t, "report", spellReport(w.judge.End(0)), "2025-11-25 L-1 fail 1", "2025-11-25 C-1 fail 1", "2026-07-28 M-1 fail 1 4")
	if len(w.judge.convs[0].waiting) != 0 {
		t.Errorf("%d findings wait", len(w.judge.convs[0].waiting))
	}
}

// TestProbe: a server that does not know the newest revision is not judged by it.
func TestProbe(t *testing.T) {
	clauses := append(both(), clause("M-2", modern, bad("a.answers", Answer)))
	w := newWorld(t, registry(t, clauses))
	w.lines("> " + discover + `
		< {"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}`)
	handshake(w)
	w.lines("> " + ping)
	same(t, "told", w.told, "L-1 2025-11-25 5", "C-1 2025-11-25 5")
	same(t, "report", spellReport(w.judge.End(0)), "2025-11-25 L-1 fail 5", "2025-11-25 C-1 fail 5")
}

// TestUnsupported: client and server agree on a revision that we do not know. What was told
// before that stands.
func TestUnsupported(t *testing.T) {
	w := newWorld(t, registry(t, both()))
	w.lines("> " + initialize + "\n> " + ping)
	same(t, "told", w.told, "C-1 2025-11-25 2")
	w.lines("< " + strings.ReplaceAll(initialized, "2025-11-25", "2031-01-01"))
	r := w.judge.End(0)
	same(t, "report", spellReport(r), " M-1 unsupported", "2025-11-25 C-1 fail 2")
	if r.Unsupported != "2031-01-01" || r.Verdict() != CannotJudge || r.Judged() {
		t.Errorf("%q, %v", r.Unsupported, r.Verdict())
	}
}

// TestStandsElsewhere: a finding was told under a clause that the session's revision
// turns out not to have.
func TestStandsElsewhere(t *testing.T) {
	w := newWorld(t, registry(t, both()))
	w.lines("> " + initialize + "\n> " + ping + `
		< {"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}
		> ` + discover + "\n< " + discovered)
	same(t, "told", w.told, "C-1 2025-11-25 2")
	same(t, "report", spellReport(w.judge.End(0)), "2025-11-25 C-1 fail 2")
	if r := w.judge.End(0); r.Revision != mcp.V2026_07_28 {
		t.Errorf("revision %v", r.Revision)
	}
}

// TestGates: clauses that depend on a capability wait for its declaration.
func TestGates(t *testing.T) {
	var clauses []*Clause
	for _, gate := range []string{"server.tools", "server.prompts", "client.roots", "client.sampling"} {
		c := clause(gate, legacy, bad("a."+gate, Request, "ping"))
		c.Gate = gate
		clauses = append(clauses, c)
	}
	w := newWorld(t, registry(t, clauses))
	w.lines("> " + initialize + "\n> " + ping)
	same(t, "told early", w.told)
	same(t, "report", spellReport(w.judge.End(0)), "2025-11-25 server.tools not-applicable", "2025-11-25 server.prompts not-applicable",
		"2025-11-25 client.roots not-applicable", "2025-11-25 client.sampling not-applicable")
	w.lines("< " + initialized)
	same(t, "told", w.told, "server.tools 2025-11-25 2", "client.roots 2025-11-25 2")
	same(t, "report", spellReport(w.judge.End(0)), "2025-11-25 server.tools fail 2", "2025-11-25 server.prompts not-applicable",
		"2025-11-25 client.roots fail 2", "2025-11-25 client.sampling not-applicable")
}

// TestDecide: what decides the revision of a session.
func TestDecide(t *testing.T) {
	other := strings.ReplaceAll(ping, `"ping"`, `"ping","params":{`+declared+`}`)
	for _, c := range []struct {
		lines  string
		option mcp.Revision
		want   string
	}{
		{"", 0, "2026-07-28 nothing declared: the newest"},
		{"> " + ping, mcp.V2025_03_26, "2025-03-26 as told"},
		{"> " + initialize, 0, "2025-11-25 proposed, never agreed"},
		{"> " + initialize, mcp.V2025_03_26, "2025-03-26 as told"},
		{"> " + initialize + "\n< " + initialized, mcp.V2025_03_26, "2025-11-25 negotiated"},
		{"> " + other, mcp.V2025_03_26, "2026-07-28 declared by messages"},
		{"> " + other + "\n" + `< {"jsonrpc":"2.0","id":9,"error":{"code":-32022,"message":"x"}}`, mcp.V2025_03_26, "2025-03-26 as told"},
		{"> " + other + "\n" + `< {"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"x"}}`, 0, "2026-07-28 declared by messages"},
	} {
		w := newWorld(t, registry(t, both()))
		w.judge.options.Revision = c.option
		w.add(capture.Meta, `{"command":["x"],"cwd":"/"}`, kind(capture.Start))
		w.lines(c.lines)
		r := w.judge.End(0)
		if got := fmt.Sprintf("%v %v", r.Revision, r.Basis); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.lines, got, c.want)
		}
	}
}

// TestPinned: a trace is judged at the revision that the user names, whatever it says.
func TestPinned(t *testing.T) {
	w := newWorld(t, registry(t, both()), trace)
	w.judge.options.Revision = mcp.V2026_07_28
	handshake(w)
	w.lines("> " + ping)
	same(t, "told", w.told, "M-1 2026-07-28 3")
	if r := w.judge.End(0); r.Revision != mcp.V2026_07_28 || r.Basis != ByOption || r.Also != nil {
		t.Errorf("%v %v", r.Revision, r.Basis)
	}
}

// TestRevisionOfMessage: each message is judged by its own.
func TestRevisionOfMessage(t *testing.T) {
	var got []string
	all := clause("A-1", mcp.AllRevisions, spy("a.a", &got, Message|Head, func(e *Event) string { return fmt.Sprintf("%d %v", e.Seq, e.Revision) }))
	r := registry(t, []*Clause{all})
	w := newWorld(t, r)
	w.lines("> " + ping)
	handshake(w)
	w.lines("> " + discover + "\n< " + discovered + `
		< {"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}
		< {"jsonrpc":"2.0","method":"n"}
		> {"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}}
		< ` + pong)
	same(t, "revisions", got, "1 ", "2 ", "3 ", "4 2026-07-28", "5 2026-07-28", "6 2026-07-28", "7 2025-11-25", "8 2026-07-28", "9 ")

	got = nil
	w = newWorld(t, r, web)
	head := func(n uint64, version, body string) {
		w.add(capture.Meta, `{}`, of(n), kind(capture.HTTPHead), verb("POST", mcp.VersionHeader, version))
		w.add(capture.C2S, body, of(n), verb("POST", mcp.VersionHeader, version))
	}
	head(1, "2026-07-28", discover)
	head(2, "2026-07-28", `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}}`)
	head(3, "2025-06-18", ping)
	head(4, "2025-06-18", initialize)
	head(5, "2025-06-18", ping)
	same(t, "over HTTP", got, "2 2026-07-28", "2 2026-07-28", "4 2026-07-28", "4 2026-07-28", "6 2025-06-18", "6 2025-06-18", "8 2025-06-18", "8 ", "10 ", "10 ")
}

// TestAnswerOfEarlyRequest: a request that was sent before initialize was answered has an open
// revision, and so has its answer; what is found at that is told at once all the same.
func TestAnswerOfEarlyRequest(t *testing.T) {
	w := newWorld(t, registry(t, []*Clause{clause("L-1", 1<<mcp.V2025_11_25, bad("a.lists", Result, "tools/list"))}))
	w.lines("> " + initialize + `
		> {"jsonrpc":"2.0","id":7,"method":"tools/list"}
		< ` + initialized + `
		< {"jsonrpc":"2.0","id":7,"result":{"tools":[]}}`)
	same(t, "told", w.told, "L-1 2025-11-25 4")
	same(t, "report", spellReport(w.judge.End(0)), "2025-11-25 L-1 fail 4")
}

// TestWhatNoRevisionAllows: a server that has not shown to know the revision is not judged by
// it, but by what all revisions demand alike.
func TestWhatNoRevisionAllows(t *testing.T) {
	w := newWorld(t, registry(t, []*Clause{clause("C-1", mcp.AllRevisions, bad("a.a", Request, "ping"))}))
	w.lines("> " + initialize + "\n< " + ping + `
		< {"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}
		> {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + declared + `}}
		< {"jsonrpc":"2.0","id":8,"method":"ping","params":{` + declared + `}}`)
	same(t, "told", w.told, "C-1 2025-11-25 2")
	same(t, "report", spellReport(w.judge.End(0)), "2026-07-28 C-1 fail 2 5")
}

// TestInitializeAgain: whoever was refused by an HTTP status, or not answered, asks again, and
// that is the handshake that counts.
func TestInitializeAgain(t *testing.T) {
	again := strings.Replace(initialize, `"id":0`, `"id":9`, 1)
	agreed := strings.Replace(initialized, `"id":0`, `"id":9`, 1)
	if again == initialize || agreed == initialized {
		t.Fatal("the texts have other ids")
	}
	check := func() []*Clause { return []*Clause{clause("L-1", 1<<mcp.V2025_11_25, bad("a.ping", Request, "ping"))} }
	w := newWorld(t, registry(t, check()))
	w.lines("> " + initialize + "\n> " + again + "\n< " + agreed + "\n> " + ping)
	same(t, "on stdio", w.told, "L-1 2025-11-25 4")
	if w.judge.convs[0].facts.Phase != Initialized {
		t.Errorf("phase %d", w.judge.convs[0].facts.Phase)
	}
	w = newWorld(t, registry(t, check()), web)
	w.add(capture.C2S, initialize, of(1))
	w.add(capture.S2C, "", of(1), kind(capture.HTTPHead), func(f *capture.Frame) { facts(f).Status = 401 })
	if w.judge.convs[0].facts.Phase != Refused {
		t.Errorf("after 401: phase %d", w.judge.convs[0].facts.Phase)
	}
	w.add(capture.C2S, again, of(2))
	w.add(capture.S2C, agreed, of(2), func(f *capture.Frame) { facts(f).Status = 200 })
	w.add(capture.C2S, ping, of(3))
	same(t, "over HTTP", w.told, "L-1 2025-11-25 5")
}
