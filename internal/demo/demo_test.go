package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mcpsnoop/internal/tracectx"
)

// asServer names a directory: a process of this test binary that sees it set and is no
// proxy is the demo server of the name in its last argument, and copies there what
// passes. Set to broken, it is a server that cannot start.
const (
	asServer = "MCPSNOOP_TEST_DEMO_SERVER"
	broken   = "broken"
)

func TestMain(m *testing.M) {
	name := os.Args[len(os.Args)-1]
	dir := os.Getenv(asServer)
	switch {
	case dir == "":
		goleak.VerifyTestMain(m)
	case strings.HasPrefix(name, "http://"):
		proxying(os.Getenv(asProxy), name)
	case dir == broken:
		os.Stderr.WriteString("no weather today")
		os.Exit(1)
	default:
		in, out := create(dir, name+".in"), create(dir, name+".out")
		err := Server(context.Background(), name, io.TeeReader(os.Stdin, in), io.MultiWriter(os.Stdout, out), os.Stderr)
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
	}
}

func create(dir, name string) *os.File {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		panic(err)
	}
	return f
}

// played returns taps of this test binary that leave what passes in a directory.
func played(t *testing.T) (dir string, taps Taps) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv(asServer, dir)
	t.Setenv(asProxy, dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := func(word string) []string { return []string{self, word} }
	return dir, Taps{Stdio: command, HTTP: command, Address: left(dir, "address")}
}

// message is as much of a message as the tests look at.
type message struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Name            string `json:"name"`
		RequestID       any    `json:"requestId"`
		ProtocolVersion string `json:"protocolVersion"`
		Meta            struct {
			Traceparent string `json:"traceparent"`
		} `json:"_meta"`
	} `json:"params"`
	Result *struct {
		IsError bool `json:"isError"`
	} `json:"result"`
}

// passed decodes what was copied; lines that are no JSON come back as text.
func passed(t *testing.T, path string) (messages []message, stray []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			stray = append(stray, strings.TrimSpace(string(line)))
			continue
		}
		messages = append(messages, m)
	}
	return messages, stray
}

// sent words the methods of messages, with the tools.
func sent(messages []message) string {
	var list []string
	for _, m := range messages {
		list = append(list, strings.TrimSpace(m.Method+" "+m.Params.Name))
	}
	return strings.Join(list, ", ")
}

func TestDemoShowsWhatItPromises(t *testing.T) {
	dir, taps := played(t)
	trace := NewTrace()
	if err := Run(t.Context(), trace, taps); err != nil {
		t.Fatal(err)
	}
	notes, _ := passed(t, filepath.Join(dir, "notes.in"))
	weather, _ := passed(t, filepath.Join(dir, "weather.in"))
	railway, _ := passed(t, filepath.Join(dir, "posted"))
	for _, one := range []struct {
		got  []message
		want string
	}{
		{notes, "initialize, notifications/initialized, tools/list, tools/call read_note, tools/call search_notes, " +
			"notifications/cancelled, tools/call write_note"},
		{weather, "initialize, notifications/initialized, tools/list, tools/call forecast, tools/call radar"},
		{railway, "initialize, notifications/initialized, tools/list, tools/call departures, tools/call reserve_seat, "}, // and the form
	} {
		if got := sent(one.got); got != one.want {
			t.Errorf("the agent sent\n%s\nwant\n%s", got, one.want)
		}
		if v := one.got[0].Params.ProtocolVersion; v != revision {
			t.Errorf("asked for revision %q", v)
		}
	}
	oneTrace(t, trace, slices.Concat(notes, weather, railway))

	out, _ := passed(t, filepath.Join(dir, "notes.out"))
	answers := map[any]bool{} // id → tool error
	for _, m := range out {
		if m.Result != nil {
			answers[m.ID] = m.Result.IsError
		}
	}
	if id := notes[5].Params.RequestID; id == nil || id != notes[4].ID {
		t.Errorf("cancelled id %v, the call was %v", id, notes[4].ID)
	}
	if failed, ok := answers[notes[4].ID]; !ok || failed {
		t.Errorf("late answer: there %v, tool error %v", ok, failed)
	}
	if failed, ok := answers[notes[3].ID]; !ok || !failed {
		t.Errorf("failing call: answered %v, tool error %v", ok, failed)
	}
	if _, stray := passed(t, filepath.Join(dir, "weather.out")); len(stray) != 1 || stray[0] != strayLine {
		t.Errorf("lines that are no JSON: %q", stray)
	}
}

// oneTrace: each request has a span of its own in the one trace, and nothing else has.
func oneTrace(t *testing.T, trace tracectx.TraceID, messages []message) {
	t.Helper()
	spans := map[string]bool{}
	requests := 0
	for _, m := range messages {
		if m.ID == nil || m.Method == "" {
			if m.Params.Meta.Traceparent != "" {
				t.Errorf("%s carries a trace", m.Method)
			}
			continue
		}
		requests++
		text := m.Params.Meta.Traceparent
		c, err := tracectx.Parse([]byte(text))
		if err != nil || c.Trace != trace {
			t.Errorf("%s carries %q: %v", m.Method, text, err)
		}
		spans[text] = true
	}
	if requests != 13 || len(spans) != requests {
		t.Errorf("%d requests, %d spans, want 13 of each", requests, len(spans))
	}
}

func TestCommandThatIsNoServer(t *testing.T) {
	_, taps := played(t)
	absent := filepath.Join(t.TempDir(), "absent")
	lost := taps
	lost.Stdio = func(string) []string { return []string{absent} }
	if err := Run(t.Context(), NewTrace(), lost); err == nil {
		t.Error("no error for a command that is not there")
	}
	t.Setenv(asServer, broken)
	err := Run(t.Context(), NewTrace(), taps)
	if err == nil || !strings.Contains(err.Error(), "no weather today") {
		t.Errorf("got %v, want what the command said", err)
	}
	if err := Server(t.Context(), "absent", nil, nil, nil); err == nil {
		t.Error("no error for a server that is not there")
	}
}

func TestCancelledFromOutside(t *testing.T) {
	_, taps := played(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := Run(ctx, NewTrace(), taps); err == nil {
		t.Error("no error")
	}
}
