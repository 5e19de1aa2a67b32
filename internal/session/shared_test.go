package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
)

// sharedFiles returns captures that lie beside the project; the test is skipped
// where they do not.
func sharedFiles(t testing.TB, pattern string) []string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no shared captures beside the project")
	}
	var files []string
	err := filepath.WalkDir(filepath.Join(dir, pattern), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures in %s (%v)", pattern, err)
	}
	return files
}

func framesOf(t testing.TB, file string) []capture.Frame {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader := capture.NewReader(f, capture.ReaderOptions{Name: file, Decoder: foreign.NewDecoder(file)})
	var frames []capture.Frame
	for {
		var frame capture.Frame
		_, err := reader.Next(&frame)
		if errors.Is(err, io.EOF) {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, *frame.Clone())
	}
}

// openAtTheEnd lists the real logs that end with an open call, and why. Recorded
// sessions that are not here end with none.
var openAtTheEnd = map[string]string{
	// The server of these asks for the client's roots when it has seen initialized;
	// the client leaves as soon as it has its own answer.
	"stdio-everything-inspector2.12-era-auto.jsonl":  "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-01.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-02.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-03.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-04.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-06.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-07.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-08.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-09.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-10.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-11.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-12.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-13.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-14.jsonl": "server: roots/list abandoned",
	"stdio-everything-inspector2.12-legacy-15.jsonl": "server: roots/list abandoned",
	// Subscriptions are open by design: the client left without ending them.
	"stdio-gosdk1.8-inspector2.12-era-modern-01.jsonl": "client: subscriptions/listen streaming",
	"stdio-gosdk1.8-inspector2.12-era-modern-02.jsonl": "client: subscriptions/listen streaming",
	"stdio-gosdk1.8-inspector2.12-era-modern-03.jsonl": "client: subscriptions/listen streaming",
	"stdio-gosdk1.8-inspector2.12-era-modern-04.jsonl": "client: subscriptions/listen streaming",
	// The tool asked for input that this client cannot give; it left.
	"stdio-gosdk1.8-inspector2.12-era-modern-05.jsonl": "client: subscriptions/listen streaming, client: tools/call abandoned",
}

func TestRealLogs(t *testing.T) {
	met := 0
	for _, file := range sharedFiles(t, "real-logs") {
		name := filepath.Base(file)
		frames := framesOf(t, file)
		r := replay(t, frames)
		passed, told := 0, 0
		for i := range frames {
			if frames[i].Passed() {
				passed++
			}
		}
		var open, clients []string
		for n := range r.Len() {
			s := r.Snapshot(n)
			if s.Messages.Len() != s.Counts.Frames {
				t.Errorf("%s: %d frames counted, %d messages", name, s.Counts.Frames, s.Messages.Len())
			}
			told += s.Counts.Frames
			clients = append(clients, fmt.Sprintf("%s %d", s.Client.Name, s.Counts.Frames))
			for _, c := range s.Calls.All() {
				if c.Open() || c.State == StateAbandoned {
					open = append(open, fmt.Sprintf("%s: %s %s", side(c.Dir), c.Method, stateWords[c.State]))
				}
			}
			nothingOdd(t, name, &s)
		}
		if told != passed {
			t.Errorf("%s: %d frames counted, %d passed", name, told, passed)
		}
		want := sessionsOf[name]
		if want == "" {
			want = fmt.Sprintf("%s %d", r.Header(0).Client.Name, passed)
		}
		if got := strings.Join(clients, ", "); got != want {
			t.Errorf("%s: sessions %s, want %s", name, got, want)
		}
		if got := strings.Join(open, ", "); got != openAtTheEnd[name] {
			t.Errorf("%s ends with %q open, want %q", name, got, openAtTheEnd[name])
		} else if got != "" {
			met++
		}
	}
	if met != len(openAtTheEnd) {
		t.Errorf("%d of %d logs with open calls were there", met, len(openAtTheEnd))
	}
}

// sessionsOf says which sessions, and how many frames of each, are in the logs that
// hold several.
var sessionsOf = map[string]string{
	// Five runs of one client, which neither log nor headers name apart.
	"http-everything-inspector2.12.jsonl": "inspector-cli 8, inspector-cli 10, inspector-cli 14, inspector-cli 8, inspector-cli 8",
}

func nothingOdd(t *testing.T, name string, s *Snapshot) {
	t.Helper()
	if s.Counts.Pending != 0 || s.Counts.Incomplete() != 0 {
		t.Errorf("%s: %d pending, %d incomplete", name, s.Counts.Pending, s.Counts.Incomplete())
	}
	for _, m := range s.Messages.All() {
		switch m.Outcome {
		case OutcomeUnmatched, OutcomeDuplicate, OutcomeSuperseded, OutcomeStale:
			t.Errorf("%s: seq %d is %s: none of this was in these sessions", name, m.Ref.Seq, outcomeWords[m.Outcome])
		}
	}
}

func side(d capture.Dir) string {
	if d == capture.C2S {
		return "client"
	}
	return "server"
}

func TestCorpus(t *testing.T) {
	for _, file := range sharedFiles(t, "corpus") {
		frames := framesOf(t, file)
		r := replay(t, frames)
		for i := range r.Len() {
			if h := r.Header(i); h.Counts.Incomplete() != 0 {
				t.Errorf("%s: %d incomplete, traces may leave numbers out", file, h.Counts.Incomplete())
			}
		}
	}
}

// expectation is an X.expect.json of the cases.
type expectation struct {
	Case    string
	Signals map[string]any
}

// notYet lists what the cases ask for that this package does not judge: signals of
// checks to come. Later issues empty it.
var notYet = []string{"warn", "mismatch"}

func TestCases(t *testing.T) {
	judged := 0
	for _, file := range sharedFiles(t, "cases") {
		data, err := os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".expect.json")
		if err != nil {
			t.Fatal(err)
		}
		var want expectation
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		r := replay(t, framesOf(t, file))
		got := map[string]int{}
		for i := range r.Len() {
			c := r.Header(i).Counts
			got["error"] += c.Errors
			got["invalid"] += c.Invalid
			got["pending"] += c.Pending
			got["late-result"] += c.Late
			if c.Incomplete() != 0 {
				t.Errorf("%s: %d incomplete", want.Case, c.Incomplete())
			}
			if h := r.Header(i); h.ID != h.Tap {
				t.Errorf("%s: one client each, but session %s", want.Case, h.ID)
			}
		}
		for signal, n := range want.Signals {
			have, known := got[signal]
			if !known {
				if !slices.Contains(notYet, signal) {
					t.Errorf("%s: no count of %s", want.Case, signal)
				}
				continue
			}
			judged++
			if !meets(have, n) {
				t.Errorf("%s: %s = %d, want %v", want.Case, signal, have, n)
			}
		}
	}
	if judged < 100 {
		t.Errorf("only %d signals judged", judged)
	}
}

// meets compares a count with an exact number or with a bound like ">=2".
func meets(have int, want any) bool {
	switch w := want.(type) {
	case float64:
		return have == int(w)
	case string:
		n, err := strconv.Atoi(strings.TrimPrefix(w, ">="))
		return err == nil && strings.HasPrefix(w, ">=") && have >= n
	}
	return false
}
