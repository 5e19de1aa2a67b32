package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// tape writes the log of one stdio tap of our recorder, frame by frame.
type tape struct {
	bytes.Buffer
	id, label string
	seq       uint64
	start     time.Time
}

func newTape(id, label string) *tape {
	t := &tape{id: id, label: label, start: time.Date(2026, 11, 30, 19, 41, 52, 0, time.UTC)}
	t.frame(0, capture.Meta, capture.Start, `{"command":["`+label+`"],"cwd":"/w","format":1}`)
	return t
}

func (t *tape) frame(second float64, dir capture.Dir, kind capture.Kind, payload string) *tape {
	t.seq++
	d := time.Duration(second * 1e9)
	f := capture.Frame{
		Tap: t.id, Label: t.label, Seq: t.seq, Time: t.start.Add(d), Mono: d, Dir: dir, Transport: capture.Stdio,
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

// handshake is frames 2 to 6 of a 2025-11-25 session.
func (t *tape) handshake() *tape {
	return t.c2s(.003, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo-agent","version":"1.0.0"}}}`).
		s2c(.012, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`).
		c2s(.013, `{"jsonrpc":"2.0","method":"notifications/initialized"}`).
		c2s(.014, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`).
		s2c(.019, `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
}

// trip is the log of faces.md: three taps, one after the other.
func trip() string {
	files := newTape("files-97011-4be1c0d2a9f3", "files").handshake().
		s2c(.410, `files server ready (2 roots)`).
		c2s(1.12, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"plan.md"}}}`).
		s2c(1.124, `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"# Plan"}]}}`).
		c2s(6.482, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"notes.md"}}}`).
		s2c(6.484, `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"ENOENT: no such file \"notes.md\""}],"isError":true}}`)
	memory := newTape("memory-97012-1d0b6f3a55e8", "memory").handshake().
		c2s(1.13, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search_nodes","arguments":{"query":"trip"}}}`).
		s2c(1.98, `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"3 nodes"}]}}`).
		c2s(2.01, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"reindex","arguments":{},"_meta":{"progressToken":"r"}}}`).
		s2c(4.01, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"r","progress":4,"total":50}}`).
		s2c(16.01, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"r","progress":31,"total":50}}`)
	weather := newTape("weather-97013-77c2e90b14aa", "weather").handshake().
		c2s(1.2, `{"jsonrpc":"2.0","id":3,"method":"ping"}`).
		s2c(1.3, `{"jsonrpc":"2.0","id":3,"result":{}}`).
		c2s(1.4, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`).
		c2s(4.5, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"radar","arguments":{"zoom":7,"tiles":2048}}}`).
		frame(5, capture.Stderr, capture.Line, `tile cache cold, fetching 2,048 tiles`).
		c2s(9.5, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"timeout"}}`).
		s2c(11.81, `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"2048 tiles"}]}}`)
	return files.String() + memory.String() + weather.String()
}

