package run

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of key that ties sessions together.
type Kind string

// The kinds. A trace id is the narrower key: sessions that have one are not grouped by
// their client.
const (
	ByTrace  Kind = "trace"
	ByClient Kind = "client"
)

// Run is the sessions that have one key in common.
type Run struct {
	ID          string // "trace:<hex>" or "client:<pid>@<start>", unique among the runs it was grouped with
	Kind        Kind
	Trace       string  // ByTrace: the whole id
	Client      *Client // ByClient
	First, Last time.Time
	Counts      Counts
	Findings    *int     // nil unless all its sessions were judged and none is shared with another run
	Members     []Member // in order of their beginning
}

// Member is a session as part of a run.
type Member struct {
	Index       int // of the session in the list that was grouped
	Session     *Session
	Shared      bool   // the session is part of other runs too
	Counts      Counts // of the session that belong to the run
	First, Last time.Time
}

// clientKey is a client process.
type clientKey struct {
	host, start string
	pid         int
}

// Group puts sessions together: those that requests of one trace id passed in, and of
// the rest those that one client process of this machine started. here is the host
// hash of this machine; what another machine's processes were called says nothing
// here. A session that has neither key is in no run. The newest beginning comes first.
func Group(list []Session, here string) []Run {
	var g grouping
	for i := range list {
		s := &list[i]
		for t := range s.Traces {
			in := &s.Traces[t]
			r := g.trace(in.ID)
			r.Members = append(r.Members, Member{i, s, len(s.Traces) > 1, in.Counts, in.First, in.Last})
		}
		if c := s.Client; len(s.Traces) == 0 && c.ties(here) && !s.HTTP {
			r := g.client(c)
			r.Members = append(r.Members, Member{i, s, false, s.Counts, s.First, s.Last})
		}
	}
	runs := make([]Run, 0, len(g.runs))
	for _, r := range g.runs {
		r.sum()
		runs = append(runs, *r)
	}
	name(runs)
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(b.First.Compare(a.First), b.Last.Compare(a.Last), cmp.Compare(a.ID, b.ID))
	})
	return runs
}

// ties reports whether the identity of a client may tie sessions together.
func (c *Client) ties(here string) bool {
	return c != nil && c.Weak == "" && here != "" && c.Host == here && c.PID > 0 && c.Start != ""
}

// Takes reports whether Group would put a session into this run.
func (r *Run) Takes(s *Session, here string) bool {
	if r.Kind == ByTrace {
		return slices.ContainsFunc(s.Traces, func(t Trace) bool { return t.ID == r.Trace })
	}
	c := s.Client
	return len(s.Traces) == 0 && c.ties(here) && !s.HTTP && c.Host == r.Client.Host && c.PID == r.Client.PID && c.Start == r.Client.Start
}

// grouping finds runs by their keys.
type grouping struct {
	runs    []*Run
	traces  map[string]*Run
	clients map[clientKey]*Run
}

func (g *grouping) trace(id string) *Run {
	r := g.traces[id]
	if r == nil {
		r = &Run{Kind: ByTrace, Trace: id}
		if g.traces == nil {
			g.traces = map[string]*Run{}
		}
		g.traces[id] = r
		g.runs = append(g.runs, r)
	}
	return r
}

func (g *grouping) client(c *Client) *Run {
	key := clientKey{c.Host, c.Start, c.PID}
	r := g.clients[key]
	if r == nil {
		r = &Run{Kind: ByClient, Client: c}
		if g.clients == nil {
			g.clients = map[clientKey]*Run{}
		}
		g.clients[key] = r
		g.runs = append(g.runs, r)
	}
	return r
}

// sum adds the members up and puts them in order, which is that of time: numbers of
// frames mean nothing across sessions.
func (r *Run) sum() {
	slices.SortStableFunc(r.Members, func(a, b Member) int {
		return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Session.Label, b.Session.Label), cmp.Compare(a.Session.ID, b.Session.ID))
	})
	found, judged := 0, true
	for i := range r.Members {
		m := &r.Members[i]
		if i == 0 || m.First.Before(r.First) {
			r.First = m.First
		}
		if i == 0 || m.Last.After(r.Last) {
			r.Last = m.Last
		}
		r.Counts.add(m.Counts)
		switch {
		case m.Session.Findings == nil || m.Shared: // whose findings they are is not known
			judged = false
		default:
			found += *m.Session.Findings
		}
	}
	if judged {
		r.Findings = &found
	}
}

// shortTrace is how many digits of a trace id are enough for most.
const shortTrace = 12

// name gives runs their ids.
func name(runs []Run) {
	var traces []string
	clients := map[string]int{}
	for i := range runs {
		if runs[i].Kind == ByTrace {
			traces = append(traces, runs[i].Trace)
		} else {
			clients[runs[i].clientID()]++
		}
	}
	slices.Sort(traces)
	for i := range runs {
		r := &runs[i]
		if r.Kind == ByTrace {
			r.ID = string(ByTrace) + ":" + unique(traces, r.Trace)
			continue
		}
		if r.ID = r.clientID(); clients[r.ID] > 1 { // two that began in one second
			h := fnv.New32a()
			h.Write([]byte(r.Client.Host + "\x00" + r.Client.Start))
			r.ID += fmt.Sprintf("-%08x", h.Sum32())
		}
	}
}

func (r *Run) clientID() string {
	return fmt.Sprintf("%s:%d@%s", ByClient, r.Client.PID, r.First.UTC().Format("20060102T150405Z"))
}

// unique cuts an id to what no other of a sorted list begins with.
func unique(sorted []string, id string) string {
	at, _ := slices.BinarySearch(sorted, id)
	n := shortTrace
	for _, i := range []int{at - 1, at + 1} {
		if i >= 0 && i < len(sorted) {
			n = max(n, common(sorted[i], id)+1)
		}
	}
	return id[:min(n, len(id))]
}

// common is how long two texts are the same.
func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// full is the id of a run in all its length.
func (r *Run) full() string {
	if r.Kind == ByTrace {
		return string(ByTrace) + ":" + r.Trace
	}
	return r.ID
}

// bare is the id without the kind of its key.
func bare(id string) string {
	_, rest, _ := strings.Cut(id, ":")
	return rest
}
