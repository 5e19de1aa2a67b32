package run

import (
	"slices"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/tracectx"
)

// Timed is a call of one of the sessions of a run, by the wall clock, which is all that
// sessions have in common.
type Timed struct {
	Member     int // of the session among those of the run
	Call       *session.Call
	Start, End time.Time
}

// Parents returns under which call each of a list stands, -1 for none; the list is in
// order of Start, and headers are those of the members. A request stands under the call
// in which it was asked, where the session knows that, else under the one open call of
// the same trace that named the same parent span and is answered by who asks here: the
// other side of the session, or the process that started this session's tap. A client
// that gives several calls one span makes them neighbours, not parents.
func Parents(headers []*session.Header, list []Timed) []int {
	n := nesting{headers: headers, list: list, open: map[spanKey][]int{}, of: map[callKey]int{}}
	parents := make([]int, len(list))
	for i := range list {
		parents[i] = n.parent(i)
		n.add(i)
	}
	return parents
}

// Depths returns how deep each call stands, by its parents; those are before it.
func Depths(parents []int) []int {
	depths := make([]int, len(parents))
	for i, p := range parents {
		if p >= 0 {
			depths[i] = depths[p] + 1
		}
	}
	return depths
}

// spanKey is what calls say they belong to, on one side of one session.
type spanKey struct {
	member int
	dir    capture.Dir
	trace  tracectx.TraceID
	span   tracectx.SpanID
}

type callKey struct {
	member int
	index  int32
}

type nesting struct {
	headers []*session.Header
	list    []Timed
	open    map[spanKey][]int
	of      map[callKey]int
}

func (n *nesting) add(i int) {
	t := &n.list[i]
	n.of[callKey{t.Member, t.Call.Index}] = i
	if t.Call.Traced() {
		key := keyOf(t.Member, t.Call.Dir, t.Call)
		n.open[key] = append(n.open[key], i)
	}
}

func keyOf(member int, dir capture.Dir, c *session.Call) spanKey {
	return spanKey{member, dir, c.Trace, c.Span}
}

func (n *nesting) parent(i int) int {
	t := &n.list[i]
	if t.Call.Within >= 0 {
		if at, ok := n.of[callKey{t.Member, t.Call.Within}]; ok {
			return at
		}
		return -1
	}
	if !t.Call.Traced() {
		return -1
	}
	found := n.openAt(keyOf(t.Member, other(t.Call.Dir), t.Call), t.Start)
	if t.Call.Dir == capture.C2S {
		for m := range n.headers {
			if m != t.Member && n.started(m, t.Member) {
				found = append(found, n.openAt(keyOf(m, capture.C2S, t.Call), t.Start)...)
			}
		}
	}
	if len(found) != 1 { // none, or nobody can tell which
		return -1
	}
	return found[0]
}

// openAt returns the calls of a key that have not ended by then, and forgets the others.
func (n *nesting) openAt(key spanKey, at time.Time) []int {
	open, known := n.open[key]
	if !known {
		return nil
	}
	open = slices.DeleteFunc(open, func(i int) bool { return n.list[i].End.Before(at) })
	n.open[key] = open
	return slices.Clone(open)
}

// started reports whether the server of session a started the tap of session b, itself
// or by a few processes in between.
func (n *nesting) started(a, b int) bool {
	server, client := n.headers[a].Start, n.headers[b].Start.Client
	if server.ServerPID == 0 || client == nil || server.Host == "" || server.Host != client.Host {
		return false
	}
	return client.PID == server.ServerPID || slices.ContainsFunc(client.Ancestors, func(p capture.Process) bool { return p.PID == server.ServerPID })
}

func other(d capture.Dir) capture.Dir {
	if d == capture.C2S {
		return capture.S2C
	}
	return capture.C2S
}
