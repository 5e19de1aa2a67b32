package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

// pairs spells answers with the request that they were paired with.
func answers(to *[]string) *Check {
	return spy("a.pairs", to, Answer, func(e *Event) string {
		if e.Request == nil {
			return fmt.Sprintf("%d to nothing", e.Seq)
		}
		return fmt.Sprintf("%d to %d", e.Seq, e.Request.Seq)
	})
}

func pairing(t *testing.T, all ...func(*capture.Frame)) (*world, *[]string) {
	got := new([]string)
	return newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, answers(got))}), all...), got
}

func TestPairing(t *testing.T) {
	w, got := pairing(t)
	w.lines(`
		> {"jsonrpc":"2.0","id":1,"method":"a"}
		< {"jsonrpc":"2.0","id":1,"method":"b"}
		> {"jsonrpc":"2.0","id":1,"method":"c"}
		< {"jsonrpc":"2.0","id":1.0,"result":{}}
		< {"jsonrpc":"2.0","id":"1","result":{}}
		> {"jsonrpc":"2.0","id":1,"error":{}}
		< {"jsonrpc":"2.0","id":10e-1,"error":{}}
		< {"jsonrpc":"2.0","id":1,"result":{}}
		> {"jsonrpc":"2.0","id":null,"method":"d"}
		< {"jsonrpc":"2.0","id":null,"error":{}}
		> {"jsonrpc":"2.0","id":"a\/b","method":"e"}
		< {"jsonrpc":"2.0","id":"a/b","result":{}}
		< {"jsonrpc":"2.0","result":{}}`)
	same(t, "pairs", *got, "4 to 1", "5 to nothing", "6 to 2", "7 to 3", "8 to nothing", "10 to nothing", "12 to 11", "13 to nothing")
	if s := w.judge.convs[0]; s.requests.n != 0 || len(s.requests.open) != 0 {
		t.Errorf("%d requests are open", s.requests.n)
	}
}

// TestPairingByExchange: clients that share an endpoint give the same ids.
func TestPairingByExchange(t *testing.T) {
	w, got := pairing(t, web, mcpSession("s"))
	for n := range uint64(4) {
		w.add(capture.C2S, ping, of(n+1), verb("POST"))
	}
	for _, n := range []uint64{3, 1, 4, 2} {
		w.add(capture.S2C, pong, of(n), status(200))
	}
	w.add(capture.S2C, pong, of(2), status(200))
	same(t, "pairs", *got, "5 to 3", "6 to 1", "7 to 4", "8 to 2", "9 to nothing")

	w, got = pairing(t, web, mcpSession("s"))
	for n := range uint64(3) {
		w.add(capture.C2S, ping, of(n+1), verb("POST"))
	}
	w.add(capture.S2C, pong, of(3), status(200)) // the newest is answered first, and another comes
	w.add(capture.C2S, ping, of(4), verb("POST"))
	for range 3 {
		w.add(capture.S2C, pong, of(9), status(200), event)
	}
	same(t, "pairs", *got, "4 to 3", "6 to 1", "7 to 2", "8 to 5")
}

// TestForgotten: a request that was forgotten stays so, and harms none that came since.
func TestForgotten(t *testing.T) {
	w, got := pairing(t, web, mcpSession("s"))
	w.add(capture.C2S, ping, of(1), verb("POST"))
	w.judge.convs[0].requests.n = maxOpen
	w.add(capture.C2S, ping, of(2), verb("POST"))
	w.add(capture.C2S, ping, of(3), verb("POST"))
	w.add(capture.S2C, pong, of(1), status(200))
	w.add(capture.S2C, pong, of(3), status(200))
	same(t, "pairs", *got, "4 to 2", "5 to 3")
	if n := w.judge.convs[0].requests.n; n != 0 {
		t.Errorf("%d requests are open", n)
	}
}

