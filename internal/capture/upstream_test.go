package capture

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// upstreamEnvelope is a line as upstream mcpsnoop's reader decodes it: the fields of
// ../shared/facts/upstream-behaviour.md §2.3 with their types.
type upstreamEnvelope struct {
	SessionID       string                `json:"session_id"`
	ServerLabel     string                `json:"server_label"`
	Seq             uint64                `json:"seq"`
	TS              time.Time             `json:"ts"`
	Direction       string                `json:"direction"`
	Transport       string                `json:"transport"`
	Raw             json.RawMessage       `json:"raw"`
	Text            string                `json:"text"`
	MCPMethod       string                `json:"mcp_method"`
	MCPName         string                `json:"mcp_name"`
	ProtocolVersion string                `json:"mcp_protocol_version"`
	ParamHeaders    []upstreamParamHeader `json:"mcp_param_headers"`
	Batch           bool                  `json:"batch"`
	ConnID          string                `json:"conn_id"`
	Truncated       bool                  `json:"truncated"`
	Redacted        bool                  `json:"redacted"`
	Status          int                   `json:"status"`
	AuthChallenge   string                `json:"auth_challenge"`
}

type upstreamParamHeader struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Redacted bool   `json:"redacted"`
}

// upstreamKind classifies as §4.1 there says: first match wins.
func upstreamKind(e *upstreamEnvelope) string {
	var m struct {
		Method            *string
		ID, Result, Error json.RawMessage
	}
	switch {
	case e.Direction == "meta":
		return "meta"
	case e.Direction == "stderr":
		return "stderr"
	case e.Truncated:
		return "other"
	case e.Status != 0 && e.Raw == nil && e.Text == "":
		return "transport"
	case json.Unmarshal(e.Raw, &m) != nil || m.Method == nil && m.ID == nil && m.Result == nil && m.Error == nil:
		if e.Status >= 400 {
			return "transport"
		}
		return "invalid"
	case m.Method == nil && (m.Result != nil || m.Error != nil):
		return "response"
	case m.Method != nil && m.ID != nil:
		return "request"
	}
	return "notification"
}

