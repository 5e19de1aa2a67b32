package main

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

// traffic is a session of a well-behaved pair of peers, made frame by frame: of any
// length, in memory or as a log. Most of it is tool calls; some report progress, some
// messages are logged, resources are read.
type traffic struct {
	revision mcp.Revision
	web      bool
	calls    int

	frame capture.Frame
	yield func(*capture.Frame) bool
	done  bool
	seq   uint64
	call  int // exchange, too
	open  bool
}

// frames yields the frames of the session; each holds until the next.
func (t traffic) frames() iter.Seq[*capture.Frame] {
	return func(yield func(*capture.Frame) bool) {
		t.yield = yield
		t.emit(capture.Meta, capture.Start, `{"command":["server"],"cwd":"/"}`, nil)
		t.begin()
		for t.call < t.calls && !t.done {
			t.next()
		}
	}
}

func (t *traffic) String() string {
	if t.web {
		return "http " + t.revision.String()
	}
	return "stdio " + t.revision.String()
}

func (t *traffic) modern() bool { return mcp.PerRequest(t.revision) }

// emit yields a frame.
func (t *traffic) emit(dir capture.Dir, kind capture.Kind, payload string, facts *capture.HTTPFacts) {
	if t.done {
		return
	}
	t.seq++
	mono := time.Duration(t.seq) * time.Millisecond
	t.frame = capture.Frame{
		Tap: "bench-1-000000000000", Label: "bench", Seq: t.seq, Time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(mono), Mono: mono,
		Dir: dir, Transport: capture.Stdio, Kind: kind, HTTP: facts,
	}
	f := &t.frame
	if payload != "" {
		f.Form, f.Payload, f.Size = capture.Raw, append(f.Payload[:0], payload...), int64(len(payload)+1)
	}
	if t.web {
		f.Transport = capture.HTTP
		if kind != capture.Start {
			f.Conn, f.Exchange = "127.0.0.1:40000", uint64(t.call)+1
			if !t.modern() {
				f.MCPSession = "bench-session"
			}
		}
	}
	t.done = !t.yield(f)
}

// ask sends a message of the client: over HTTP the head of a request first.
func (t *traffic) ask(method, name, payload string) {
	if !t.web {
		t.emit(capture.C2S, capture.Line, payload, nil)
		return
	}
	headers := map[string]string{"accept": "application/json, text/event-stream", "content-type": "application/json", "mcp-protocol-version": t.revision.String()}
	if t.modern() {
		headers["mcp-method"] = method
		if name != "" {
			headers["mcp-name"] = name
		}
	} else if t.call > 0 {
		headers["mcp-session-id"] = "bench-session"
	}
	facts := &capture.HTTPFacts{Verb: "POST", Path: "/mcp", Request: headers}
	t.emit(capture.Meta, capture.HTTPHead, `{"command":[],"cwd":"/"}`, facts)
	t.emit(capture.C2S, capture.Line, payload, facts)
}

// say sends a message of the server before its answer: over HTTP as part of a stream.
func (t *traffic) say(payload string) {
	if !t.web {
		t.emit(capture.S2C, capture.Line, payload, nil)
		return
	}
	if !t.open {
		t.open = true
		t.emit(capture.Meta, capture.Open, `{"command":[],"cwd":"/"}`, t.response("text/event-stream", false))
	}
	t.emit(capture.S2C, capture.Line, payload, t.response("text/event-stream", true))
}

// answer sends the last message of an exchange.
func (t *traffic) answer(payload string) {
	switch {
	case t.open:
		t.say(payload)
		facts := &capture.HTTPFacts{Status: 200, ClosedBy: "server"}
		t.emit(capture.Meta, capture.Close, `{"command":[],"cwd":"/"}`, facts)
	case t.web:
		t.emit(capture.S2C, capture.Line, payload, t.response("application/json", false))
	default:
		t.emit(capture.S2C, capture.Line, payload, nil)
	}
	t.open = false
	t.call++
}

func (t *traffic) response(media string, event bool) *capture.HTTPFacts {
	facts := &capture.HTTPFacts{Status: 200}
	if event {
		facts.SSE = &capture.SSEEvent{}
		return facts
	}
	facts.Response = map[string]string{"content-type": media}
	if media == "text/event-stream" {
		facts.Response["x-accel-buffering"] = "no"
	}
	if t.call == 0 && !t.modern() {
		facts.Response["mcp-session-id"] = "bench-session"
	}
	return facts
}

const benchTools = `"tools":[{"name":"read_file","description":"Read a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},` +
	`{"name":"write_file","description":"Write a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}}}}]`

// begin is how a client gets to know a server.
func (t *traffic) begin() {
	const caps = `"capabilities":{"tools":{"listChanged":true},"resources":{},"logging":{}}`
	if t.modern() {
		t.request("server/discover", "", "", false)
		t.result(`"supportedVersions":["` + t.revision.String() + `"],` + caps + `,"ttlMs":1000,"cacheScope":"public"`)
		t.request("tools/list", "", "", false)
		t.result(benchTools + `,"ttlMs":1000,"cacheScope":"public"`)
		return
	}
	t.request("initialize", "", `"protocolVersion":"`+t.revision.String()+`","capabilities":{"roots":{}},"clientInfo":{"name":"bench","version":"1"}`, false)
	t.result(`"protocolVersion":"` + t.revision.String() + `",` + caps + `,"serverInfo":{"name":"bench","version":"1"}`)
	t.ask("notifications/initialized", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if t.web {
		t.emit(capture.S2C, capture.HTTPHead, "", &capture.HTTPFacts{Status: 202})
		t.call++
	}
	t.request("tools/list", "", "", false)
	t.result(benchTools)
}

// next is one call.
func (t *traffic) next() {
	n := strconv.Itoa(t.call)
	if t.call%10 == 9 {
		uri := "file:///srv/data/" + n
		t.request("resources/read", uri, `"uri":"`+uri+`"`, false)
		cached := ""
		if t.modern() {
			cached = `,"ttlMs":1000,"cacheScope":"public"`
		}
		t.result(`"contents":[{"uri":"` + uri + `","mimeType":"text/plain","text":"` + benchText + `"}]` + cached)
		return
	}
	progress := t.call%5 == 3
	tool := [...]string{"read_file", "write_file"}[t.call%2]
	t.request("tools/call", tool, `"name":"`+tool+`","arguments":{"path":"/srv/data/`+n+`","text":"`+benchText+`"}`, progress)
	if progress {
		t.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p` + n + `","progress":1,"total":2,"message":"half of it"}}`)
		if !t.modern() {
			t.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"bench","data":"call ` + n + ` goes on"}}`)
		}
	}
	t.result(`"content":[{"type":"text","text":"` + benchText + `"}],"isError":false`)
}

var benchText = strings.Repeat("some text ", 15)

// request sends a request with the number of the call as its id.
func (t *traffic) request(method, name, params string, progress bool) {
	meta := ""
	if t.modern() {
		meta = `"io.modelcontextprotocol/protocolVersion":"` + t.revision.String() + `","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"roots":{}}`
	}
	if progress {
		if meta != "" {
			meta += ","
		}
		meta += fmt.Sprintf(`"progressToken":"p%d"`, t.call)
	}
	if meta != "" {
		if params != "" {
			params += ","
		}
		params += `"_meta":{` + meta + `}`
	}
	t.ask(method, name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, t.call, method, params))
}

// result answers the request of the call.
func (t *traffic) result(members string) {
	if t.modern() {
		members = `"resultType":"complete",` + members + `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1"}}`
	}
	t.answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{%s}}`, t.call, members))
}