// checked folds a log as the command does.
func checked(t *testing.T, log string, o Options) (*Check, string) {
	t.Helper()
	c := NewCollector(o)
	r := session.New(session.Options{Settled: c.Settled, Revised: c.Revised})
	reader := capture.NewReader(strings.NewReader(log), capture.ReaderOptions{Name: "x.jsonl"})
	err := session.Fold(reader, r, func(f *capture.Frame, _ capture.Ref, st session.Step) error {
		c.Step(f, st)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check := c.Report(r)
	var out bytes.Buffer
	if err := check.WriteText(&out, term.Palette{}); err != nil {
		t.Fatal(err)
	}
	return check, out.String()
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTextOfTheTrip(t *testing.T) {
	_, got := checked(t, trip(), Options{FailOn: gate.Default(), All: true})
	equal(t, got, `session files-97011-4be1c0d2a9f3: errors=1 invalid=1 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
  invalid      seq 7             stdout line is not MCP: "files server ready (2 roots)"
  error        seq 11            tools/call read_file (id 4): tool error: ENOENT: no such file "notes.md"
session memory-97012-1d0b6f3a55e8: errors=0 invalid=0 warnings=0 mismatches=0 pending=1 late_results=0 missing_frames=0
  pending      seq 9             tools/call reindex (id 4): open 14.0s to the last frame; with the server: still working, last sign 0s ago (progress 31/50)
session weather-97013-77c2e90b14aa: errors=0 invalid=0 warnings=0 mismatches=0 pending=0 late_results=1 missing_frames=0
  late-result  seq 13            tools/call radar (id 5): with the server: it had the call for 7.31s, the client waited 5.00s
look first at files-97011-4be1c0d2a9f3 seq 7
check failed: error,invalid
`)
}

func TestOnlySelectedSignalsHaveLines(t *testing.T) {
	check, got := checked(t, trip(), Options{FailOn: gate.SetOf(gate.LateResult, gate.Incomplete)})
	equal(t, got, `session files-97011-4be1c0d2a9f3: errors=1 invalid=1 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
session memory-97012-1d0b6f3a55e8: errors=0 invalid=0 warnings=0 mismatches=0 pending=1 late_results=0 missing_frames=0
  pending      seq 9             tools/call reindex (id 4): open 14.0s to the last frame; with the server: still working, last sign 0s ago (progress 31/50)
session weather-97013-77c2e90b14aa: errors=0 invalid=0 warnings=0 mismatches=0 pending=0 late_results=1 missing_frames=0
  late-result  seq 13            tools/call radar (id 5): with the server: it had the call for 7.31s, the client waited 5.00s
look first at weather-97013-77c2e90b14aa seq 13
check failed: late-result
`)
	if check.Tripped() != gate.SetOf(gate.LateResult) {
		t.Errorf("tripped %v", check.Tripped())
	}
}

func TestPassed(t *testing.T) {
	log := newTape("a-1-000000000001", "a").handshake().frame(1, capture.Meta, capture.End, `{"exit_code":0,"frames":7}`).String()
	check, got := checked(t, log, Options{FailOn: gate.Default()})
	equal(t, got, `session a-1-000000000001: errors=0 invalid=0 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
check passed
`)
	if check.Tripped() != 0 {
		t.Errorf("tripped %v", check.Tripped())
	}
}

func TestOneSessionOneFindingNeedsNoPointer(t *testing.T) {
	log := newTape("a-1-000000000001", "a").handshake().s2c(1, "banner").String()
	_, got := checked(t, log, Options{FailOn: gate.Default()})
	equal(t, got, `session a-1-000000000001: errors=0 invalid=1 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
  invalid      seq 7             stdout line is not MCP: "banner"
check failed: invalid
`)
}

// TestNullSaysNothing: a member that is null beside one that says more is no error,
// on an answer as on one that nobody waits for.
func TestNullSaysNothing(t *testing.T) {
	log := newTape("a-1-000000000001", "a").handshake().
		c2s(1, `{"jsonrpc":"2.0","id":3,"method":"ping"}`).s2c(2, `{"jsonrpc":"2.0","id":3,"result":{},"error":null}`).
		c2s(3, `{"jsonrpc":"2.0","id":4,"method":"ping"}`).s2c(4, `{"jsonrpc":"2.0","id":4,"error":null,"result":null}`).
		s2c(5, `{"jsonrpc":"2.0","id":99,"result":{},"error":null}`).
		c2s(6, `{"jsonrpc":"2.0","id":5,"method":"ping"}`).
		c2s(7, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`).
		s2c(8, `{"jsonrpc":"2.0","id":5,"result":{},"error":null}`).
		c2s(9, `{"jsonrpc":"2.0","id":6,"method":"ping"}`).s2c(10, `{"jsonrpc":"2.0","id":6,"result":null,"error":{"code":-32603,"message":"no"}}`).String()
	_, got := checked(t, log, Options{FailOn: gate.SetOf(gate.Error, gate.Invalid)})
	if !strings.Contains(got, "errors=1 invalid=0 warnings=0 mismatches=0 pending=0 late_results=1") || !strings.Contains(got, "ping (id 6): error -32603: no") {
		t.Errorf("%s", got)
	}
}

func TestIncomplete(t *testing.T) {
	tape := newTape("a-1-000000000001", "a").handshake()
	tape.WriteString("{\"session_id\":\x1b[2J\n")
	tape.seq += 2
	tape.s2c(1, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	tape.frame(2, capture.Meta, capture.Gap, `{"command":["a"],"cwd":"/w","lost":3,"first":10,"last":12,"reason":"disk full"}`)
	log := tape.String()
	log = log[:len(log)-1] + "\n" + `{"session_id":"a-1-0`
	_, got := checked(t, log, Options{FailOn: gate.SetOf(gate.Incomplete)})
	for _, want := range []string{
		"line 7", "log line 7 unreadable", "1 frame missing, seq 8", "3 frames lost: disk full, seq 10–12", "log ends inside line",
		"check failed: incomplete\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said in:\n%s", want, got)
		}
	}
	if strings.ContainsRune(got, 0x1b) {
		t.Errorf("an escape reached the output: %q", got)
	}
	_, got = checked(t, log, Options{FailOn: gate.Default()})
	if !strings.Contains(got, "log line 7 unreadable") || !strings.HasSuffix(got, "check passed\n") {
		t.Errorf("what could not be read is kept quiet:\n%s", got)
	}
}

func TestHostileTextIsInert(t *testing.T) {
	evil := "\x1b]0;owned\x07\u202e\u200b"
	tape := newTape("a-1-000000000001", "a").handshake().
		s2c(1, evil+strings.Repeat("x", 10_000)).
		c2s(2, `{"jsonrpc":"2.0","id":"\u001b[31m","method":"tools/call","params":{"name":"\u001b[2J`+"\u202e"+`"}}`).
		s2c(3, `{"jsonrpc":"2.0","id":"\u001b[31m","error":{"code":-1,"message":"\u001b[2J\n\r`+"\u0085"+`"}}`)
	_, got := checked(t, tape.String(), Options{FailOn: gate.Default()})
	for _, line := range strings.Split(got, "\n") {
		for _, r := range line {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u200b' {
				t.Fatalf("%U in %q", r, line)
			}
		}
		if len(line) > 1200 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if !strings.Contains(got, "check failed: error,invalid") {
		t.Errorf("got:\n%s", got)
	}
}

func TestDetailIsBoundedAndSaysSo(t *testing.T) {
	tape := newTape("a-1-000000000001", "a").handshake()
	for range keepPerSignal + 7 {
		tape.s2c(1, "noise")
	}
	for i := range keepPerSignal + 3 {
		tape.c2s(2, fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`, i))
	}
	_, got := checked(t, tape.String(), Options{FailOn: gate.Default()})
	if n := strings.Count(got, "\n  invalid      "); n != keepPerSignal+1 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"and 7 more\n", "and 3 more\n", fmt.Sprintf("invalid=%d", keepPerSignal+7), fmt.Sprintf("pending=%d", keepPerSignal+3)} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said", want)
		}
	}
}

func TestErrorsListedAreErrorsCounted(t *testing.T) {
	log := newTape("a-1-000000000001", "a").handshake().
		c2s(1, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}`).
		s2c(2, `{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}`).
		s2c(3, `{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"again"}}`).
		s2c(4, `{"jsonrpc":"2.0","id":99,"error":{"code":-32000,"message":"whose?"}}`).
		s2c(5, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`).
		c2s(6, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"b"}}`).
		c2s(7, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`).
		s2c(8, `{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"too late"}}`).
		c2s(9, `{"jsonrpc":"2.0","id":5,"method":"server/discover"}`).
		s2c(10, `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}`).String()
	check, got := checked(t, log, Options{FailOn: gate.Default()})
	n := 0
	for _, f := range check.Sessions[0].Findings {
		if f.Signal == gate.Error {
			n++
		}
	}
	if n != check.Sessions[0].Signals[gate.Error] || strings.Contains(got, "more") {
		t.Errorf("%d errors listed, %d counted:\n%s", n, check.Sessions[0].Signals[gate.Error], got)
	}
	for _, want := range []string{
		"seq 8             tools/call a (id 3): error -32602: no",
		"seq 10            error that answers no request seen (id 99)",
		"tools/call b (id 4): error -1: too late",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not said in:\n%s", want, got)
		}
	}
}

// Upstream numbers a frame after forwarding it: an answer can stand before its request.
func TestErrorBeforeItsRequest(t *testing.T) {
	line := func(seq int, dir, raw string) string {
		return fmt.Sprintf(`{"session_id":"s-1-0a","server_label":"s","seq":%d,"ts":"2026-11-30T19:41:52Z","direction":"%s","transport":"stdio","raw":%s}`+"\n", seq, dir, raw)
	}
	log := line(1, "s2c", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"early"}}`) +
		line(2, "c2s", `{"jsonrpc":"2.0","id":1,"method":"ping"}`) +
		line(3, "s2c", `{"jsonrpc":"2.0","id":9,"error":{"code":-1,"message":"stray"}}`)
	_, got := checked(t, log, Options{FailOn: gate.Default()})
	equal(t, got, `session s-1-0a: errors=2 invalid=0 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
  error        seq 1             ping (id 1): error -1: early
  error        seq 3             error that answers no request seen (id 9)
look first at s-1-0a seq 1
check failed: error
`)
}

// TestManyOpenAtOnce: what is counted is what is listed, however many calls are open at once.
func TestManyOpenAtOnce(t *testing.T) {
	const n, unanswered = 10_000, 5
	batch := func(first, last int, format string) string {
		var list []string
		for i := first; i < last; i++ {
			list = append(list, fmt.Sprintf(format, i))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	head := newTape("a-1-000000000001", "a").
		c2s(.1, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26"}}`).
		s2c(.2, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-03-26"}}`).
		c2s(1, batch(0, n, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`))
	whole := *head
	whole.Buffer = *bytes.NewBuffer(bytes.Clone(head.Bytes()))
	_, got := checked(t, whole.s2c(2, batch(0, n, `{"jsonrpc":"2.0","id":%d,"result":{}}`)).String(), Options{FailOn: gate.Default(), All: true})
	equal(t, got, `session a-1-000000000001: errors=0 invalid=0 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
check passed
`)
	// The first calls, which were let go of: some are not answered, one with an error, one
	// with a tool's.
	head.s2c(2, batch(unanswered+2, n, `{"jsonrpc":"2.0","id":%d,"result":{}}`)).
		s2c(3, `{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"no luck"}}`).
		s2c(4, `{"jsonrpc":"2.0","id":6,"result":{"isError":true,"content":[{"type":"text","text":"no file"}]}}`)
	_, got = checked(t, head.String(), Options{FailOn: gate.Default(), All: true})
	equal(t, got, `session a-1-000000000001: errors=2 invalid=0 warnings=0 mismatches=0 pending=5 late_results=0 missing_frames=0
  error        seq 6             answer to a call let go of (id 5): error -32603: no luck
  error        seq 7             answer to a call let go of (id 6): tool error: no file
  pending                        and 5 more
look first at a-1-000000000001 seq 6
check failed: error
`)
}

// TestBatchBeyondBound: too many elements for us are what the record lacks.
func TestBatchBeyondBound(t *testing.T) {
	note := `{"jsonrpc":"2.0","method":"n"}`
	log := newTape("a-1-000000000001", "a").
		c2s(.1, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26"}}`).
		s2c(.2, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-03-26"}}`).
		c2s(1, "["+strings.Repeat(note+",", jsonrpc.MaxBatch)+note+"]").String()
	_, got := checked(t, log, Options{FailOn: gate.SetOf(gate.Invalid, gate.Incomplete)})
	equal(t, got, `session a-1-000000000001: errors=0 invalid=0 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
  incomplete   seq 4             batch of more than 16,384 elements: the rest was searched for answers only
check failed: incomplete
`)
}

// TestColours: signals and verdict have a role each, and nothing else has.
func TestColours(t *testing.T) {
	check, plain := checked(t, trip(), Options{FailOn: gate.Default(), All: true})
	var out bytes.Buffer
	p := term.Palette{Depth: term.SixteenColors}
	if err := check.WriteText(&out, p); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{
		"\n  \x1b[1;31minvalid\x1b[0m      seq 7  ", "\n  \x1b[36mpending\x1b[0m      seq 9  ",
		"\n  \x1b[33mlate-result\x1b[0m  seq 13 ", "\n\x1b[1;31mcheck failed\x1b[0m: error,invalid\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%q", want, got)
		}
	}
	if bare := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(got, ""); bare != plain {
		t.Errorf("without colours:\n%s\nwant:\n%s", bare, plain)
	}
	passed := Check{Sessions: []Session{{ID: "a", Frames: 1}}}
	out.Reset()
	if err := passed.WriteText(&out, p); err != nil || !strings.HasSuffix(out.String(), "\n\x1b[32mcheck passed\x1b[0m\n") {
		t.Errorf("%v, %q", err, out.String())
	}
}

// TestRefusalListedOnce: an error that comes before what it refuses is one finding.
func TestRefusalListedOnce(t *testing.T) {
	line := func(seq int, dir, more string) string {
		return fmt.Sprintf(`{"session_id":"h-1-0a","server_label":"h","seq":%d,"ts":"2026-11-30T19:41:52Z","mono_us":%d,"direction":"%s","transport":"http","conn_id":"c","exchange":1,%s}`+"\n", seq, seq, dir, more)
	}
	log := line(1, "meta", `"kind":"http","http":{"verb":"POST","path":"/mcp"}`) +
		line(2, "s2c", `"status":400,"raw":{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"whose"}}`) +
		line(3, "c2s", `"raw":{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	_, got := checked(t, log, Options{FailOn: gate.Default()})
	equal(t, got, `session h-1-0a: errors=1 invalid=0 warnings=0 mismatches=0 pending=0 late_results=0 missing_frames=0
  error        seq 2             ping (id 1): error -32600: whose
check failed: error
`)
}

func TestSelect(t *testing.T) {
	check, _ := checked(t, trip(), Options{FailOn: gate.Default(), Select: func(h *session.Header) bool { return h.Label == "memory" }})
	if len(check.Sessions) != 1 || check.Tripped() != 0 {
		t.Errorf("%d sessions, tripped %v", len(check.Sessions), check.Tripped())
	}
}
