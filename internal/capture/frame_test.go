package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"mcpsnoop/internal/jsontree"
)

var payloads = []string{
	`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"a":1,"a":2}`, ` { "a" : [ 1 , 2 ] }` + "\t", `null`, `1e400`, `"\ud83d"`, `"\u0000"`, `"<&>` + "\u2028" + `"`,
	`[{"jsonrpc":"2.0"},[]]`, "", " ", "\r", "banner", "{", `{"a":1}}`, "a\x00b", "\xff\xfe{", "\x1b[31mred", "\uFEFF{}", "tab\t\"quote\\ 漢字 😀", "\xed\xa0\x80", "\"\xff\"",
	"{\n  \"a\": 1,\r\n  \"b\": [\n]\n}\n",
	strings.Repeat("[", 1000) + strings.Repeat("]", 1000), strings.Repeat("[", 1001) + strings.Repeat("]", 1001), strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000),
}

func genText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9:./-]{1,30}`))
}

func genHTTP() *rapid.Generator[*HTTPFacts] {
	headers := rapid.MapOfN(rapid.OneOf(rapid.StringMatching(`[a-z-]{1,12}`), rapid.StringMatching(`mcp-param-[a-z-]{1,5}`),
		rapid.SampledFrom([]string{methodHeader, nameHeader, versionHeader, challengeHeader})), genText(), 0, 40)
	return rapid.Custom(func(t *rapid.T) *HTTPFacts {
		h := &HTTPFacts{
			Verb: genText().Draw(t, "verb"), Path: genText().Draw(t, "path"), Query: genText().Draw(t, "query"),
			Status: rapid.IntRange(0, 999).Draw(t, "status"), ClosedBy: genText().Draw(t, "closed_by"),
			Error:   genText().Draw(t, "error"),
			Request: headers.Draw(t, "request"), Response: headers.Draw(t, "response"),
		}
		if len(h.Request) == 0 {
			h.Request = nil
		}
		if len(h.Response) == 0 {
			h.Response = nil
		}
		if rapid.Bool().Draw(t, "sse") {
			h.SSE = &SSEEvent{genText().Draw(t, "id"), genText().Draw(t, "event"), genText().Draw(t, "data"), rapid.Int64().Draw(t, "retry"), genText().Draw(t, "comment"), genText().Draw(t, "rewritten")}
		}
		return h
	})
}

// genFrame gives every frame that a tap may hand over.
func genFrame() *rapid.Generator[*Frame] {
	return rapid.Custom(func(t *rapid.T) *Frame {
		f := &Frame{
			Tap: rapid.StringN(1, -1, -1).Draw(t, "tap"), Label: genText().Draw(t, "label"), Seq: rapid.Uint64().Draw(t, "seq"),
			Time:      time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC(),
			Mono:      NoMono,
			Dir:       Dir(rapid.IntRange(1, 4).Draw(t, "dir")),
			Transport: Transport(rapid.IntRange(1, 2).Draw(t, "transport")),
			Kind:      Kind(rapid.IntRange(0, int(Other)).Draw(t, "kind")),
			Form:      rapid.SampledFrom([]Form{NoPayload, Unjudged, Unjudged, Unjudged, Text, Bytes}).Draw(t, "form"),
			Size:      rapid.Int64Min(0).Draw(t, "size"), EOL: EOL(rapid.IntRange(0, 2).Draw(t, "eol")),
			Flags: Flags(rapid.IntRange(0, 15).Draw(t, "flags")),
			Conn:  genText().Draw(t, "conn"), Exchange: rapid.Uint64().Draw(t, "exchange"), MCPSession: genText().Draw(t, "mcp_session"),
		}
		if rapid.Bool().Draw(t, "mono") {
			f.Mono = time.Duration(rapid.Int64Range(0, 1<<62/1000).Draw(t, "us")) * time.Microsecond
		}
		if f.Dir == Meta && f.Kind == Line {
			f.Kind = Start
		}
		if f.Form != NoPayload {
			f.Payload = rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.SampledFrom(payloads), func(s string) []byte { return []byte(s) })).Draw(t, "payload")
		}
		if f.Form == Text && !utf8.Valid(f.Payload) {
			f.Form = Bytes
		}
		if rapid.Bool().Draw(t, "http") {
			f.HTTP = genHTTP().Draw(t, "facts")
		}
		return f
	})
}

// written returns the frame that must be read where f was written.
func written(f *Frame) *Frame {
	w := f.Clone()
	if w.Form == Unjudged {
		w.Form = Classify(w)
	}
	if w.Form == Raw {
		w.Payload = bytes.ReplaceAll(w.Payload, []byte("\n"), []byte(" "))
	}
	return w
}

// diff says how two frames differ, "" if they do not.
func diff(got, want *Frame) string {
	g, w := *got, *want
	if !bytes.Equal(g.Payload, w.Payload) {
		return fmt.Sprintf("payload %.200q, want %.200q", g.Payload, w.Payload)
	}
	g.Payload, w.Payload = nil, nil
	if !reflect.DeepEqual(g.HTTP, w.HTTP) {
		return fmt.Sprintf("HTTP %+v, want %+v", g.HTTP, w.HTTP)
	}
	g.HTTP, w.HTTP = nil, nil
	if !reflect.DeepEqual(g, w) {
		return fmt.Sprintf("got  %+v\nwant %+v", g, w)
	}
	return ""
}

func TestRoundTrip(t *testing.T) {
	var d Decoder // reused: nothing of one frame may show in the next
	var got Frame
	rapid.Check(t, func(t *rapid.T) {
		f := genFrame().Draw(t, "frame")
		before := f.Clone()
		line := AppendFrame([]byte("left alone"), f)
		if d := diff(f, before); d != "" {
			t.Fatalf("encoding changed the frame: %s", d)
		}
		line, ok := bytes.CutPrefix(line, []byte("left alone"))
		if !ok || bytes.IndexByte(line, '\n') != len(line)-1 || !utf8.Valid(line) || !json.Valid(line) {
			t.Fatalf("no line of JSON: %q", line)
		}
		if err := d.Decode(line[:len(line)-1], &got); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		want := written(f)
		if d := diff(&got, want); d != "" {
			t.Fatalf("%s\nline %q", d, line)
		}
		if got.Form == Raw && jsontree.Check(got.Payload) != nil || got.Form == Raw && f.Flags&Truncated != 0 {
			t.Fatalf("%q must not be raw", got.Payload)
		}
		if again := AppendFrame(nil, &got); !bytes.Equal(again, line) {
			t.Fatalf("written again\n%q, first\n%q", again, line)
		}
		if d := diff(got.Clone(), want); d != "" {
			t.Fatalf("clone: %s", d)
		}
	})
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		payload string
		flags   Flags
		want    Form
	}{
		{`{"a":1,"a":2}`, 0, Raw},
		{` [1] `, 0, Raw},
		{`"\ud83d"`, 0, Raw},
		{`7`, 0, Raw},
		{`7`, Truncated, Text},
		{`{"a":"` + "\xe6\xbc", Truncated, Bytes},
		{``, 0, Text},
		{"a\x00", 0, Text},
		{"\"\xff\"", 0, Bytes},
		{strings.Repeat("[", 1000) + strings.Repeat("]", 1000), 0, Raw},
		{strings.Repeat("[", 1001) + strings.Repeat("]", 1001), 0, Text},
		{strings.Repeat("[", 10001) + strings.Repeat("]", 10001), 0, Text},
	} {
		if got := Classify(&Frame{Dir: S2C, Payload: []byte(c.payload), Flags: c.flags}); got != c.want {
			t.Errorf("%.40q with flags %d has form %d, want %d", c.payload, c.flags, got, c.want)
		}
	}
}

