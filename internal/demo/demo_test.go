package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asServer names a directory: a process of this test binary that sees it set is
// the demo server, and copies there what passes. Set to broken, it is a server
// that cannot start.
const (
	asServer = "MCPSNOOP_TEST_DEMO_SERVER"
	broken   = "broken"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(asProxy); dir != "" {
		proxying(dir, os.Args[len(os.Args)-1])
		return
	}
	dir := os.Getenv(asServer)
	if dir == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if dir == broken {
		os.Stderr.WriteString("no weather today")
		os.Exit(1)
	}
	in, out := create(dir, "in"), create(dir, "out")
	err := Server(context.Background(), io.TeeReader(os.Stdin, in), io.MultiWriter(os.Stdout, out), os.Stderr)
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}

func create(dir, name string) *os.File {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		panic(err)
	}
	return f
}

func self(t *testing.T) []string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// message is as much of a message as the tests look at.
type message struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Name            string `json:"name"`
		RequestID       any    `json:"requestId"`
		ProtocolVersion string `json:"protocolVersion"`
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

func TestDemoShowsWhatItPromises(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(asServer, dir)
	var steps []string
	start := time.Now()
	if err := Client(t.Context(), self(t), func(s string) { steps = append(steps, s) }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > limit {
		t.Errorf("took %v, may take %v", took, limit)
	}
	if len(steps) != 7 {
		t.Errorf("%d steps reported: %q", len(steps), steps)
	}

	in, strayIn := passed(t, filepath.Join(dir, "in"))
	out, strayOut := passed(t, filepath.Join(dir, "out"))
	if len(strayIn) != 0 || len(strayOut) != 1 || strayOut[0] != strayLine {
		t.Errorf("lines that are no JSON: in %q, out %q", strayIn, strayOut)
	}
	var methods []string
	ids := map[string]any{} // of each tool's last call
	var cancelledID any
	for _, m := range in {
		methods = append(methods, strings.TrimSpace(m.Method+" "+m.Params.Name))
		if m.Method == "tools/call" {
			ids[m.Params.Name] = m.ID
		}
		if m.Method == "notifications/cancelled" {
			cancelledID = m.Params.RequestID
		}
	}
	want := "initialize, notifications/initialized, tools/list, tools/call forecast, tools/call read_note, " +
		"tools/call radar, tools/call archive, notifications/cancelled, tools/call forecast"
	if got := strings.Join(methods, ", "); got != want {
		t.Errorf("client sent\n%s\nwant\n%s", got, want)
	}
	if v := in[0].Params.ProtocolVersion; v != revision {
		t.Errorf("asked for revision %q", v)
	}
	if cancelledID == nil || cancelledID != ids[toolStubborn] {
		t.Errorf("cancelled id %v, the call was %v", cancelledID, ids[toolStubborn])
	}
	answers := map[any]bool{} // id → tool error
	for _, m := range out {
		if m.Result != nil {
			answers[m.ID] = m.Result.IsError
		}
	}
	if failed, ok := answers[cancelledID]; !ok || failed {
		t.Errorf("late answer: there %v, tool error %v", ok, failed)
	}
	if failed, ok := answers[ids[toolFailing]]; !ok || !failed {
		t.Errorf("failing call: answered %v, tool error %v", ok, failed)
	}
	if len(answers) != 7 {
		t.Errorf("%d answers, want 7", len(answers))
	}
}

func TestCommandThatIsNoServer(t *testing.T) {
	if err := Client(t.Context(), []string{filepath.Join(t.TempDir(), "absent")}, nil); err == nil {
		t.Error("no error for a command that is not there")
	}
	t.Setenv(asServer, broken)
	err := Client(t.Context(), self(t), nil)
	if err == nil || !strings.Contains(err.Error(), "no weather today") {
		t.Errorf("got %v, want what the command said", err)
	}
}

func TestCancelledFromOutside(t *testing.T) {
	t.Setenv(asServer, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := Client(ctx, self(t), nil); err == nil {
		t.Error("no error")
	}
	if took := time.Since(start); took > 2*exitWithin {
		t.Errorf("took %v to give up", took)
	}
}