// TestPairingMany: an id that is in use again and again costs no more for that.
func TestPairingMany(t *testing.T) {
	w, got := pairing(t, web, mcpSession("s"))
	for n := range uint64(3 * maxLook) {
		w.add(capture.C2S, ping, of(n+1), verb("POST"))
	}
	w.add(capture.S2C, pong, of(2*maxLook), status(200)) // too far to look along the line, but its exchange knows
	w.add(capture.S2C, pong, of(3*maxLook), status(200))
	w.add(capture.S2C, pong, of(1), status(200))
	same(t, "pairs", *got, fmt.Sprintf("%d to %d", 3*maxLook+1, 2*maxLook), fmt.Sprintf("%d to %d", 3*maxLook+2, 3*maxLook), fmt.Sprintf("%d to 1", 3*maxLook+3))
}

// TestSlots: what was kept with a request is there for its answer.
func TestSlots(t *testing.T) {
	var slots [6]Slot[int]
	var got []int
	check := &Check{ID: "a.a", On: []On{
		{Kind: Request, Do: func(e *Event) {
			for i := range 5 {
				slots[i].Put(e.Request, -1)
				slots[i].Put(e.Request, i)
			}
		}},
		{Kind: Answer, Do: func(e *Event) {
			for i := range slots {
				if n, ok := slots[i].Get(e.Request); ok {
					got = append(got, n)
				}
			}
		}},
	}}
	w := newWorld(t, registry(t, []*Clause{clause("A-1", legacy, check)}))
	w.lines("> " + ping + "\n< " + pong + "\n< " + pong)
	if fmt.Sprint(got) != "[0 1 2 3 4]" {
		t.Error(got)
	}
}

// TestTraces: traces do not number exchanges. A head belongs to what follows it, unless that
// cannot be told.
func TestTraces(t *testing.T) {
	var got []string
	check := spy("a.a", &got, Message|Status, func(e *Event) string {
		text := spelt(e)
		if e.Post != nil {
			text += fmt.Sprintf(" post %d", e.Post.Seq)
		}
		if e.Reply != nil {
			text += fmt.Sprintf(" reply %d", e.Reply.Seq)
		}
		return text
	})
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)}), web, trace)
	head := func() { w.add(capture.C2S, "", kind(capture.HTTPHead), verb("", "content-type", "application/json")) }
	body := func(id int) { w.add(capture.C2S, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, id)) }
	reply := func() { w.add(capture.S2C, "", kind(capture.HTTPHead), status(200)) }
	result := func(id int) { w.add(capture.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id)) }
	head() // 1
	body(1)
	reply()
	result(1)
	head() // 5
	body(2)
	head() // 7
	body(3)
	reply() // 9
	result(3)
	reply() // 11
	result(2)
	head() // 13
	head()
	body(4)
	body(5)
	same(t, "events", got, "2 request client m post 1", "3 status server post 1 reply 3", "4 result server m post 1 reply 3",
		"6 request client m post 5", "8 request client m post 7", "9 status server reply 9", "10 result server m post 7 reply 9",
		"11 status server post 5 reply 11", "12 result server m post 5 reply 11", "15 request client m", "16 request client m")
}

// TestHeld: where answers may stand before their requests they wait a little.
func TestHeld(t *testing.T) {
	w, got := pairing(t, unordered)
	w.lines("< " + pong + "\n> " + ping)
	same(t, "paired", *got, "1 to 2")
	w.lines("< " + pong)
	for range maxHeldFrames {
		w.lines(`< {"jsonrpc":"2.0","method":"n"}`)
	}
	same(t, "waits", *got, "1 to 2")
	w.lines(`< {"jsonrpc":"2.0","method":"n"}`)
	same(t, "given up", *got, "1 to 2", "3 to nothing")

	w, got = pairing(t, unordered)
	w.lines("< " + pong)
	w.now += maxHeldTime
	w.lines(`< {"jsonrpc":"2.0","method":"n"}`)
	same(t, "too late", *got, "1 to nothing")
	w.lines("< " + pong)
	w.judge.Finish()
	w.judge.Finish()
	same(t, "at the end", *got, "1 to nothing", "3 to nothing")

	w, got = pairing(t, unordered)
	for range maxHeld + 1 {
		w.lines("< " + pong)
	}
	same(t, "too many", *got, fmt.Sprintf("%d to nothing", maxHeld+1))
	w, got = pairing(t, unordered)
	w.add(capture.S2C, `{"jsonrpc":"2.0","id":9,"result":"`+strings.Repeat("x", maxHeldFrame)+`"}`)
	same(t, "too large", *got, "1 to nothing")
	w, got = pairing(t, unordered)
	large := `{"jsonrpc":"2.0","id":9,"result":"` + strings.Repeat("x", maxHeldFrame-100) + `"}`
	for range maxHeldBytes/maxHeldFrame + 2 {
		w.add(capture.S2C, large)
	}
	if len(*got) == 0 {
		t.Error("holds more than it may")
	}
}

