package judge

import (
	"fmt"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

func TestKinds(t *testing.T) {
	for payload, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                "request client ping",
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:             "request client ping",
		`{"jsonrpc":"2.0","method":"ping"}`:                       "notification client ping",
		`{"jsonrpc":"2.0","id":1,"result":null}`:                  "result client",
		`{"jsonrpc":"2.0","id":1,"error":null}`:                   "error client",
		`{"error":"no"}`:                                          "error client",
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}`: "malformed client",
		`{"jsonrpc":"2.0","id":1,"method":7}`:                     "malformed client",
		`{"jsonrpc":"2.0","id":1,"method":null,"result":{}}`:      "malformed client",
		`{"jsonrpc":"2.0","id":1}`:                                "malformed client",
		`{"id":1,"method":"ping","result":{}}`:                    "request client ping",
		`7`:                                                       "malformed client",
		`not json`:                                                "malformed client",
		``:                                                        "",
		`  `:                                                      "",
	} {
		var got []string
		w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, spy("a.a", &got, Message, func(e *Event) string {
			if (e.Msg == nil) != (payload == "not json") {
				t.Errorf("%s: Msg is %v", payload, e.Msg)
			}
			return strings.TrimSpace(fmt.Sprintf("%s %v %s", kindNames[e.Kind], e.From, e.Method))
		}))}))
		w.add(capture.C2S, payload)
		if want == "" {
			same(t, payload, got)
		} else {
			same(t, payload, got, want)
		}
	}
}

func TestHTTPEvents(t *testing.T) {
	var got []string
	note := spy("a.a", &got, Head|Status|Closed|Message, func(e *Event) string {
		text := spelt(e)
		if e.Post != nil {
			text += fmt.Sprintf(" of %d", e.Post.Exchange)
		}
		if e.Reply != nil {
			text += fmt.Sprintf(" %d", e.Reply.Status)
		}
		if e.ClosedBy != 0 {
			text += " by " + e.ClosedBy.String()
		}
		return text
	})
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, note)}), web)
	post := verb("POST", "content-type", "application/json")
	// A body as an answer.
	w.add(capture.Meta, `{}`, of(1), kind(capture.HTTPHead), post)
	w.add(capture.C2S, initialize, of(1), post)
	w.add(capture.S2C, initialized, of(1), status(200))
	// No body.
	w.add(capture.Meta, `{}`, of(2), kind(capture.HTTPHead), post)
	w.add(capture.C2S, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, of(2), post)
	w.add(capture.S2C, "", of(2), kind(capture.HTTPHead), status(202))
	// A stream.
	w.add(capture.Meta, `{}`, of(3), kind(capture.HTTPHead), post)
	w.add(capture.C2S, ping, of(3), post)
	w.add(capture.Meta, `{}`, of(3), kind(capture.Open), status(200))
	w.add(capture.S2C, `{"jsonrpc":"2.0","method":"n"}`, of(3), status(200), event)
	w.add(capture.S2C, pong, of(3), status(200), event)
	w.add(capture.Meta, `{}`, of(3), kind(capture.Close), func(f *capture.Frame) { facts(f).ClosedBy = "server" })
	// A GET, given up.
	w.add(capture.Meta, `{}`, of(4), kind(capture.HTTPHead), verb("GET"))
	w.add(capture.Meta, `{}`, of(4), kind(capture.Close), func(f *capture.Frame) { facts(f).ClosedBy = "client" })
	// The head of a POST, of which no body was seen.
	w.add(capture.Meta, `{}`, of(5), kind(capture.HTTPHead), post)
	w.add(capture.Meta, `{}`, of(5), kind(capture.Close), func(f *capture.Frame) { facts(f).ClosedBy = "upstream" })
	// An answer before the body was read: the head is told of once.
	w.add(capture.Meta, `{}`, of(6), kind(capture.HTTPHead), post)
	w.add(capture.S2C, "", of(6), kind(capture.HTTPHead), status(413))
	w.add(capture.C2S, ping, of(6), post)
	// Of an exchange that began before the log: only what was seen.
	w.add(capture.S2C, `{"jsonrpc":"2.0","method":"n"}`, of(7), status(200), event)
	same(t, "events", got,
		"2 head client of 1", "2 request client initialize of 1", "3 status server of 1 200", "3 result server initialize of 1 200",
		"5 head client of 2", "5 notification client notifications/initialized of 2", "6 status server of 2 202",
		"8 head client of 3", "8 request client ping of 3", "9 status server of 3 200",
		"10 notification server n of 3 200", "11 result server ping of 3 200", "12 closed server of 3 by server",
		"13 head client of 4", "14 closed server of 4 by client",
		"15 head client of 5", "16 closed server of 5",
		"17 head client of 6", "18 status server of 6 413", "19 request client ping of 6",
		"20 status server of 7 200", "20 notification server n of 7 200",
	)
	if n := len(w.judge.convs[0].posts.byExchange); n != 1 { // the stream that goes on
		t.Errorf("%d exchanges are remembered", n)
	}
}

// TestComplete: headers that are not there prove something only where all were seen.
func TestComplete(t *testing.T) {
	var got []string
	note := spy("a.a", &got, Message|Status, func(e *Event) string {
		post, reply := "none", "none"
		if e.Post != nil {
			post = fmt.Sprint(e.Post.Complete)
		}
		if e.Reply != nil {
			reply = fmt.Sprint(e.Reply.Complete)
		}
		return fmt.Sprintf("%d %s %s", e.Seq, post, reply)
	})
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, note)}), web)
	w.add(capture.C2S, initialize, verb("")) // an old recorder
	w.add(capture.S2C, initialized, status(200))
	w.add(capture.S2C, `{"jsonrpc":"2.0","method":"n"}`, of(7), status(200), event) // its stream was opened before
	w.add(capture.C2S, ping, of(8), verb("POST"))
	w.add(capture.S2C, pong, of(8), status(200))
	same(t, "complete", got, "1 false none", "2 false false", "3 false false", "3 false false", "4 true none", "5 true true", "5 true true")
}

// TestPages: JSON that is no message does not arrive as one.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		payload string
		status  int
		want    string
	}{
		{`{"error":"unauthorized"}`, 401, ""},
		{`{"error":"invalid_token","error_description":"x"}`, 400, ""},
		{`{"error":{"code":401,"message":"x"}}`, 401, ""},
		{`{"message":"not found"}`, 404, ""},
		{`{"id":1,"error":{"code":-32600,"message":"x"}}`, 400, ""},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x"}}`, 400, "error"},
		{`{"jsonrpc":"1.0","error":"unauthorized"}`, 401, "error"},
		{`{"id":1,"error":{"code":-32600,"message":"x"}}`, 200, "error"},
		{`{"id":1,"result":{}}`, 200, "result"},
		{`{"message":"hello"}`, 200, "malformed"},
	} {
		var got []string
		r := registry(t, []*Clause{clause("A-1", mcp.AllRevisions, spy("a.a", &got, Message, func(e *Event) string { return kindNames[e.Kind] }))})
		w := newWorld(t, r, web, of(1))
		w.add(capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, verb("POST"))
		w.add(capture.S2C, c.payload, status(c.status))
		want := []string{"request"}
		if c.want != "" {
			want = append(want, c.want)
		}
		same(t, c.payload, got, want...)
		if strings.Contains(c.payload, `"id":1`) != (w.judge.convs[0].requests.n == 0) {
			t.Errorf("%s: %d requests are open", c.payload, w.judge.convs[0].requests.n)
		}
		got = nil
		w = newWorld(t, r, web, trace)
		w.add(capture.S2C, c.payload, status(c.status))
		if len(got) != 1 {
			t.Errorf("%s in a trace: %q", c.payload, got)
		}
	}
}

