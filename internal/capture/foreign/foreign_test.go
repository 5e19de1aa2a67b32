package foreign

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
)

func TestTrace(t *testing.T) {
	base := capture.Frame{Tap: "some-trace", Label: "some-trace", Mono: capture.NoMono, Flags: capture.Sparse}
	with := func(change func(*capture.Frame)) capture.Frame { f := base; change(&f); return f }
	for _, c := range []struct {
		line string
		want capture.Frame
	}{
		{`{"seq":0,"direction":"client-to-server","transport":"stdio","kind":"lifecycle","event":"transport-open"}`,
			with(func(f *capture.Frame) { f.Dir, f.Transport, f.Kind = capture.C2S, capture.Stdio, capture.Open })},
		{`{"seq":7,"direction":"client-to-server","transport":"stdio","kind":"message","payload":{"id":1, "id":2},"exchange":9,"ts":null}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Form, f.Payload = 7, capture.C2S, capture.Stdio, capture.Raw, []byte(`{"id":1, "id":2}`)
			})},
		{`{"kind":"message","payload":null,"transport":"streamable-http","direction":"server-to-client","seq":8,"ts":"2026-11-30T17:00:00+01:00"}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Form, f.Payload, f.Time = 8, capture.S2C, capture.HTTP, capture.Raw, []byte(`null`), time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC)
			})},
		{`{"seq":9,"direction":"client-to-server","transport":"streamable-http","kind":"http","method":"post","headers":{"Accept":"a","accept":"b","mcp-name":"n"}}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Kind = 9, capture.C2S, capture.HTTP, capture.HTTPHead
				f.HTTP = &capture.HTTPFacts{Verb: "POST", Request: map[string]string{"accept": "b", "mcp-name": "n"}}
			})},
		{`{"seq":10,"direction":"server-to-client","transport":"streamable-http","kind":"http","status":202}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Kind = 10, capture.S2C, capture.HTTP, capture.HTTPHead
				f.HTTP = &capture.HTTPFacts{Status: 202}
			})},
		{`{"seq":11,"direction":"server-to-client","transport":"streamable-http","kind":"http","status":200,"headers":{"Content-Type":"text/event-stream"}}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Kind = 11, capture.S2C, capture.HTTP, capture.HTTPHead
				f.HTTP = &capture.HTTPFacts{Status: 200, Response: map[string]string{"content-type": "text/event-stream"}}
			})},
		{`{"seq":12,"direction":"server-to-client","transport":"streamable-http","kind":"lifecycle","event":"transport-abort"}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Kind, f.HTTP = 12, capture.S2C, capture.HTTP, capture.Close, &capture.HTTPFacts{ClosedBy: "upstream"}
			})},
		{`{"seq":13,"direction":"client-to-server","transport":"stdio","kind":"lifecycle","event":"transport-close"}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Kind, f.HTTP = 13, capture.C2S, capture.Stdio, capture.Close, &capture.HTTPFacts{ClosedBy: "client"}
			})},
		{`{"seq":14,"direction":"server-to-client","transport":"stdio","kind":"weather"}`,
			with(func(f *capture.Frame) {
				f.Seq, f.Dir, f.Transport, f.Kind = 14, capture.S2C, capture.Stdio, capture.Other
			})},
		// Lines of logs, whatever comes first in them.
		{`{"session_id":"s","seq":1,"direction":"c2s","transport":"stdio","raw":[]}`,
			capture.Frame{Tap: "s", Seq: 1, Mono: capture.NoMono, Dir: capture.C2S, Transport: capture.Stdio, Form: capture.Raw, Payload: []byte("[]")}},
		{`{"seq":1,"direction":"c2s","transport":"stdio","kind":"http","raw":[],"status":5,"session_id":"s"}`,
			capture.Frame{Tap: "s", Seq: 1, Mono: capture.NoMono, Dir: capture.C2S, Transport: capture.Stdio, Kind: capture.HTTPHead, Form: capture.Raw, Payload: []byte("[]"), HTTP: &capture.HTTPFacts{Status: 5}}},
	} {
		d := NewDecoder(`C:\x\some-trace.jsonl.gz`)
		var f capture.Frame
		if err := d.Decode([]byte(c.line), &f); err != nil {
			t.Errorf("%s\n%v", c.line, err)
		} else if !reflect.DeepEqual(*f.Clone(), *c.want.Clone()) {
			t.Errorf("%s\ngot  %+v\nwant %+v", c.line, f, c.want)
		}
	}
}

func TestTraceRefuses(t *testing.T) {
	const good = `"seq":1,"direction":"client-to-server","transport":"stdio","kind":"message","payload":1`
	for _, c := range []struct{ line, want string }{
		{`nonsense`, "not one JSON value"},
		{`{` + good, "unexpected end"},
		{`{}`, `neither a frame of a log, which has "session_id", nor an event of a trace: "seq" is missing`},
		{`{"seq":1,"direction":"client-to-server","transport":"stdio"}`, `"kind" is missing`},
		{`{"seq":1,"direction":"client-to-server","transport":"stdio","kind":"message"}`, `member "payload" is missing`},
		{`{"seq":1,"direction":"client-to-server","transport":"stdio","kind":"lifecycle"}`, `member "event" is not what a trace has there: ""`},
		{`{` + good + `,"seq":1.0}`, `member "seq" is not what a trace has there: 1.0`},
		{`{` + good + `,"seq":"1"}`, `member "seq"`},
		{`{` + good + `,"direction":"c2s"}`, `member "direction" is not what a trace has there: "c2s"`},
		{`{` + good + `,"transport":3}`, `member "transport"`},
		{`{` + good + `,"ts":"now"}`, `member "ts"`},
		{`{` + good + `,"status":70000}`, `member "status"`},
		{`{` + good + `,"headers":[]}`, `member "headers"`},
		{`{` + good + `,"headers":{"a":1}}`, `member "headers"`},
		{`{"session_id":"s","seq":1}`, `member "direction" is missing`},
		{`{` + good + `,"session_id":"s"}`, `member "direction" must be one of`},
	} {
		var f capture.Frame
		if err := NewDecoder("x").Decode([]byte(c.line), &f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives %v, want %s", c.line, err, c.want)
		}
	}
}

func TestStem(t *testing.T) {
	for name, want := range map[string]string{
		"a.jsonl": "a", "/x/y.z/a.b.jsonl.zst": "a", `C:\x\a.jsonl`: "a", "-": "trace", "": "trace", "/": "trace", ".jsonl": ".jsonl", "a": "a",
	} {
		if got := NewDecoder(name).(*Decoder).stem; got != want {
			t.Errorf("%q has stem %q, want %q", name, got, want)
		}
	}
}

// shared lists handed-over files, or skips the test and says so.
func shared(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skipf("SKIPPED: no ../shared/%s beside the project", pattern)
	}
	return paths
}

func open(t *testing.T, path string) *capture.Log {
	t.Helper()
	l, err := capture.OpenLog(capture.Options{Decoder: NewDecoder}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestSharedLogs reads real logs and the cases: each line is a frame, it says what
// encoding/json finds there, and written again it is the same frame.
func TestSharedLogs(t *testing.T) {
	for _, pattern := range []string{"real-logs/*.jsonl", "cases/*.jsonl"} {
		t.Run(pattern, func(t *testing.T) {
			for _, path := range shared(t, pattern) {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				l := open(t, path)
				var f, again capture.Frame
				for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
					ref, err := l.Next(&f)
					if err != nil {
						t.Fatal(err)
					}
					var want struct {
						Session_ID, Server_Label, Direction, Transport, Text string
						TS                                                   time.Time
						Seq                                                  uint64
						Status                                               int
						Raw                                                  json.RawMessage
					}
					if err := json.Unmarshal([]byte(line), &want); err != nil {
						t.Fatal(err)
					}
					payload := want.Text
					if want.Raw != nil {
						payload = string(want.Raw)
					}
					if ref.Seq != want.Seq || int(ref.Line) != i+1 || f.Tap != want.Session_ID || f.Label != want.Server_Label || !f.Time.Equal(want.TS) ||
						f.Status() != want.Status || string(f.Payload) != payload || (f.Form == capture.Raw) != (want.Raw != nil) {
						t.Errorf("%s:%d reads as %+v at %+v", path, i+1, f, ref)
					}
					if f.Mono != capture.NoMono || f.Flags&capture.Sparse != 0 {
						t.Errorf("%s:%d: monotonic time %v, flags %d", path, i+1, f.Mono, f.Flags)
					}
					kept := f.Clone()
					written := capture.AppendFrame(nil, kept)
					if err := new(capture.Decoder).Decode(written[:len(written)-1], &again); err != nil || !reflect.DeepEqual(again.Clone(), kept) {
						t.Errorf("%s:%d written again\n%s%v\n%+v, first\n%+v", path, i+1, written, err, again, kept)
					}
				}
				if _, err := l.Next(&f); err != io.EOF {
					t.Errorf("%s: after the last line: %v", path, err)
				}
			}
		})
	}
}

// TestSharedCases looks at the notes in the cases: how servers started and ended.
func TestSharedCases(t *testing.T) {
	starts, ends := 0, 0
	for _, path := range shared(t, "cases/*.jsonl") {
		l := open(t, path)
		var f capture.Frame
		for {
			if _, err := l.Next(&f); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			switch f.Kind {
			case capture.Start:
				if s, err := capture.ParseStart(f.Payload); err != nil || len(s.Command) == 0 || s.Cwd == "" || s.Format != 0 {
					t.Errorf("%s: %s starts as %+v (%v)", path, f.Payload, s, err)
				}
				starts++
			case capture.End:
				e, err := capture.ParseEnd(f.Payload)
				if err != nil || e.Frames != f.Seq || (e.ExitCode == nil) != (e.Signal == "SIGKILL") {
					t.Errorf("%s: %s ends as %+v (%v)", path, f.Payload, e, err)
				}
				ends++
			case capture.HTTPHead:
				if f.HTTP == nil || f.Exchange == 0 || (f.Dir == capture.C2S) != (f.HTTP.Verb != "") || (f.Dir == capture.S2C) != (f.Status() != 0) {
					t.Errorf("%s: head %+v", path, f)
				}
			}
		}
	}
	if starts < 20 || ends < 5 {
		t.Errorf("%d starts and %d ends seen", starts, ends)
	}
}

// TestSharedTraces reads the corpus of mcp-conformance.
func TestSharedTraces(t *testing.T) {
	kinds := map[capture.Kind]int{}
	for _, path := range shared(t, "corpus/*/*/*.jsonl") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l := open(t, path)
		var f capture.Frame
		for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			var want struct {
				Seq                        uint64
				Direction, Transport, Kind string
				Status                     int
				Headers                    map[string]string
				Payload                    json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Next(&f); err != nil {
				t.Fatal(err)
			}
			kinds[f.Kind]++
			if f.Tap != strings.TrimSuffix(filepath.Base(path), ".jsonl") || f.Seq != want.Seq || f.Flags != capture.Sparse || !f.Time.IsZero() ||
				(f.Dir == capture.C2S) != (want.Direction == "client-to-server") || (f.Transport == capture.Stdio) != (want.Transport == "stdio") || string(f.Payload) != string(want.Payload) {
				t.Errorf("%s:%d reads as %+v", path, i+1, f)
			}
			if want.Kind == "http" {
				headers := f.HTTP.Request
				if want.Status != 0 {
					headers = f.HTTP.Response
				}
				if f.Status() != want.Status || !reflect.DeepEqual(headers, want.Headers) {
					t.Errorf("%s:%d has facts %+v", path, i+1, f.HTTP)
				}
			}
		}
		if _, err := l.Next(&f); err != io.EOF {
			t.Errorf("%s: after the last line: %v", path, err)
		}
	}
	if kinds[capture.Line] != 514 || kinds[capture.HTTPHead] != 171 || kinds[capture.Open] != 1 || kinds[capture.Close] != 1 {
		t.Errorf("kinds %v", kinds)
	}
}

// TestJoined reads a log and a trace in one file.
func TestJoined(t *testing.T) {
	const text = `{"session_id":"s","seq":1,"direction":"c2s","transport":"stdio","raw":1}
{"seq":4,"direction":"client-to-server","transport":"stdio","kind":"message","payload":2}
nonsense
{"seq":9,"direction":"client-to-server","transport":"stdio","kind":"message","payload":3}
{"session_id":"t","seq":2,"direction":"c2s","transport":"stdio","raw":4}
`
	l := capture.OpenStream(capture.Options{Decoder: NewDecoder}, "joined.jsonl", strings.NewReader(text))
	var got []string
	var f capture.Frame
	for {
		_, err := l.Next(&f)
		var bad *capture.LineError
		if errors.As(err, &bad) {
			got = append(got, "bad")
			continue
		}
		if err != nil {
			break
		}
		got = append(got, f.Tap+string(f.Payload))
	}
	if want := "s1 joined2 bad joined3 t4"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"seq":9,"direction":"client-to-server","transport":"streamable-http","kind":"http","method":"post","headers":{"Accept":"a"},"status":9}`))
	f.Add([]byte(`{"seq":9,"direction":"server-to-client","transport":"stdio","kind":"message","payload": [1],"ts":"9999-12-31T23:59:59-23:00"}`))
	f.Add([]byte(`{"seq":9,"direction":"client-to-server","transport":"stdio","kind":"lifecycle","event":"transport-close"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var got, again capture.Frame
		if NewDecoder("x").Decode(line, &got) != nil {
			return
		}
		kept := got.Clone()
		written := capture.AppendFrame(nil, kept)
		if err := new(capture.Decoder).Decode(written[:len(written)-1], &again); err != nil {
			t.Fatalf("%v\nin %q\nwritten for %q", err, written, line)
		}
		if again.Seq != kept.Seq || again.Kind != kept.Kind || string(again.Payload) != string(kept.Payload) || again.Flags != kept.Flags {
			t.Fatalf("got %+v\nwant %+v", again, kept)
		}
	})
}
