package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var now = time.Date(2026, 11, 30, 19, 42, 10, 0, time.UTC)

// tape writes the log of one stdio tap, frame by frame.
type tape struct {
	bytes.Buffer
	id, label string
	seq       uint64
}

func newTape(id, label string) *tape {
	t := &tape{id: id, label: label}
	return t.frame(0, capture.Meta, capture.Start, `{"command":["`+label+`"],"cwd":"/w","format":1,"client":{"pid":7,"name":"agent"}}`)
}

func (t *tape) frame(second float64, dir capture.Dir, kind capture.Kind, payload string) *tape {
	t.seq++
	d := time.Duration(second * 1e9)
	f := capture.Frame{
		Tap: t.id, Label: t.label, Seq: t.seq, Time: now.Add(d - 18*time.Second), Mono: d, Dir: dir, Transport: capture.Stdio,
		Kind: kind, Form: capture.Unjudged, Payload: []byte(payload), Size: int64(len(payload) + 1),
	}
	t.Write(capture.AppendFrame(nil, &f))
	return t
}

func (t *tape) c2s(second float64, payload string) *tape {
	return t.frame(second, capture.C2S, capture.Line, payload)
}

func (t *tape) s2c(second float64, payload string) *tape {
	return t.frame(second, capture.S2C, capture.Line, payload)
}

// opened writes a log to disk and opens it.
func opened(t testing.TB, log string) *capture.Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := capture.OpenLog(capture.Options{Again: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func exported(t *testing.T, log string, write func(*bytes.Buffer, *capture.Log, Options) error, o Options) string {
	t.Helper()
	var out bytes.Buffer
	o.Now, o.Temp = now, t.TempDir()
	if err := write(&out, opened(t, log), o); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(o.Temp); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
	return out.String()
}

func asJSON(w *bytes.Buffer, l *capture.Log, o Options) error { return JSON(w, l, o) }
func asText(w *bytes.Buffer, l *capture.Log, o Options) error { return Text(w, l, o) }

// decoded decodes what was written into its documented struct, unknown members
// refused.
func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode: %v\n%s", err, text)
	}
	return v
}