func TestStderrIsText(t *testing.T) {
	if got := Classify(&Frame{Dir: Stderr, Payload: []byte(`{"level":"info"}`)}); got != Text {
		t.Errorf("a JSON line on stderr has form %d, want Text", got)
	}
}

// TestLine pins the text of lines: others read them.
func TestLine(t *testing.T) {
	at := time.Date(2026, 11, 30, 17, 0, 0, 120000000, time.FixedZone("", 3600))
	for _, c := range []struct {
		name string
		f    Frame
		want string
	}{
		{"message", Frame{Tap: "s-1-0a", Label: "s", Seq: 2, Time: at, Mono: 1234999, Dir: C2S, Transport: Stdio, Form: Unjudged, Payload: []byte(`{"id":1, "id":2}`), Size: 17},
			`{"session_id":"s-1-0a","server_label":"s","seq":2,"ts":"2026-11-30T16:00:00.12Z","direction":"c2s","transport":"stdio","mono_us":1234,"size":17,"raw":{"id":1, "id":2}}`},
		{"stderr", Frame{Tap: "s", Label: "<s>", Seq: 3, Time: at, Mono: NoMono, Dir: Stderr, Transport: Stdio, Form: Unjudged, Payload: []byte("\x1b[1mé"), EOL: CRLF},
			`{"session_id":"s","server_label":"<s>","seq":3,"ts":"2026-11-30T16:00:00.12Z","direction":"stderr","transport":"stdio","eol":"crlf","text":"\u001b[1mé"}`},
		{"bytes", Frame{Tap: "s", Seq: 4, Mono: NoMono, Dir: S2C, Transport: Stdio, Form: Unjudged, Payload: []byte("\xff\xfe\x00"), EOL: NoEOL, Flags: Truncated},
			`{"session_id":"s","server_label":"","seq":4,"ts":"0001-01-01T00:00:00Z","direction":"s2c","transport":"stdio","eol":"none","truncated":true,"bytes":"//4A"}`},
		{"pretty body", Frame{Tap: "s", Seq: 5, Mono: 0, Dir: S2C, Transport: HTTP, Form: Unjudged, Payload: []byte("{\r\n\t\"a\": 1\n}\n")},
			`{"session_id":"s","server_label":"","seq":5,"ts":"0001-01-01T00:00:00Z","direction":"s2c","transport":"http","mono_us":0,"raw":{` + "\r \t" + `"a": 1 } }`},
		{"request", Frame{Tap: "s", Seq: 6, Mono: NoMono, Dir: C2S, Transport: HTTP, Form: NoPayload, Conn: "[::1]:5", Exchange: 7, MCPSession: "e1", Flags: Redacted | Batch | Sparse, HTTP: &HTTPFacts{
			Verb: "POST", Path: "/mcp", Query: "a=b", Request: map[string]string{"mcp-param-user-id": "[REDACTED]", "mcp-param-b": "1", "mcp-method": "m", "mcp-name": "n", "mcp-protocol-version": "2026-07-28"}}},
			`{"session_id":"s","server_label":"","seq":6,"ts":"0001-01-01T00:00:00Z","direction":"c2s","transport":"http","conn_id":"[::1]:5","exchange":7,"mcp_session":"e1","batch":true,"redacted":true,"sparse":true,` +
				`"mcp_method":"m","mcp_name":"n","mcp_protocol_version":"2026-07-28","mcp_param_headers":[{"name":"Mcp-Param-B","value":"1"},{"name":"Mcp-Param-User-Id","value":"[REDACTED]","redacted":true}],` +
				`"http":{"verb":"POST","path":"/mcp","query":"a=b","request_headers":{"mcp-method":"m","mcp-name":"n","mcp-param-b":"1","mcp-param-user-id":"[REDACTED]","mcp-protocol-version":"2026-07-28"}}}`},
		{"response head", Frame{Tap: "s", Seq: 8, Mono: NoMono, Dir: S2C, Transport: HTTP, Kind: HTTPHead, HTTP: &HTTPFacts{Status: 401, Response: map[string]string{"www-authenticate": "Bearer"}}},
			`{"session_id":"s","server_label":"","seq":8,"ts":"0001-01-01T00:00:00Z","direction":"s2c","transport":"http","kind":"http","status":401,"auth_challenge":"Bearer","http":{"status":401,"response_headers":{"www-authenticate":"Bearer"}}}`},
		{"event", Frame{Tap: "s", Seq: 9, Mono: NoMono, Dir: S2C, Transport: HTTP, HTTP: &HTTPFacts{SSE: &SSEEvent{ID: "4", Event: "message", Retry: 15, Data: "a\nb"}}},
			`{"session_id":"s","server_label":"","seq":9,"ts":"0001-01-01T00:00:00Z","direction":"s2c","transport":"http","http":{"sse":{"id":"4","event":"message","retry":15,"data":"a\nb"}}}`},
		{"no UTF-8 beside the payload", Frame{Tap: "a\xffb", Seq: 1, Mono: NoMono, Dir: S2C, Transport: Stdio},
			`{"session_id":"a` + "\uFFFD" + `b","server_label":"","seq":1,"ts":"0001-01-01T00:00:00Z","direction":"s2c","transport":"stdio"}`},
		{"time out of range", Frame{Tap: "s", Seq: 1, Mono: -5, Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Dir: S2C, Transport: Stdio},
			`{"session_id":"s","server_label":"","seq":1,"ts":"0001-01-01T00:00:00Z","direction":"s2c","transport":"stdio"}`},
	} {
		if got := string(AppendFrame(nil, &c.f)); got != c.want+"\n" {
			t.Errorf("%s\ngot  %swant %s", c.name, got, c.want)
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	text, head := sample(), sample()
	text.Dir, text.Form, text.Payload = Stderr, Unjudged, []byte("stderr \"line\" with \x1b and 漢字")
	head.Form, head.Payload = Bytes, []byte("\xff\xfe")
	for name, f := range map[string]*Frame{"message": sample(), "text": text, "bytes": head, "http": httpSample()} {
		line := AppendFrame(nil, f)
		if n := testing.AllocsPerRun(100, func() { line = AppendFrame(line[:0], f) }); n != 0 {
			t.Errorf("%s: encoding allocates %v times", name, n)
		}
		var d Decoder
		var got Frame
		if n := testing.AllocsPerRun(100, func() {
			if err := d.Decode(line[:len(line)-1], &got); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: decoding allocates %v times", name, n)
		}
	}
}

// TestHugeEnums feeds values that are no constants: they must not panic.
func TestHugeEnums(t *testing.T) {
	f := &Frame{Tap: "s", Dir: 255, Transport: 255, Kind: 255, Form: 255, EOL: 255, Flags: 255}
	if line := AppendFrame(nil, f); !json.Valid(line) {
		t.Errorf("no JSON: %s", line)
	}
}

func TestWords(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{"c2s": C2S, "meta": Meta, "stdio": Stdio, "http": HTTP, "gap": Gap, "": Line} {
		if got.String() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if Dir(0).String()+Dir(200).String()+Kind(200).String()+Transport(200).String() != "" {
		t.Error("words for what is none")
	}
}

func TestDecodeRefuses(t *testing.T) {
	const good = `"session_id":"s","seq":1,"direction":"c2s","transport":"stdio"`
	for _, c := range []struct{ line, want string }{
		{``, "not one JSON value"},
		{`[]`, "not one JSON value"},
		{`{`, "unexpected end"},
		{`{"seq":1,"direction":"c2s","transport":"stdio"}`, `member "session_id" is missing`},
		{`{"session_id":"s","direction":"c2s","transport":"stdio"}`, `member "seq" is missing`},
		{`{"session_id":"s","seq":1,"transport":"stdio"}`, `member "direction" is missing`},
		{`{"session_id":"s","seq":1,"direction":"c2s"}`, `member "transport" is missing`},
		{`{"session_id":"","seq":1,"direction":"c2s","transport":"stdio"}`, `member "session_id" must be a string that is not empty`},
		{`{` + good + `,"session_id":7}`, `member "session_id" must be a string`},
		{`{` + good + `,"server_label":[]}`, `member "server_label" must be a string`},
		{`{` + good + `,"seq":-1}`, `member "seq" must be a whole number`},
		{`{` + good + `,"seq":"1"}`, `member "seq" must be a whole number`},
		{`{` + good + `,"seq":1.5}`, `member "seq" must be a whole number`},
		{`{` + good + `,"seq":18446744073709551616}`, `member "seq" must be a whole number in range`},
		{`{` + good + `,"ts":"yesterday"}`, `member "ts" must be a time`},
		{`{` + good + `,"ts":"9999-12-31T23:59:59-01:00"}`, `member "ts" must be a time`},
		{`{` + good + `,"ts":1}`, `member "ts" must be a time`},
		{`{` + good + `,"direction":"up"}`, `member "direction" must be one of c2s, s2c, stderr, meta`},
		{`{` + good + `,"transport":"carrier pigeon"}`, `member "transport" must be one of stdio, http`},
		{`{` + good + `,"kind":1}`, `member "kind" must be one of start, http, open, close, gap, clock, end, other`},
		{`{` + good + `,"mono_us":9223372036854775807}`, `member "mono_us" must be a whole number in range`},
		{`{` + good + `,"mono_us":-1}`, `member "mono_us" must be a whole number in range`},
		{`{` + good + `,"size":9223372036854775808}`, `member "size" must be a whole number in range`},
		{`{` + good + `,"exchange":true}`, `member "exchange" must be a whole number`},
		{`{` + good + `,"eol":"lf"}`, `member "eol" must be one of crlf, none`},
		{`{` + good + `,"batch":1}`, `member "batch" must be true or false`},
		{`{` + good + `,"text":{}}`, `member "text" must be a string`},
		{`{` + good + `,"bytes":"?"}`, `member "bytes" must be base64`},
		{`{` + good + `,"conn_id":1}`, `member "conn_id" must be a string`},
		{`{` + good + `,"status":"200"}`, `member "status" must be an HTTP status`},
		{`{` + good + `,"status":1000}`, `member "status" must be an HTTP status`},
		{`{` + good + `,"auth_challenge":1}`, `member "auth_challenge" must be a string`},
		{`{` + good + `,"mcp_method":1}`, `member "mcp_method" must be a string`},
		{`{` + good + `,"mcp_param_headers":{}}`, `member "mcp_param_headers" must be an array`},
		{`{` + good + `,"mcp_param_headers":[1]}`, `member "mcp_param_headers[]" must be an object`},
		{`{` + good + `,"mcp_param_headers":[{"name":1}]}`, `member "mcp_param_headers[].name" must be a string`},
		{`{` + good + `,"http":[]}`, `member "http" must be an object`},
		{`{` + good + `,"http":{"status":-1}}`, `member "http.status" must be an HTTP status`},
		{`{` + good + `,"http":{"request_headers":{"accept":1}}}`, `member "http.request_headers.accept" must be a string`},
		{`{` + good + `,"http":{"sse":{"retry":"1"}}}`, `member "http.sse.retry" must be a whole number`},
	} {
		var f Frame
		if err := new(Decoder).Decode([]byte(c.line), &f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives %v, want %s", c.line, err, c.want)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	const good = `"session_id":"s","seq":1,"direction":"c2s","transport":"stdio"`
	base := Frame{Tap: "s", Seq: 1, Dir: C2S, Transport: Stdio, Mono: NoMono}
	with := func(change func(*Frame)) Frame { f := base; change(&f); return f }
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for _, c := range []struct {
		line string
		want Frame
	}{
		{` { ` + good + ` } ` + "\r", base},
		{`{` + good + `,"new":{"raw":[1,{"seq":7}]},"kind":null,"ts":null,"text":null,"http":null,"status":null}`, base},
		{`{` + good + `,"kind":"hologram"}`, with(func(f *Frame) { f.Kind = Other })},
		{`{` + good + `,"kind":"http"}`, with(func(f *Frame) { f.Kind = HTTPHead })},
		{`{` + good + `,"direction":"meta","raw":{"command":["a"],"cwd":"/"}}`, with(func(f *Frame) {
			f.Dir, f.Kind, f.Form, f.Payload = Meta, Start, Raw, []byte(`{"command":["a"],"cwd":"/"}`)
		})},
		{`{` + good + `,"seq":3,"seq":18446744073709551615}`, with(func(f *Frame) { f.Seq = 1<<64 - 1 })},
		{`{"\u0073eq":4,` + good[:len(`"session_id":"s",`)] + `"direction":"c\u0032s","transport":"stdio"}`, with(func(f *Frame) { f.Seq = 4 })},
		{`{` + good + `,"raw": null}`, with(func(f *Frame) { f.Form, f.Payload = Raw, []byte(" null") })},
		{`{` + good + `,"raw":{"a":"\ud83d"},"text":"x","bytes":"eA=="}`, with(func(f *Frame) { f.Form, f.Payload = Raw, []byte(`{"a":"\ud83d"}`) })},
		{`{` + good + `,"bytes":"eA==","text":"x\ud83d"}`, with(func(f *Frame) { f.Form, f.Payload = Text, []byte("x\uFFFD") })},
		{`{` + good + `,"raw":[],"truncated":true}`, with(func(f *Frame) { f.Form, f.Payload, f.Flags = Text, []byte("[]"), Truncated })},
		{`{` + good + `,"raw":` + deep + `}`, with(func(f *Frame) { f.Form, f.Payload = Text, []byte(deep) })},
		{`{` + good + `,"ts":"2026-11-30T17:00:00.5+01:00"}`, with(func(f *Frame) { f.Time = time.Date(2026, 11, 30, 16, 0, 0, 5e8, time.UTC) })},
		{`{` + good + `,"http":{}}`, with(func(f *Frame) { f.HTTP = &HTTPFacts{} })},
		{`{` + good + `,"http":{"later":[],"sse":null,"request_headers":{"Accept":"a"}}}`, with(func(f *Frame) { f.HTTP = &HTTPFacts{Request: map[string]string{"accept": "a"}} })},
		{`{` + good + `,"mcp_name":"n","status":404,"auth_challenge":"B","mcp_param_headers":[{"name":"Mcp-Param-A","value":"1"},{"name":"mcp-param-a","value":"2","redacted":true}]}`, with(func(f *Frame) {
			f.HTTP = &HTTPFacts{Status: 404, Request: map[string]string{"mcp-name": "n", "mcp-param-a": "1, 2"}, Response: map[string]string{"www-authenticate": "B"}}
		})},
		{`{` + good + `,"mcp_name":"old","http":{"status":200,"request_headers":{"mcp-name":"whole"}},"mcp_method":"m","status":500}`, with(func(f *Frame) {
			f.HTTP = &HTTPFacts{Status: 200, Request: map[string]string{"mcp-name": "whole", "mcp-method": "m"}}
		})},
	} {
		var f Frame
		if err := new(Decoder).Decode([]byte(c.line), &f); err != nil {
			t.Errorf("%.200s\n%v", c.line, err)
		} else if d := diff(&f, &c.want); d != "" {
			t.Errorf("%.200s\n%s", c.line, d)
		}
	}
}

// TestClone poisons the memory of a decoder: a clone must not notice.
func TestClone(t *testing.T) {
	f := httpSample()
	f.HTTP.SSE, f.HTTP.Response = &SSEEvent{ID: "1"}, map[string]string{"a": "b"}
	line := AppendFrame(nil, f)
	var d Decoder
	var got Frame
	if err := d.Decode(line[:len(line)-1], &got); err != nil {
		t.Fatal(err)
	}
	kept := got.Clone()
	other := AppendFrame(nil, &Frame{Tap: "x", Dir: S2C, Transport: HTTP, HTTP: &HTTPFacts{Verb: "GET", SSE: &SSEEvent{ID: "9"}, Request: map[string]string{"z": "z"}, Response: map[string]string{"a": "z"}}})
	if err := d.Decode(other[:len(other)-1], &got); err != nil {
		t.Fatal(err)
	}
	for i := range line {
		line[i] = 'x'
	}
	if d := diff(kept, written(f)); d != "" {
		t.Error(d)
	}
}

func TestNotes(t *testing.T) {
	code := -3
	start := StartInfo{Format: FormatVersion, Tool: "mcpsnoop 1", PID: 4, Host: "h", Command: []string{"a", "--x=\"ü\"", ""}, Cwd: `C:\w`, ServerPID: 5, Listen: ":7", Target: "http://t",
		Client: &Client{Host: "h", PID: 6, Start: "77", Name: "n", Weak: "w", Ancestors: []Process{{PID: 1, Start: "2", Name: "init"}, {Name: "x"}, {}}}}
	for _, start := range []StartInfo{start, {Client: &Client{}}, {}, {Command: []string{"a"}}} {
		n := NewNotes(start)
		f := Frame{Tap: "t", Seq: 9, Mono: 7}
		n.Start(&f)
		if f.Dir != Meta || f.Kind != Start || f.Form != Raw || f.Tap != "t" || f.Seq != 9 || f.Mono != 7 {
			t.Errorf("start frame %+v", f)
		}
		if got, err := ParseStart(f.Payload); err != nil || !reflect.DeepEqual(got, start) {
			t.Errorf("%s\ngives %+v (%v), want %+v", f.Payload, got, err, start)
		}
		gap := GapInfo{Lost: 3, First: 1<<64 - 3, Last: 1<<64 - 1, Bytes: 4, Reason: "queue full"}
		if n.Gap(&f, gap); f.Kind != Gap {
			t.Errorf("gap frame %+v", f)
		}
		if got, err := ParseGap(f.Payload); err != nil || got != gap {
			t.Errorf("%s gives %+v (%v)", f.Payload, got, err)
		}
		clock := ClockInfo{Wall: -time.Hour, Mono: 5 * time.Microsecond}
		if n.Clock(&f, clock); f.Kind != Clock {
			t.Errorf("clock frame %+v", f)
		}
		if got, err := ParseClock(f.Payload); err != nil || got != clock {
			t.Errorf("%s gives %+v (%v)", f.Payload, got, err)
		}
		for _, end := range []EndInfo{{ExitCode: &code, Frames: 8}, {Signal: "SIGKILL", Frames: 1<<64 - 1, Dropped: 2}} {
			if n.End(&f, end); f.Kind != End {
				t.Errorf("end frame %+v", f)
			}
			if got, err := ParseEnd(f.Payload); err != nil || !reflect.DeepEqual(got, end) {
				t.Errorf("%s gives %+v (%v)", f.Payload, got, err)
			}
		}
		if n.Mark(&f, Open); f.Kind != Open || f.Dir != Meta || jsontree.Check(f.Payload) != nil {
			t.Errorf("mark frame %+v", f)
		}
	}
}

func TestParseMetaRefuses(t *testing.T) {
	for payload, want := range map[string]string{
		`[]`:                                     `read payload of start frame: must be an object`,
		`{`:                                      `not one JSON value`,
		`{"command":"a"}`:                        `member "command" must be an array`,
		`{"command":[1]}`:                        `member "command[]" must be a string`,
		`{"pid":1e3}`:                            `member "pid" must be a whole number in range`,
		`{"client":{"ancestors":[{"pid":"1"}]}}`: `member "client.ancestors[].pid" must be a whole number`,
	} {
		if _, err := ParseStart([]byte(payload)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", payload, err, want)
		}
	}
	if _, err := ParseClock([]byte(`{"wall_us":9223372036854775807}`)); err == nil || !strings.Contains(err.Error(), "in range") {
		t.Error(err)
	}
	if _, err := ParseClock([]byte(`{"mono_us":-9223372036854775808}`)); err == nil {
		t.Error("overflows")
	}
	if e, err := ParseEnd([]byte(`{"exit_code":null,"signal":"SIGTERM","later":{}}`)); err != nil || e.ExitCode != nil {
		t.Error(e, err)
	}
	if _, err := ParseStart([]byte(`{}`)); err != nil {
		t.Error(err)
	}
	if _, err := ParseGap([]byte(strings.Repeat("[", 2000))); err == nil {
		t.Error("half a value passes")
	}
}