// TestRefusedByPage: a page that names initialize refuses it, so that the next one counts.
func TestRefusedByPage(t *testing.T) {
	w := newWorld(t, registry(t, both()), web)
	w.add(capture.C2S, initialize, of(1), verb("POST"))
	w.add(capture.S2C, `{"id":0,"error":{"code":401,"message":"who are you"}}`, of(1), status(401))
	w.add(capture.C2S, initialize, of(2), verb("POST"))
	w.add(capture.S2C, initialized, of(2), status(200))
	if f := &w.judge.convs[0].facts; f.Phase != Initialized || f.Initialize != 3 {
		t.Errorf("phase %d by %d", f.Phase, f.Initialize)
	}
}

// TestUnread: what was cut or blacked out keeps the books and reaches no check.
func TestUnread(t *testing.T) {
	var got []string
	note := spy("a.a", &got, Message, func(e *Event) string {
		return fmt.Sprintf("%s whole %v start %v", spelt(e), e.Whole(), e.FromStart())
	})
	redacted := func(f *capture.Frame) { f.Flags |= capture.Redacted }
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, note)}))
	handshake(w)
	w.add(capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"[REDACTED]"}}`, redacted)
	w.add(capture.S2C, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.add(capture.C2S, ping)
	w.add(capture.S2C, pong, redacted)
	w.add(capture.C2S, `{"jsonrpc":"2.0","id":2,"met`, func(f *capture.Frame) { f.Flags |= capture.Truncated })
	w.add(capture.S2C, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	same(t, "events", got,
		"1 request client initialize whole true start true", "2 result server initialize whole true start true",
		"4 result server tools/call whole false start true", "5 request client ping whole false start true",
		"8 result server whole false start false",
	)
	if n := w.judge.convs[0].requests.n; n != 0 {
		t.Errorf("%d requests are open", n)
	}
}

// TestBatches: elements are messages where arrays are; elsewhere an array is one thing,
// whose elements keep the books.
func TestBatches(t *testing.T) {
	const array = `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]`
	for rev, want := range map[mcp.Revision][]string{
		mcp.V2024_11_05: {"request client a", "notification client b", "result server a"},
		mcp.V2025_03_26: {"request client a", "notification client b", "result server a"},
		mcp.V2025_06_18: {"malformed client", "result server a"},
		mcp.V2025_11_25: {"malformed client", "result server a"},
	} {
		for _, split := range []bool{false, true} {
			for _, over := range []func(*capture.Frame){func(*capture.Frame) {}, web} {
				var got []string
				w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, spy("a.a", &got, Message, func(e *Event) string { return spelt(e)[2:] }))}), over)
				w.lines(strings.ReplaceAll("> "+initialize+"\n< "+initialized, "2025-11-25", rev.String()), status(200))
				got = nil
				if split { // as other recorders write it
					element := func(f *capture.Frame) { f.Flags |= capture.Batch }
					w.add(capture.C2S, `{"jsonrpc":"2.0","id":1,"method":"a"}`, element)
					w.add(capture.C2S, `{"jsonrpc":"2.0","method":"b"}`, element)
				} else {
					w.add(capture.C2S, array)
				}
				w.add(capture.S2C, `{"jsonrpc":"2.0","id":1,"result":{}}`, status(200))
				same(t, fmt.Sprintf("%v, split %v", rev, split), got, want...)
			}
		}
	}
}

// TestEmptyBatch: an array without elements is no message at any revision.
func TestEmptyBatch(t *testing.T) {
	var got []string
	w := newWorld(t, registry(t, []*Clause{clause("A-1", mcp.AllRevisions, spy("a.a", &got, Message, spelt))}))
	handshake(w)
	w.add(capture.C2S, `[]`)
	w.add(capture.C2S, `[]`)
	same(t, "events", got[2:], "3 malformed client", "4 malformed client")
}
