package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/session"
)

const (
	here   = "0123456789abcdef"
	traceA = "70289e6fadb56a55872b4d2d09d8d33c"
	traceB = "9b1c0d442e71aaaaaaaaaaaaaaaaaaaa"
)

var epoch = time.Date(2026, 11, 30, 19, 20, 4, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// fold reads a log as it lies on disk.
func fold(t testing.TB, name string, log string) (list []Session) {
	t.Helper()
	r := session.New(session.Options{})
	src := capture.NewReader(strings.NewReader(log), capture.ReaderOptions{Name: name, Decoder: foreign.NewDecoder(name)})
	if err := session.Fold(src, r, nil); err != nil {
		t.Fatal(err)
	}
	for i := range r.Len() {
		h := r.Header(i)
		list = append(list, Of(&h))
	}
	return list
}

// tell describes runs: a line each, its sessions by label in order.
func tell(runs []Run) string {
	var b strings.Builder
	for i := range runs {
		r := &runs[i]
		fmt.Fprintf(&b, "%s %d/%d/%d/%d", r.ID, r.Counts.Calls, r.Counts.Requests, r.Counts.Responses, r.Counts.Errors)
		for _, m := range r.Members {
			fmt.Fprintf(&b, " %s:%d", m.Session.Label, m.Counts.Calls)
			if m.Shared {
				b.WriteString("(shared)")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func client(label string, from int, c *Client) Session {
	return Session{ID: label + "-1-00", Tap: label + "-1-00", Label: label, First: at(from), Last: at(from + 10), Counts: Counts{4, 4, 4, 1}, Client: c}
}

func of(host string, pid int, start string) *Client {
	return &Client{Host: host, PID: pid, Start: start}
}

func inTraces(s Session, traces ...Trace) Session {
	s.Traces = traces
	return s
}

func TestGroup(t *testing.T) {
	weak := of(here, 97001, "5")
	weak.Weak = "the parent process changed while we started"
	part := func(id string, calls, from int) Trace {
		return Trace{ID: id, Counts: Counts{Calls: calls, Requests: calls, Responses: calls}, First: at(from), Last: at(from + 1)}
	}
	http := client("web", 3, of(here, 97001, "5"))
	http.HTTP = true
	for _, c := range []struct {
		name string
		list []Session
		want string
	}{
		{"nothing", nil, ""},
		{"three of one client", []Session{client("c", 2, of(here, 97001, "5")), client("a", 0, of(here, 97001, "5")), client("b", 1, of(here, 97001, "5"))},
			"client:97001@20261130T192004Z 12/12/12/3 a:4 b:4 c:4\n"},
		{"a process id that was used again", []Session{client("a", 0, of(here, 97001, "5")), client("b", 60, of(here, 97001, "6"))},
			"client:97001@20261130T192104Z 4/4/4/1 b:4\nclient:97001@20261130T192004Z 4/4/4/1 a:4\n"},
		{"the same within one second", []Session{client("a", 0, of(here, 97001, "5")), client("b", 0, of(here, 97001, "6"))},
			"client:97001@20261130T192004Z-fb165823 4/4/4/1 b:4\nclient:97001@20261130T192004Z-fc1659b6 4/4/4/1 a:4\n"},
		{"the same process of another host", []Session{client("a", 0, of(here, 97001, "5")), client("b", 1, of("fedcba9876543210", 97001, "5"))},
			"client:97001@20261130T192004Z 4/4/4/1 a:4\n"},
		{"weak keys", []Session{client("a", 0, weak), client("b", 0, of(here, 97001, "")), client("c", 0, of(here, 0, "5")), client("d", 0, of("", 97001, "5")), client("e", 0, nil)}, ""},
		{"http has no client", []Session{http}, ""},
		{"trace before client", []Session{
			inTraces(client("a", 0, of(here, 97001, "5")), part(traceA, 2, 1)), client("b", 1, of(here, 97001, "5")), inTraces(client("c", 2, nil), part(traceA, 1, 3)),
		}, "client:97001@20261130T192005Z 4/4/4/1 b:4\ntrace:70289e6fadb5 3/3/3/0 a:2 c:1\n"},
		{"several traces", []Session{
			inTraces(client("a", 0, of(here, 97001, "5")), part(traceA, 1, 1), part(traceB, 2, 5)), inTraces(client("b", 0, nil), part(traceB, 1, 4)),
		}, "trace:9b1c0d442e71 3/3/3/0 b:1 a:2(shared)\ntrace:70289e6fadb5 1/1/1/0 a:1(shared)\n"},
		{"trace ids that begin alike", []Session{
			inTraces(client("a", 0, nil), part("70289e6fadb56a55872b4d2d09d8d33c", 1, 1), part("70289e6fadb56a558aaaaaaaaaaaaaaa", 1, 0), part("70289e6fadb56b55872b4d2d09d8d33c", 1, 2)),
		}, "trace:70289e6fadb56b 1/1/1/0 a:1(shared)\ntrace:70289e6fadb56a5587 1/1/1/0 a:1(shared)\ntrace:70289e6fadb56a558a 1/1/1/0 a:1(shared)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := json.Marshal(c.list)
			if got := tell(Group(c.list, here)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if after, _ := json.Marshal(c.list); string(after) != string(before) {
				t.Error("grouping changed what it was given")
			}
			for _, r := range Group(c.list, here) { // Takes says the same of one session
				for i := range c.list {
					in := slices.ContainsFunc(r.Members, func(m Member) bool { return m.Index == i })
					if got := r.Takes(&c.list[i], here); got != in {
						t.Errorf("%s takes %s: %v, want %v", r.ID, c.list[i].ID, got, in)
					}
				}
			}
		})
	}
	list := []Session{client("a", 0, of(here, 97001, "5"))}
	if got := tell(Group(list, "")); got != "" {
		t.Errorf("a machine that does not know itself groups %s", got)
	}
}

func TestFindings(t *testing.T) {
	n := 2
	list := []Session{client("a", 0, of(here, 1, "5")), client("b", 0, of(here, 1, "5"))}
	list[0].Findings = &n
	if r := Group(list, here); r[0].Findings != nil {
		t.Errorf("%d findings where a session was not judged", *r[0].Findings)
	}
	list[1].Findings = &n
	if r := Group(list, here); r[0].Findings == nil || *r[0].Findings != 4 {
		t.Errorf("findings %v, want 4", r[0].Findings)
	}
}

// TestOrderIsOfTime makes sure that the number of a frame plays no part across sessions:
// every log counts from 1, and when each begins is another thing than in what order they
// are read.
func TestOrderIsOfTime(t *testing.T) {
	labels := []string{"a", "b", "c", "d", "e"}
	want := ""
	for round := range 20 {
		random := rand.New(rand.NewPCG(1, uint64(round)))
		order := random.Perm(len(labels))
		var list []Session
		began := make([]string, len(labels))
		for i, label := range labels {
			start := 10 * order[i]
			began[order[i]] = label
			var log strings.Builder
			for seq := 1; seq <= 4; seq++ {
				payload := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"traceparent":"00-%s-00f067aa0ba902b7-01"}}}`, seq, traceA)
				fmt.Fprintf(&log, `{"session_id":"%s-1-00","server_label":"%s","seq":%d,"ts":%q,"direction":"c2s","transport":"stdio","raw":%s}`+"\n",
					label, label, seq, at(start+seq).Format(time.RFC3339Nano), payload)
			}
			list = append(list, fold(t, label, log.String())...)
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		runs := Group(list, here)
		var got []string
		for _, m := range runs[0].Members {
			got = append(got, m.Session.Label)
		}
		if len(runs) != 1 || !slices.Equal(got, began) || !runs[0].First.Equal(at(1)) || !runs[0].Last.Equal(at(44)) {
			t.Fatalf("round %d: %s, began %v; %s to %s", round, tell(runs), began, runs[0].First, runs[0].Last)
		}
		head, _, _ := strings.Cut(tell(runs), " a:")
		if head, _, _ = strings.Cut(head, " "); want != "" && head != want {
			t.Fatalf("named %s, then %s", want, head)
		}
		want = head
	}
}

func TestFind(t *testing.T) {
	part := func(id string) Trace { return Trace{ID: id, First: at(1), Last: at(2)} }
	runs := Group([]Session{
		inTraces(client("a", 0, nil), part(traceA), part("70289e00000000000000000000000000"), part("97001000000000000000000000000000")),
		client("b", 0, of(here, 970, "5")), client("c", 1, of(here, 97001, "5")), client("d", 60, of(here, 42, "5")), client("e", 120, of(here, 42, "6")),
	}, here)
	for text, want := range map[string]string{
		"trace:70289e6fadb5": "trace:70289e6fadb5", "trace:70289e6": "trace:70289e6fadb5", "70289e6": "trace:70289e6fadb5",
		"trace:" + traceA: "trace:70289e6fadb5", traceA: "trace:70289e6fadb5", " 70289e6fadb5 ": "trace:70289e6fadb5",
		"client:97001": "client:97001@20261130T192005Z", "client:970": "client:970@20261130T192004Z", "970": "[client:970@20261130T192004Z trace:970010000000]",
		"client:42@20261130T1921": "client:42@20261130T192104Z", "trace:9": "trace:970010000000",
		"client:42":  "[client:42@20261130T192204Z client:42@20261130T192104Z]",
		"70289e":     "[trace:70289e000000 trace:70289e6fadb5]",
		"97001":      "[client:97001@20261130T192005Z trace:970010000000]",
		"c":          "[client:42@20261130T192204Z client:42@20261130T192104Z client:97001@20261130T192005Z client:970@20261130T192004Z]",
		"70289e7":    "near trace:70289e",
		"trace:4bf9": "near trace:70289e000000", "": "near client:42@20261130T192204Z", "client:971": "near client:97001@",
		traceA[:31] + "d": "near trace:70289e6fadb5",
	} {
		r, err := Find(runs, text)
		var missing *NotFoundError
		var ambiguous *AmbiguousError
		got := ""
		switch {
		case errors.As(err, &missing):
			got = "near " + strings.Join(missing.Near, " ")
			if len(missing.Near) > mostNear || missing.Text != text {
				t.Errorf("%q: %+v", text, missing)
			}
		case errors.As(err, &ambiguous):
			got = fmt.Sprint(ambiguous.IDs)
		default:
			got = r.ID
		}
		if strings.HasPrefix(want, "[") {
			a, b := strings.Fields(strings.Trim(want, "[]")), strings.Fields(strings.Trim(got, "[]"))
			slices.Sort(a)
			slices.Sort(b)
			if !slices.Equal(a, b) {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		} else if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestOf folds a log of ours and one of a recorder that knows no clients.
func TestOf(t *testing.T) {
	const meta = `{"session_id":"a-1-00","server_label":"a","seq":1,"ts":"2026-11-30T19:20:04Z","direction":"meta","kind":"start","transport":%q,"raw":{"command":["x"],"cwd":"/","format":1%s}}` + "\n"
	for name, c := range map[string]struct{ transport, more, want string }{
		"ours":     {"stdio", `,"client":{"host":"h","pid":7,"start":"5","name":"agent"}`, `{"host":"h","pid":7,"start":"5","name":"agent"}`},
		"weak":     {"stdio", `,"client":{"host":"h","pid":1,"start":"5","weak":"reaper"}`, `{"host":"h","pid":1,"start":"5","weak":"reaper"}`},
		"no start": {"stdio", `,"client":{"host":"h","pid":7}`, `{"host":"h","pid":7,"start":"","weak":"its start was not recorded"}`},
		"no pid":   {"stdio", `,"client":{"host":"h","start":"5"}`, `{"host":"h","pid":0,"start":"5","weak":"its process id was not recorded"}`},
		"no host":  {"stdio", `,"client":{"pid":7,"start":"5"}`, `{"host":"","pid":7,"start":"5","weak":"its host was not recorded"}`},
		"older":    {"stdio", "", "null"},
		"http":     {"http", `,"client":{"host":"h","pid":7,"start":"5"}`, "null"},
	} {
		list := fold(t, name, fmt.Sprintf(meta, c.transport, c.more))
		if len(list) != 1 {
			t.Fatalf("%s: %d sessions", name, len(list))
		}
		if got, _ := json.Marshal(list[0].Client); string(got) != c.want {
			t.Errorf("%s: client %s, want %s", name, got, c.want)
		}
	}
}

// TestRealLogs groups logs that were recorded of one agent run, with a trace context
// and without.
func TestRealLogs(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "real-logs")
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) == 0 {
		t.Skip("no real logs beside the project")
	}
	var list []Session
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fold(t, file, string(log))...)
	}
	want := "trace:70289e6fadb5 10/10/10/1 everything:3 filesystem:4 memory:3\n"
	if got := tell(Group(list, here)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