// TestUpstreamReadsOurs writes what both taps write and reads it as upstream would.
func TestUpstreamReadsOurs(t *testing.T) {
	command := []string{"node", `C:\srv\index.js`, "--name=\"ü\""}
	notes := NewNotes(StartInfo{Format: FormatVersion, Tool: "mcpsnoop 1", PID: 3, Command: command, Cwd: "/w", Client: &Client{PID: 2, Start: "9"}})
	web := NewNotes(StartInfo{Format: FormatVersion, Listen: "127.0.0.1:7000", Target: "http://t/mcp"})
	msg := func(dir Dir, payload string) func(*Frame) {
		return func(f *Frame) { f.Dir, f.Form, f.Payload = dir, Unjudged, []byte(payload) }
	}
	facts := func(set func(*Frame), h HTTPFacts) func(*Frame) {
		return func(f *Frame) {
			set(f)
			f.HTTP, f.Transport, f.Conn, f.Exchange, f.MCPSession = &h, HTTP, "127.0.0.1:5", 2, "e1"
		}
	}
	mark := func(kind Kind) func(*Frame) { return func(f *Frame) { web.Mark(f, kind) } }
	head := func(f *Frame) { f.Dir, f.Kind = S2C, HTTPHead }
	for i, c := range []struct {
		make func(*Frame)
		kind string
		want func(*upstreamEnvelope) bool
	}{
		{notes.Start, "meta", nil},
		{msg(C2S, `{"jsonrpc":"2.0","id":1,"method":"ping"}`), "request", nil},
		{msg(S2C, ` {"jsonrpc":"2.0","id":1 ,"result":{}}`), "response", nil},
		{msg(S2C, `{"jsonrpc":"2.0","method":"notifications/x"}`), "notification", nil},
		{msg(S2C, `banner`), "invalid", func(e *upstreamEnvelope) bool { return e.Text == "banner" }},
		{msg(S2C, "\xff"), "invalid", nil},
		{msg(S2C, `[{"jsonrpc":"2.0","id":1,"result":{}}]`), "invalid", nil},
		{msg(Stderr, `{"level":"info"}`), "stderr", func(e *upstreamEnvelope) bool { return e.Text == `{"level":"info"}` && e.Raw == nil }},
		{func(f *Frame) { msg(S2C, `{"jsonrpc":"2.0"`)(f); f.Flags = Truncated }, "other", func(e *upstreamEnvelope) bool { return e.Text != "" && e.Raw == nil }},
		{func(f *Frame) { notes.Gap(f, GapInfo{Lost: 2, First: 8, Last: 9}) }, "meta", nil},
		{func(f *Frame) { notes.Clock(f, ClockInfo{Wall: time.Hour}) }, "meta", nil},
		{func(f *Frame) { notes.End(f, EndInfo{Signal: "SIGKILL"}) }, "meta", nil},
		{facts(web.Start, HTTPFacts{}), "meta", nil},
		{facts(mark(HTTPHead), HTTPFacts{Verb: "GET", Path: "/mcp", Request: map[string]string{"accept": "text/event-stream"}}), "meta", nil},
		{facts(head, HTTPFacts{Status: 202}), "transport", func(e *upstreamEnvelope) bool { return e.Status == 202 && e.ConnID == "127.0.0.1:5" }},
		{facts(head, HTTPFacts{Status: 401, Response: map[string]string{"www-authenticate": "Bearer x"}}), "transport", func(e *upstreamEnvelope) bool { return e.AuthChallenge == "Bearer x" }},
		{facts(mark(Open), HTTPFacts{Status: 200}), "meta", nil},
		{facts(mark(HTTPHead), HTTPFacts{SSE: &SSEEvent{ID: "1", Retry: 5}}), "meta", nil},
		{facts(mark(Close), HTTPFacts{ClosedBy: "client"}), "meta", nil},
		{facts(msg(C2S, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), HTTPFacts{Verb: "POST", Request: map[string]string{
			"mcp-method": "tools/call", "mcp-name": "t", "mcp-protocol-version": "2026-07-28", "mcp-param-user-id": "7", "mcp-session-id": "e1"}}), "request",
			func(e *upstreamEnvelope) bool {
				return e.MCPMethod == "tools/call" && e.MCPName == "t" && e.ProtocolVersion == "2026-07-28" && reflect.DeepEqual(e.ParamHeaders, []upstreamParamHeader{{"Mcp-Param-User-Id", "7", false}})
			}},
		{facts(msg(S2C, "{\n \"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), HTTPFacts{Status: 200, SSE: &SSEEvent{ID: "2"}}), "response", func(e *upstreamEnvelope) bool { return e.Status == 200 }},
		{facts(msg(S2C, "<html>"), HTTPFacts{Status: 502}), "transport", nil},
	} {
		f := Frame{Tap: "s-1-0a", Label: "s", Seq: uint64(i + 1), Time: time.Date(2026, 11, 30, 0, 0, i, 5, time.UTC), Transport: Stdio}
		c.make(&f)
		line := AppendFrame(nil, &f)
		var e upstreamEnvelope
		dec := json.NewDecoder(bytes.NewReader(line)) // a stream of objects, as upstream reads it
		if err := dec.Decode(&e); err != nil || dec.More() {
			t.Errorf("%s%v", line, err)
			continue
		}
		if e.SessionID != f.Tap || e.ServerLabel != f.Label || e.Seq != f.Seq || !e.TS.Equal(f.Time) {
			t.Errorf("%sreads as %+v", line, e)
		}
		if got := upstreamKind(&e); got != c.kind {
			t.Errorf("%sis of kind %s, want %s", line, got, c.kind)
		}
		if c.want != nil && !c.want(&e) {
			t.Errorf("%sreads as %+v", line, e)
		}
		// The command of a session is what its last meta frame says.
		if e.Direction == "meta" {
			var meta struct {
				Command []string
				Cwd     string
			}
			if err := json.Unmarshal(e.Raw, &meta); err != nil {
				t.Errorf("%s%v", line, err)
			} else if e.Transport == "stdio" && (!reflect.DeepEqual(meta.Command, command) || meta.Cwd != "/w") {
				t.Errorf("%stakes the command away: %+v", line, meta)
			}
		}
		// What is a note of the tap's own has no other direction, heads of responses apart.
		if own := f.Kind != Line && !(f.Kind == HTTPHead && f.Status() != 0); own != (e.Direction == "meta") {
			t.Errorf("%shas the wrong direction", line)
		}
		if bytes.Contains(line[:len(line)-1], []byte("\n")) || strings.Contains(string(line), `"raw":`) && !json.Valid(e.Raw) {
			t.Errorf("%sis no line", line)
		}
	}
}