// TestFollows: which order of frames is certain.
func TestFollows(t *testing.T) {
	var got []string
	check := spy("a.a", &got, Notification, func(e *Event) string {
		sure := func(from Actor, ago time.Duration) bool {
			at := e.At
			at.Wall = at.Wall.Add(-ago)
			if at.Mono != capture.NoMono {
				at.Mono -= ago
			}
			return e.Follows(from, at)
		}
		return fmt.Sprint(e.Ordered(), sure(Client, 0), sure(Server, 0), sure(Server, time.Second))
	})
	r := registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)})
	for _, all := range [][]func(*capture.Frame){{}, {unordered}, {unordered, web}, {unordered, trace}} {
		newWorld(t, r, all...).lines(`> {"jsonrpc":"2.0","method":"n"}`)
	}
	same(t, "order", got, "true true true true", "false true false true", "false false false true", "true true true true")
}

// TestAsked: what checks may ask of an event.
func TestAsked(t *testing.T) {
	var got []string
	check := spy("a.a", &got, Request, func(e *Event) string {
		open := e.Open(e.From, []byte("9.0")) // before this one
		header := "none"
		if e.Post != nil {
			header, _ = e.Post.Head("x")
		}
		return fmt.Sprintf("%v %v %v %v %s", open != nil && open.Key() == e.Request.Key(), e.Pinned(), e.Forgot(), e.Meta().Exists(), header)
	})
	r := registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)})
	w := newWorld(t, r)
	w.lines("> " + ping + "\n> " + ping + "\n> " + discover + "\n< " + discovered)
	w.judge.convs[0].requests.n = maxOpen
	w.lines("> " + ping + "\n> " + discover)
	same(t, "asked", got, "false false false false none", "true false false false none", "false false false true none",
		"true false false false none", "false false true true none")

	got = nil
	w = newWorld(t, r, web, trace)
	w.judge.options.Revision = mcp.V2025_11_25
	w.add(capture.C2S, "", kind(capture.HTTPHead), verb("POST", "x", "y"))
	w.add(capture.C2S, ping)
	same(t, "pinned", got, "false true false false y")
}

// TestDeclarations: capabilities that come with every request are read once.
func TestDeclarations(t *testing.T) {
	var got []*Caps
	check := &Check{ID: "a.a", On: []On{{Kind: Request, Do: func(e *Event) { got = append(got, e.Request.Caps) }}}}
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, check)}))
	ask := func(caps string) *Caps {
		w.add(capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":`+caps+`}}}`)
		return got[len(got)-1]
	}
	one, two := ask(`{"a":{}}`), ask(`{"b":{}}`)
	if ask(`{"a":{}}`) != one || ask(`{"b":{}}`) != two || !one.Has("a") || one.Has("b") || !one.Known() || ask(`7`).Known() {
		t.Error("two clients that take turns")
	}
	if c := ask(`{"` + strings.Repeat("x", maxCapPath+1) + `":{}}`); c.Lacks("y") {
		t.Error("a name that is too long to be kept")
	}
	for i := range maxCaps {
		ask(fmt.Sprintf(`{"c%d":{}}`, i))
	}
	if c := ask(`{"a":{}}`); c.Lacks("z") || c.Has("a") || !c.Known() {
		t.Errorf("too many: %+v", c)
	}
}
