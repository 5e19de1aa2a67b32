package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"mcpsnoop/internal/export"
)

// inHome runs a command on a state directory, on a machine of that name.
func inHome(t *testing.T, home, host string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	in, out, errs := open("in"), open("out"), open("err")
	code = Main(&Env{
		Stdin: in, Stdout: out, Stderr: errs, Now: time.Now, Version: "test", Getenv: func(string) string { return "" },
		host: func() string { return host },
	}, append([]string{"--home", home}, args...))
	read := func(f *os.File) string {
		defer f.Close()
		f.Seek(0, io.SeekStart)
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	in.Close()
	return code, read(out), read(errs)
}

// strict decodes JSON into its documented struct, unknown members refused.
func strict[T any](t *testing.T, text string) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode: %v\n%s", err, text)
	}
	return v
}

// runsHome is the state directory of the script of that name.
func runsHome(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "script", "runs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if rest, ok := strings.CutPrefix(f.Name, "state/"); ok {
			if err := os.WriteFile(filepath.Join(home, filepath.FromSlash(rest)), f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return home
}

const thisHost = "0123456789abcdef"

func TestRunsJSON(t *testing.T) {
	home := runsHome(t)
	_, out, _ := inHome(t, home, thisHost, "runs", "--json")
	list := strict[export.RunList](t, out)
	if list.Version != 1 || len(list.Runs) != 4 {
		t.Fatalf("version %d, %d runs", list.Version, len(list.Runs))
	}
	r := list.Runs[3]
	if r.ID != "trace:70289e6fadb5" || r.Kind != "trace" || len(r.Sessions) != 2 || r.Calls != 2 || r.Requests != 2 || r.Responses != 2 || r.Errors != 1 ||
		r.Findings != nil || !r.First.Equal(time.Date(2020, 1, 2, 19, 20, 2, 0, time.UTC)) || !r.Last.Equal(time.Date(2020, 1, 2, 19, 20, 4, 5e8, time.UTC)) {
		t.Errorf("%+v", r)
	}
	if s := r.Sessions[1]; s.ID != "memory-12-00000000000c" || !s.Shared || s.Calls != 1 || s.Errors != 1 {
		t.Errorf("%+v", s)
	}
	_, out, _ = inHome(t, home, "another", "runs", "--json")
	for _, r := range strict[export.RunList](t, out).Runs {
		if r.Kind != "trace" && r.Sessions[0].Label != "other" {
			t.Errorf("clients of another host are no run here: %+v", r)
		}
	}
}

// TestRunJSON: of one run JSON has what the text has, judged findings and calls too.
func TestRunJSON(t *testing.T) {
	home := runsHome(t)
	log := filepath.Join(home, "sessions", "files-11-00000000000b.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), `"direction":"stderr"`, `"direction":"s2c"`, 1) // on stdout, where it does not belong
	if err := os.WriteFile(log, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, _ := inHome(t, home, thisHost, "runs", "trace:70289e", "--json")
	doc := strict[export.RunDocument](t, out)
	if doc.Version != 1 || len(doc.Runs) != 1 || doc.Runs[0].ID != "trace:70289e6fadb5" {
		t.Fatalf("%+v", doc)
	}
	r := doc.Runs[0]
	if f := r.Sessions[0].Findings; r.Findings == nil || *r.Findings == 0 || f == nil || *f != *r.Findings || *r.Sessions[1].Findings != 0 {
		t.Errorf("findings: %s", out)
	}
	var calls []string
	for _, c := range doc.Calls {
		if c.DurationMS == nil || c.StartedAt == nil || c.Depth != 0 {
			t.Errorf("%+v", c)
		}
		calls = append(calls, fmt.Sprintf("%s %s %s %s wide=%v error=%v", c.Session, c.Label, c.Method, c.Target, c.SessionWide, c.IsError))
	}
	want := []string{
		"files-11-00000000000b files initialize  wide=true error=false",
		"files-11-00000000000b files tools/call read wide=false error=false",
		"memory-12-00000000000c memory initialize  wide=true error=false",
		"memory-12-00000000000c memory tools/call search wide=false error=true",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(calls, "\n"), strings.Join(want, "\n"))
	}
	_, out, _ = inHome(t, home, thisHost, "runs", "client:97@20200102T192030Z", "--json")
	if doc := strict[export.RunDocument](t, out); len(doc.Calls) != 1 || doc.Calls[0].SessionWide {
		t.Errorf("%+v", doc.Calls)
	}
}

func TestSessionsJSON(t *testing.T) {
	_, out, _ := inHome(t, runsHome(t), thisHost, "sessions", "--json")
	weak, runs := 0, 0
	for _, s := range strict[export.SessionList](t, out).Sessions {
		if s.ClientProcess != nil && s.ClientProcess.Weak != "" {
			weak++
		}
		for _, r := range s.Runs {
			runs++
			if s.Label == "memory" && (r.Calls != 1 || s.Calls != 3) {
				t.Errorf("%+v of %+v", r, s)
			}
		}
		if s.Runs == nil {
			t.Errorf("%s: runs are null", s.ID)
		}
	}
	if weak != 1 || runs != 7 {
		t.Errorf("%d weak clients, %d parts of runs", weak, runs)
	}
}

// TestExportRun exports runs: all of it in order of time, nothing of others.
func TestExportRun(t *testing.T) {
	home := runsHome(t)
	_, out, _ := inHome(t, home, thisHost, "export", "--run", "trace:70289e6fadb5")
	c := strict[export.Collection](t, out)
	if c.Run == nil || c.Run.ID != "trace:70289e6fadb5" || len(c.Sessions) != 2 {
		t.Fatalf("run %+v, %d sessions", c.Run, len(c.Sessions))
	}
	var last time.Time
	for _, e := range c.Events {
		if e.Timestamp.Before(last) || e.Session == "" {
			t.Errorf("event %d of %q at %s, after one at %s", e.Seq, e.Session, e.Timestamp, last)
		}
		last = *e.Timestamp
		if wide := e.Method != "tools/call" && (e.Kind != "response" || e.ID == "1"); e.SessionWide != wide {
			t.Errorf("event %d of %s: session-wide %v", e.Seq, e.Session, e.SessionWide)
		}
	}
	for _, s := range c.Sessions {
		for _, call := range s.Calls {
			if call.TraceID != "" && call.TraceID != c.Run.TraceID || call.Target == "store" {
				t.Errorf("call of another trace: %+v", call)
			}
		}
		if len(s.Calls) != 2 || len(s.Session.Runs) == 0 {
			t.Errorf("%s: %d calls, in %+v", s.Session.ID, len(s.Calls), s.Session.Runs)
		}
	}
	if n := len(c.Sessions[1].Session.Runs); n != 2 {
		t.Errorf("the shared session is in %d runs", n)
	}
	_, out, _ = inHome(t, home, thisHost, "export", "--run", "client:97@20200102T192030Z")
	if c := strict[export.Collection](t, out); len(c.Sessions) != 1 || c.Run.Kind != "client" || c.Events[0].SessionWide {
		t.Errorf("%d sessions of %+v", len(c.Sessions), c.Run)
	}
	_, out, _ = inHome(t, home, thisHost, "export", "weather")
	if d := strict[export.Document](t, out); len(d.Session.Runs) != 1 || d.Calls[0].ParentSpan != "0000000000000003" {
		t.Errorf("runs %+v, calls %+v", d.Session.Runs, d.Calls)
	}
}

// TestRecordedRun groups the logs of a real agent run, as they lie in a state directory.
func TestRecordedRun(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(sharedParts, "real-logs", "multi3-*.jsonl"))
	if len(files) == 0 {
		t.Skip("captures of others are not here")
	}
	home := t.TempDir()
	os.Mkdir(filepath.Join(home, "sessions"), 0o700)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "sessions", filepath.Base(file)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, out, _ := inHome(t, home, thisHost, "runs", "--json")
	list := strict[export.RunList](t, out)
	if len(list.Runs) != 1 || list.Runs[0].ID != "trace:70289e6fadb5" || len(list.Runs[0].Sessions) != 3 || list.Runs[0].Errors != 1 {
		t.Fatalf("%+v", list.Runs)
	}
	_, out, stderr := inHome(t, home, thisHost, "runs", "7028")
	if rows := strings.Count(out, "\n+") + strings.Count(out, "\n-"); rows != 18 || !strings.Contains(out, "tool err") || strings.Count(out, "\n  ") != 4 || stderr != "" {
		t.Errorf("%d rows\n%s%s", rows, out, stderr)
	}
	if code, out, _ := inHome(t, home, thisHost, "check", "--run", "7028"); code != exitNo || strings.Count(out, "session ") != 3 {
		t.Errorf("check: exit code %d\n%s", code, out)
	}
}

// TestMerging puts the lines of logs in order of time, those that are not caught up
// with holding others back.
func TestMerging(t *testing.T) {
	var out bytes.Buffer
	m := &merging{out: bufio.NewWriter(&out)}
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	a, b := &lane{rank: 0, members: members{}}, &lane{rank: 1, members: members{}}
	m.order = []*lane{a, b}
	say := func(l *lane, n int, text string) {
		l.now = at(n)
		m.waiting = append(m.waiting, lines{at(n), l.rank, text})
	}
	check := func(want string) {
		t.Helper()
		if err := m.pass(at(99)); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
	say(a, 1, "a1 ")
	say(a, 5, "a5 ")
	check("")
	say(b, 2, "b2 ")
	check("a1 b2 ")
	say(b, 5, "b5 ")
	check("a1 b2 a5 b5 ")
	a.caught = true
	say(b, 7, "b7 ")
	check("a1 b2 a5 b5 b7 ")
	say(a, 9, "a9 ")
	check("a1 b2 a5 b5 b7 ")
	b.caught = true
	say(b, 8, "b8 ")
	check("a1 b2 a5 b5 b7 b8 a9 ")

	// What one look brought waits for the next, which may bring what belongs before it.
	out.Reset()
	turn := func(want string) {
		t.Helper()
		if err := m.turned(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
	say(a, 12, "a12 ")
	turn("")
	say(b, 11, "b11 ")
	say(b, 13, "b13 ")
	turn("b11 a12 ")
	turn("b11 a12 b13 ")
	say(a, 14, "a14 ")
	if err := m.flush(); err != nil || out.String() != "b11 a12 b13 a14 " {
		t.Errorf("%q at the end, %v", out.String(), err)
	}
}