// radar is a session in which all kinds of things happen.
func radar() *tape {
	return newTape("weather-97013-77c2e90b14aa", "weather").
		c2s(.003, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"demo-agent","version":"1.0.0"}}}`).
		s2c(.012, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"0.4.0"},"instructions":"<b>&"}}`).
		c2s(.013, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).
		c2s(.014, `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`).
		s2c(.019, `{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"radar","description":"Rain","inputSchema":{"type":"object"}}]}}`).
		s2c(.4, "weather ready\x1b[2J").
		c2s(4.5, `{"jsonrpc":"2.0", "id":5,"method":"tools/call","params":{"name":"radar","arguments":{"zoom":7,"zoom":1e400}}}`).
		frame(5, capture.Stderr, capture.Line, `tile cache cold, <fetching> & waiting`).
		c2s(9.5, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"timeout"}}`).
		s2c(11.81, `{"jsonrpc":"2.0","id":5,"result":{"content":[]}}`).
		s2c(12, "\xff\xfe").
		frame(13, capture.Meta, capture.End, `{"command":["weather"],"cwd":"/w","exit_code":0,"frames":13,"dropped":0}`)
}

func TestDocument(t *testing.T) {
	text := exported(t, radar().String(), asJSON, Options{})
	d := decoded[Document](t, text)
	if !strings.HasPrefix(text, "{\n  \"version\": 1,\n  \"generated_at\": \"2026-11-30T19:42:10Z\",\n  \"session\": {\n    \"id\": \"weather-97013-77c2e90b14aa\",\n") {
		t.Errorf("begins %.200s", text)
	}
	s := d.Session
	if s.Frames != 11 || s.Requests != 3 || s.Invalid != 2 || s.LateResults != 1 || s.State != "exit 0" || s.Exit == nil || s.ClientProcess.PID != 7 || s.Recorder.Cwd != "/w" {
		t.Errorf("session %+v", s)
	}
	if c := d.Capabilities; c.ClientInfo.Name != "demo-agent" || string(c.Server) != `{
      "tools": {}
    }` || c.Instructions != "<b>&" {
		t.Errorf("capabilities %+v %s", c, c.Server)
	}
	if !strings.Contains(text, `"<b>&"`) || !strings.Contains(text, `<fetching> & waiting`) {
		t.Error("characters of HTML are escaped")
	}
	if len(d.Calls) != 3 || d.Summary.Definitions == nil || d.Summary.Definitions.PerTool[0].Name != "radar" {
		t.Fatalf("%d calls, definitions %+v", len(d.Calls), d.Summary.Definitions)
	}
	c := d.Calls[2]
	if c.ID != "5" || c.State != "cancelled" || c.Status != "late_result" || !c.LateResult || *c.DurationMS != 7310 || c.CancelReason != "timeout" ||
		c.ToolName != "radar" || c.RequestSeq != 8 || c.ResponseSeq != 11 || c.Why == nil || len(c.Result) == 0 {
		t.Errorf("call %+v", c)
	}
	if d.Calls[1].ID != `"a"` {
		t.Errorf("a string id lost its quotes: %s", d.Calls[1].ID)
	}
	// Payloads pass verbatim, spaces apart: repeated names and numbers no reader holds.
	var compact bytes.Buffer
	if err := json.Compact(&compact, c.Params); err != nil || compact.String() != `{"name":"radar","arguments":{"zoom":7,"zoom":1e400}}` {
		t.Errorf("params %s %v", compact.String(), err)
	}
	if len(d.Events) != 13 {
		t.Fatalf("%d events", len(d.Events))
	}
	var kinds, outcomes []string
	for i, e := range d.Events {
		if e.Seq != uint64(i+1) || e.Session != "" {
			t.Errorf("event %d: %+v", i, e)
		}
		kinds = append(kinds, e.Kind)
		outcomes = append(outcomes, e.Outcome)
	}
	if got := strings.Join(kinds, " "); got != "meta request response notification request response invalid request stderr notification response invalid end" {
		t.Errorf("kinds %s", got)
	}
	if got := strings.Join(outcomes, ","); got != ",,ok,,,ok,bad,,,cancelled,late,bad," {
		t.Errorf("outcomes %s", got)
	}
	if e := d.Events[6]; e.Text != "weather ready\x1b[2J" || e.Raw != nil {
		t.Errorf("stray line %+v", e)
	}
	if e := d.Events[11]; !bytes.Equal(e.Bytes, []byte{0xff, 0xfe}) {
		t.Errorf("bytes %+v", e)
	}
	if e := d.Events[10]; e.CallIndex == nil || *e.CallIndex != 2 || e.Size != 49 || !e.Timestamp.Equal(now.Add(-6190*time.Millisecond)) {
		t.Errorf("late answer %+v", e)
	}
}

// TestManyOpenAtOnce: of calls too many to be followed nobody says that they wait.
func TestManyOpenAtOnce(t *testing.T) {
	const n = 10_000
	batch := func(format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	log := newTape("a-1-000000000001", "a").
		c2s(.1, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26"}}`).
		s2c(.2, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-03-26"}}`).
		c2s(1, batch(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`)).
		s2c(2, batch(`{"jsonrpc":"2.0","id":%d,"result":{}}`)).String()
	d := decoded[Document](t, exported(t, log, asJSON, Options{}))
	states, letGo := map[string]int{}, 0
	for _, c := range d.Calls {
		states[c.State+" "+c.Status]++
		if c.LetGo {
			letGo++
		}
		if c.Why != nil {
			t.Fatalf("call %d: %s", c.Index, c.Why.First)
		}
	}
	let := d.Session.LetGo
	want := map[string]int{"unknown unknown": let, "completed ok": n + 1 - let}
	if let == 0 || letGo != let || !maps.Equal(states, want) || d.Session.Pending != 0 || d.Summary.Tools[0].Pending != 0 {
		t.Errorf("%v, want %v; %+v", states, want, d.Session)
	}
	text := exported(t, log, asText, Options{})
	if strings.Contains(text, "no answer") || strings.Contains(text, "why:") || !strings.Contains(text, "calls     1,808 calls let go of") {
		t.Errorf("as text: %.2000s", text)
	}
}

func TestSmallDocumentToTheByte(t *testing.T) {
	tape := &tape{id: "s-1-0a", label: "s"}
	tape.c2s(1, `{"jsonrpc":"2.0","id":1,"method":"ping"}`).s2c(1.0125, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	want := `{
  "version": 1,
  "generated_at": "2026-11-30T19:42:10Z",
  "session": {
    "id": "s-1-0a",
    "label": "s",
    "transport": "stdio",
    "state": "no end frame",
    "first": "2026-11-30T19:41:53Z",
    "last": "2026-11-30T19:41:53.0125Z",
    "duration_ms": 12.5,
    "frames": 2,
    "requests": 1,
    "responses": 1,
    "notifications": 0,
    "calls": 1,
    "retries": 0,
    "errors": 0,
    "invalid": 0,
    "pending": 0,
    "late_results": 0,
    "missing_frames": 0,
    "unreadable_lines": 0,
    "torn": false,
    "truncated": 0,
    "bytes": 78,
    "runs": []
  },
  "summary": {
    "answered": 1,
    "p50_ms": 12.5,
    "p95_ms": 12.5,
    "p99_ms": 12.5,
    "tools": [],
    "slowest_calls": []
  },
  "gaps": [],
  "calls": [
    {
      "index": 0,
      "id": "1",
      "method": "ping",
      "direction": "c2s",
      "state": "completed",
      "status": "ok",
      "is_tool": false,
      "is_error": false,
      "tool_error": false,
      "request_seq": 1,
      "response_seq": 2,
      "started_at": "2026-11-30T19:41:53Z",
      "ended_at": "2026-11-30T19:41:53.0125Z",
      "duration_ms": 12.5,
      "result_bytes": 2,
      "result": {}
    }
  ],
  "events": [
    {
      "seq": 1,
      "timestamp": "2026-11-30T19:41:53Z",
      "direction": "c2s",
      "kind": "request",
      "method": "ping",
      "id": "1",
      "call_index": 0,
      "size": 41,
      "raw": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "ping"
      }
    },
    {
      "seq": 2,
      "timestamp": "2026-11-30T19:41:53.0125Z",
      "direction": "s2c",
      "kind": "response",
      "id": "1",
      "outcome": "ok",
      "call_index": 0,
      "size": 37,
      "raw": {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {}
      }
    }
  ]
}
`
	if got := exported(t, tape.String(), asJSON, Options{}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestSeveralSessionsAreMergedByTime(t *testing.T) {
	a := newTape("a-1-000000000001", "a").c2s(1, `{"jsonrpc":"2.0","id":1,"method":"ping"}`).s2c(3, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	b := newTape("b-2-000000000002", "b").c2s(2, `{"jsonrpc":"2.0","id":1,"method":"ping"}`).s2c(4, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	text := exported(t, b.String()+a.String(), asJSON, Options{})
	if !strings.Contains(text, "\n  \"run\": null,\n  \"sessions\": [\n    {\n      \"session\": {") {
		t.Errorf("shape: %.300s", text)
	}
	c := decoded[Collection](t, text)
	if len(c.Sessions) != 2 || len(c.Sessions[0].Calls) != 1 {
		t.Fatalf("sessions %+v", c.Sessions)
	}
	var got []string
	for _, e := range c.Events {
		if (e.Raw == nil) || e.Session == "" {
			t.Errorf("event without payload or session: %+v", e)
		}
		got = append(got, fmt.Sprintf("%s:%d", e.Session[:1], e.Seq))
	}
	if s := strings.Join(got, " "); s != "a:1 b:1 a:2 b:2 a:3 b:3" {
		t.Errorf("order %s", s)
	}
	// Equal times stand by label, and taps may take turns in the log.
	x, y := newTape("x-1-000000000001", "x"), newTape("y-2-000000000002", "y")
	log := y.String() + x.String()
	for i := range 4 {
		for _, tape := range []*tape{y, x} {
			tape.Reset()
			tape.c2s(float64(i/2), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			log += tape.String()
		}
	}
	got = nil
	for _, e := range decoded[Collection](t, exported(t, log, asJSON, Options{})).Events {
		got = append(got, fmt.Sprintf("%s:%d", e.Session[:1], e.Seq))
	}
	if s := strings.Join(got, " "); s != "x:1 x:2 x:3 y:1 y:2 y:3 x:4 x:5 y:4 y:5" {
		t.Errorf("order %s", s)
	}
	one := decoded[Document](t, exported(t, b.String()+a.String(), asJSON, Options{Select: func(h *session.Header) bool { return h.Label == "a" }}))
	if one.Session.Label != "a" || len(one.Events) != 3 || len(one.Calls) != 1 {
		t.Errorf("chosen: %+v", one.Session)
	}
}

func TestNothing(t *testing.T) {
	for _, write := range []func(*bytes.Buffer, *capture.Log, Options) error{asJSON, asText} {
		var out bytes.Buffer
		err := write(&out, opened(t, radar().String()), Options{Select: func(*session.Header) bool { return false }})
		if err != ErrNothing || out.Len() > 0 {
			t.Errorf("err %v, wrote %q", err, out.String())
		}
	}
}

func TestAnswerBeforeItsRequest(t *testing.T) {
	log := `{"session_id":"s-1-0a","server_label":"s","seq":1,"ts":"2026-11-30T19:41:52Z","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"result":{}}}
{"session_id":"s-1-0a","server_label":"s","seq":2,"ts":"2026-11-30T19:41:52.001Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"session_id":"s-1-0a","server_label":"s","seq":3,"ts":"2026-11-30T19:41:53Z","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","id":9,"result":{}}}
`
	d := decoded[Document](t, exported(t, log, asJSON, Options{}))
	if e := d.Events[0]; e.Outcome != "ok" || e.CallIndex == nil || *e.CallIndex != 0 {
		t.Errorf("early answer %+v", e)
	}
	if e := d.Events[2]; e.Outcome != "unmatched" {
		t.Errorf("unmatched answer %+v", e)
	}
}

func TestText(t *testing.T) {
	want := `session weather-97013-77c2e90b14aa
  label     weather
  client    demo-agent 1.0.0
  server    weather 0.4.0
  revision  2025-11-25
  command   weather
  cwd       /w
  state     exit 0
  counts    11 frames  3 calls  2 notifications  0 errors  2 invalid  0 pending  1 late  0 frames missing

#1 2026-11-30 19:41:52.000 ─ start weather
  {
    "command": [
      "weather"
    ],
    "cwd": "/w",
    "format": 1,
    "client": {
      "pid": 7,
      "name": "agent"
    }
  }
#2 2026-11-30 19:41:52.003 → initialize id=1
`
	got := exported(t, radar().String(), asText, Options{})
	if !strings.HasPrefix(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	for _, line := range []string{
		"#7 2026-11-30 19:41:52.400 ← not MCP bad 18B \"weather ready\\u{1b}[2J\"\n#8 ",
		"#9 2026-11-30 19:41:57.000 ┆ stderr tile cache cold, <fetching> & waiting\n#10 ",
		"#10 2026-11-30 19:42:01.500 → cancelled id=5 after=5.00s reason=\"timeout\"\n  {\n",
		"#11 2026-11-30 19:42:03.810 ← result radar id=5 late dur=7.31s 49B\n" +
			"  why: with the server: it had the call for 7.31s, the client waited 5.00s\n  {\n    \"jsonrpc\": \"2.0\",\n    \"id\": 5,\n",
		"#13 2026-11-30 19:42:05.000 ─ end: server exited with code 0\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in:\n%s", line, got)
		}
	}
	for _, r := range got {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 {
			t.Fatalf("control character %U", r)
		}
	}
}

func TestTextSaysWhatWasNeverAnswered(t *testing.T) {
	log := newTape("a-1-000000000001", "a").c2s(1, `{"jsonrpc":"2.0","id":1,"method":"ping"}`).
		frame(2, capture.Meta, capture.Gap, `{"command":["a"],"cwd":"/w","lost":3,"first":4,"last":6,"reason":"disk full"}`)
	log.seq = 6
	log.frame(43, capture.Meta, capture.End, `{"command":["a"],"cwd":"/w","exit_code":1,"frames":7}`)
	got := exported(t, log.String(), asText, Options{})
	for _, line := range []string{
		"#2 2026-11-30 19:41:53.000 → ping id=1 no answer\n  why: nobody left to answer: server exited with code 1, 42.0s after the request\n  {\n",
		"#3 2026-11-30 19:41:54.000 ─ 3 frames lost: disk full, seq 4–6 ▒\n  {\n",
		"#7 2026-11-30 19:42:35.000 ─ end: server exited with code 1\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in:\n%s", line, got)
		}
	}
}

func TestBatch(t *testing.T) {
	tape := &tape{id: "s-1-0a", label: "s"}
	tape.c2s(0, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`).
		s2c(.1, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`).
		c2s(1, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"x"}}]`).
		s2c(2, `[{"jsonrpc":"2.0","id":"1","result":{"content":[]}},{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}]`)
	d := decoded[Document](t, exported(t, tape.String(), asJSON, Options{}))
	if len(d.Events) != 6 || len(d.Calls) != 3 {
		t.Fatalf("%d events, %d calls", len(d.Events), len(d.Calls))
	}
	compact := func(raw json.RawMessage) string {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			t.Error(err)
		}
		return b.String()
	}
	if e := d.Events[5]; e.Seq != 4 || *e.Element != 1 || *e.CallIndex != 1 || compact(e.Raw) != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}` {
		t.Errorf("element %+v %s", e, e.Raw)
	}
	if c := d.Calls[1]; compact(c.Error) != `{"code":-32603,"message":"no"}` || c.ErrorName != "internal error" || c.Result != nil {
		t.Errorf("call %+v", c)
	}
	if c := d.Calls[2]; compact(c.Params) != `{"name":"x"}` || compact(c.Result) != `{"content":[]}` {
		t.Errorf("call %+v", c)
	}
}

// counting counts how often frames are fetched.
type counting struct {
	Log
	fetched int
}

func (c *counting) Fetch(ref capture.Ref) (*capture.Frame, error) {
	c.fetched++
	return c.Log.Fetch(ref)
}

// large is a batch of n pings and the batch that answers them, behind a handshake.
func large(n int) *tape {
	tape := (&tape{id: "s-1-0a", label: "s"}).
		c2s(0, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`).
		s2c(.1, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
	var ask, answer []string
	for i := range n {
		ask = append(ask, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
		answer = append(answer, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`, i, i))
	}
	return tape.c2s(1, "["+strings.Join(ask, ",")+"]").s2c(2, "["+strings.Join(answer, ",")+"]")
}

// TestLargeBatchIsFetchedOnce: what a batch costs does not grow with the square of
// its elements.
func TestLargeBatchIsFetchedOnce(t *testing.T) {
	other := newTape("z-1-0b", "z").s2c(0, "[]")
	for name, log := range map[string]string{"in order": large(500).String(), "merged": large(500).String() + other.String()} {
		t.Run(name, func(t *testing.T) {
			source := &counting{Log: opened(t, log)}
			var out bytes.Buffer
			if err := JSON(&out, source, Options{Now: now, Temp: t.TempDir()}); err != nil {
				t.Fatal(err)
			}
			if source.fetched > 20 {
				t.Errorf("frames were fetched %d times", source.fetched)
			}
			if n := strings.Count(out.String(), `"n": 499`); n != 2 { // its call's result, its event
				t.Errorf("the last answer stands there %d times", n)
			}
		})
	}
}

// TestShowOfABatch: the calls of a batch show their own elements, and those of an
// endless one are not all told.
func TestShowOfABatch(t *testing.T) {
	show := func(n int) string {
		log := opened(t, large(n).String())
		r := session.New(session.Options{Keep: true})
		var at capture.Ref
		if err := session.Fold(log, r, func(_ *capture.Frame, ref capture.Ref, _ session.Step) error {
			at = ref
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s := r.Snapshot(0)
		var out bytes.Buffer
		if err := Show(&out, log, &s, nil, at.Seq, at); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	two := show(2)
	if strings.Count(two, `"method": "ping"`) != 2 || strings.Count(two, `"n": 1`) != 2 || strings.Contains(two, "more in this frame") {
		t.Errorf("two calls:\n%s", two)
	}
	many := show(500)
	if strings.Count(many, `"method": "ping"`) != mostStories || !strings.Contains(many, fmt.Sprintf("\nand %d more messages in this frame\n", 500-mostStories)) {
		t.Errorf("500 calls: %d are told", strings.Count(many, `"method": "ping"`))
	}
}

// TestNumbersBeyondFloats: numbers of a peer that no float64 holds do not keep the
// document from being valid.
func TestNumbersBeyondFloats(t *testing.T) {
	log := newTape("a-1-000000000001", "a").
		c2s(1, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`).
		s2c(2, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1e999,"total":-1e999}}`).
		s2c(3, `{"jsonrpc":"2.0","id":1,"error":{"code":1e999,"message":"x"}}`).
		frame(4, capture.Meta, capture.End, `{"command":["a"],"cwd":"/w","exit_code":1e3,"frames":1e999}`).String()
	d := decoded[Document](t, exported(t, log, asJSON, Options{}))
	if len(d.Events) != 5 || d.Calls[0].Progress == nil || d.Calls[0].Progress.Seq != 3 {
		t.Errorf("%+v", d.Calls)
	}
	exported(t, log, asText, Options{})
}

func TestHTTP(t *testing.T) {
	frame := func(rest string) string {
		return `{"session_id":"h-1-0a","server_label":"h","ts":"2026-11-30T19:41:52Z","transport":"http","exchange":1,"conn_id":"127.0.0.1:5",` + rest + "}\n"
	}
	log := frame(`"seq":1,"direction":"c2s","mcp_session":"m","http":{"verb":"POST","path":"/mcp","request_headers":{"accept":"application/json"}},"raw":{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) +
		frame(`"seq":2,"direction":"s2c","status":401,"kind":"http","auth_challenge":"Bearer x"`) +
		frame(`"seq":3,"direction":"meta","kind":"close","http":{"closed_by":"client","sse":{"id":"7","retry":10}}`)
	d := decoded[Document](t, exported(t, log, asJSON, Options{}))
	if e := d.Events[0]; e.HTTP == nil || e.HTTP.Verb != "POST" || e.HTTP.Request["accept"] != "application/json" || e.Exchange != 1 || e.MCPSession != "m" {
		t.Errorf("request %+v %+v", e, e.HTTP)
	}
	if e := d.Events[1]; e.Kind != "transport" || e.HTTPStatus != 401 || e.AuthChallenge != "Bearer x" || e.Outcome != "error" || *e.CallIndex != 0 {
		t.Errorf("head %+v", e)
	}
	if e := d.Events[2]; e.Kind != "close" || e.HTTP.ClosedBy != "client" || e.HTTP.SSE.Retry != 10 {
		t.Errorf("close %+v", e)
	}
	if c := d.Calls[0]; c.Status != "error" || c.HTTPStatus != 401 || !c.IsError {
		t.Errorf("call %+v", c)
	}
}

// memory notes the most memory in use while an export writes.
type memory struct{ written, next, most uint64 }

func (h *memory) Write(p []byte) (int, error) {
	if h.written += uint64(len(p)); h.written >= h.next {
		h.next = h.written + 1<<20
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.most = max(h.most, m.HeapAlloc)
	}
	return len(p), nil
}

func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("writes much")
	}
	most := func(calls int) uint64 {
		tape := newTape("a-1-000000000001", "a")
		for i := range calls {
			tape.c2s(float64(i), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"n":%d}}}`, i, i))
			tape.s2c(float64(i)+.5, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%d"}]}}`, i, i))
		}
		log := opened(t, tape.String())
		tape.Buffer = bytes.Buffer{}
		var h memory
		if err := JSON(&h, log, Options{Now: now}); err != nil {
			t.Fatal(err)
		}
		return h.most
	}
	const few, many = 1_000, 6_000
	small, large := most(few), most(many)
	if grown := int64(large) - int64(small); grown > 48*(many-few)+1<<20 {
		t.Errorf("%d bytes for %d calls, %d for %d", small, few, large, many)
	}
}

func TestEventWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewEventWriter(&out)
	r := session.New(session.Options{})
	log := opened(t, radar().String())
	err := session.Fold(log, r, func(f *capture.Frame, _ capture.Ref, st session.Step) error {
		return w.Frame(r.Header(st.Session).ID, f, st, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 14 || lines[0] != `{"version":1}` {
		t.Fatalf("%d lines, first %s", len(lines), lines[0])
	}
	for _, line := range lines[1:] {
		if e := decoded[Event](t, line); e.Session != "weather-97013-77c2e90b14aa" {
			t.Errorf("event of %q", e.Session)
		}
	}
	if want := `"raw":{"jsonrpc":"2.0", "id":5,"method":"tools/call"`; !strings.Contains(lines[8], want) {
		t.Errorf("%s\nis not verbatim: %s", lines[8], want)
	}
}

// failing fails after some bytes, as a full disk does.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestWriteErrorEndsTheExport(t *testing.T) {
	tape := radar()
	for i := range 3000 {
		tape.c2s(14, fmt.Sprintf(`{"jsonrpc":"2.0","id":"x%d","method":"ping"}`, i))
	}
	if err := JSON(&failing{left: 70_000}, opened(t, tape.String()), Options{Now: now}); err == nil {
		t.Error("JSON: the error of the writer is lost")
	}
	if err := Text(&failing{left: 70_000}, opened(t, tape.String()), Options{Now: now}); err == nil {
		t.Error("text: the error of the writer is lost")
	}
}
