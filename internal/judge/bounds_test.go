package judge

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/mcp"
)

// TestBounds: whatever a log holds, only so much of it is remembered.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 10*maxDetail)
	noisy := &Check{ID: "a.a", On: []On{{Kind: Request, Do: func(e *Event) {
		e.Bad(long)
		e.Note(long)
	}}}}
	w := newWorld(t, registry(t, []*Clause{clause("A-1", legacy, noisy), clause("A-2", legacy, bad("a.b", Request))}))
	w.judge.options.Found = nil
	for id := range maxOpen + 1 {
		w.add(capture.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id))
	}
	s := w.judge.convs[0]
	if len(s.requests.open) != 1 || s.requests.n != 1 || s.requests.epoch != 1 {
		t.Errorf("%d open requests, %d ids", s.requests.n, len(s.requests.open))
	}
	if len(s.waiting) != 2*maxFindings || len(s.notes) != maxNotes {
		t.Errorf("%d wait, %d notes", len(s.waiting), len(s.notes))
	}
	if n := len(s.notes[0].Detail); n > maxDetail+3 {
		t.Errorf("a note of %d bytes", n)
	}
	handshake(w)
	for _, row := range w.judge.End(0).List {
		if len(row.Findings) != maxFindings || row.More != maxOpen+2-maxFindings || len(row.Findings[0].Detail) > maxDetail+3 {
			t.Errorf("%d findings, %d more", len(row.Findings), row.More)
		}
	}
}

// TestBoundOfAll: of many sessions each keeps what decides its rows.
func TestBoundOfAll(t *testing.T) {
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, bad("a.a", Request))}))
	w.judge.found = maxFound - 1
	for range 3 {
		w.add(capture.C2S, ping)
	}
	w.add(capture.C2S, ping, func(f *capture.Frame) { f.Tap = "other" })
	w.add(capture.C2S, ping, func(f *capture.Frame) { f.Tap = "other" })
	same(t, "first", spellReport(w.judge.End(0)), "2026-07-28 A-1 fail 1 +2")
	same(t, "second", spellReport(w.judge.End(1)), "2026-07-28 A-1 fail 4 +1")
}

// TestBoundsOverHTTP: heads that nothing follows, exchanges that do not end, one that goes
// on and on.
func TestBoundsOverHTTP(t *testing.T) {
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, bad("a.a", Malformed))}), web)
	for n := range uint64(maxPosts + 1) {
		w.add(capture.Meta, `{}`, of(n+1), kind(capture.HTTPHead), verb("POST"))
	}
	if n := len(w.judge.heads); n > maxPosts {
		t.Errorf("%d heads are remembered", n)
	}
	for n := range uint64(maxPosts + 1) {
		w.add(capture.C2S, ping, of(n+1), verb("POST"))
	}
	s := w.judge.convs[0]
	if n := len(s.posts.byExchange); n > maxPosts {
		t.Errorf("%d exchanges are remembered", n)
	}
	for range jsonrpc.MaxBatch + 1 {
		w.add(capture.C2S, ping, of(1), verb("POST"))
	}
	if n := len(s.posts.byExchange[1].Requests); n > jsonrpc.MaxBatch {
		t.Errorf("%d requests of one exchange", n)
	}

	w = newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, bad("a.a", Malformed))}), web, trace)
	for range maxPosts + 1 {
		w.add(capture.C2S, "", kind(capture.HTTPHead), verb("GET"))
	}
	if n := len(w.judge.convs[0].posts.waiting); n > maxPosts {
		t.Errorf("%d exchanges of a trace wait", n)
	}
}

// TestBoundOfCaps: what a peer declares is remembered up to a limit, and then nothing
// follows from what is not there.
func TestBoundOfCaps(t *testing.T) {
	var caps []string
	for i := range maxCapPaths + 1 {
		caps = append(caps, fmt.Sprintf(`"c%d":{"off":false,"none":null,"d":{"d":{"d":{"deep":true}}}}`, i))
	}
	var versions []string
	for i := range maxSupported + 1 {
		versions = append(versions, fmt.Sprintf(`"%d%s"`, i, strings.Repeat("v", 10*maxTarget)))
	}
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, bad("a.a", Malformed))}))
	w.lines(`
		> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + versions[0][1:] + `,"capabilities":{` + strings.Join(caps, ",") + `}}}
		< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":` + versions[0] + `,"capabilities":{"a":{"b":{"c":{"d":{"e":{}}}}},"x":false}}}
		> {"jsonrpc":"2.0","id":2,"method":"server/discover"}
		< {"jsonrpc":"2.0","id":2,"result":{"supportedVersions":[` + strings.Join(versions, ",") + `],"capabilities":{"big":"` + strings.Repeat("x", maxCapText) + `"}}}`)
	f := &w.judge.convs[0].facts
	if paths, all := f.ClientCaps.Paths(); all || f.ClientCaps.Lacks("nothing") {
		t.Error("some are not remembered", paths)
	}
	if c := f.ServerCaps; !c.Known() || !c.Has("a.b.c.d") || c.Has("a.b.c.d.e") || !c.Lacks("x") || c.Has("x") {
		t.Errorf("%v", c)
	}
	if c := f.DiscoverCaps; c.Lacks("big") {
		t.Errorf("%v", c)
	}
	if len(f.Supported) != maxSupported || len(f.Supported[0]) > maxTarget || len(f.Version) > maxTarget || len(f.Asked) > maxTarget {
		t.Errorf("%d versions", len(f.Supported))
	}
}

// TestMemory: what a session has behind it costs next to nothing.
func TestMemory(t *testing.T) {
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, bad("a.a", Malformed))}), web)
	exchange := func(n uint64) {
		id := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, n)
		w.add(capture.Meta, `{}`, of(n), kind(capture.HTTPHead), verb("POST", "mcp-name", fmt.Sprint(n)))
		w.add(capture.C2S, id+`"method":"tools/call","params":{"name":"x","text":"`+strings.Repeat("x", 1000)+`"}}`, of(n), verb("POST"))
		w.add(capture.S2C, id+`"result":{}}`, of(n), status(200))
	}
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	const exchanges = 20_000
	for n := range uint64(exchanges) {
		exchange(n + 1)
	}
	with := heap()
	w.judge = nil
	if each := (with - heap()) / exchanges; each > 4 {
		t.Errorf("%.0f bytes an exchange", each)
	}
	runtime.KeepAlive(w)
}
