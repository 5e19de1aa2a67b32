package session

import (
	"slices"

	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/tracectx"
)

// MaxTraces is how many trace ids of a session are told apart. Requests that carry
// further ones are counted in Header.MoreTraced.
const MaxTraces = 64

// Trace is a trace id that requests of a session carried in params._meta.traceparent,
// and what belongs to it: those requests, the calls they are part of, and what came of
// them. A call whose retry carried another id belongs to both.
type Trace struct {
	ID          tracectx.TraceID
	Calls       int
	Requests    int
	Responses   int
	Errors      int
	First, Last Instant
}

// traces is the trace ids of a session. Calls refer to them by number, from 1.
type traces struct {
	list []Trace
	byID map[tracectx.TraceID]int
	last int // the number that was looked up last
	more int
}

// number returns the number of a trace id, 0 if there are too many.
func (t *traces) number(id tracectx.TraceID, at Instant) int {
	if t.last > 0 && t.list[t.last-1].ID == id {
		return t.last
	}
	n, known := t.byID[id]
	switch {
	case known:
	case len(t.list) >= MaxTraces:
		t.more++
		return 0
	default:
		if t.byID == nil {
			t.byID = map[tracectx.TraceID]int{}
		}
		t.list = append(t.list, Trace{ID: id, First: at, Last: at})
		n = len(t.list)
		t.byID[id] = n
	}
	t.last = n
	return n
}

// copied returns the list as it stands.
func (t *traces) copied() []Trace { return slices.Clone(t.list) }

// traced takes what the request of e, the last of c, says of its trace. A retry that
// carries none goes on with that of its call.
func (s *conversation) traced(e *event, c *call, traceparent jsontree.Node) {
	if traceparent.Exists() {
		text, _ := traceparent.StrBytes()
		if context, err := tracectx.Parse(text); err == nil {
			s.joins(c, context, e.at)
		}
	}
	if c.trace > 0 {
		s.traces.list[c.trace-1].Requests++
	}
}

// joins makes a trace the one that a call goes on in.
func (s *conversation) joins(c *call, context tracectx.Context, at Instant) {
	known := c.InTrace(context.Trace)
	c.trace = s.traces.number(context.Trace, at)
	switch {
	case c.Trace == (tracectx.TraceID{}):
		c.Trace, c.Span = context.Trace, context.Parent
	case !known:
		c.Also = append(c.Also, context.Trace)
	}
	if c.trace > 0 && !known {
		s.traces.list[c.trace-1].Calls++
	}
}

// tells stretches the trace of a call over a message that belongs to it.
func (t *traces) tells(c *call, e *event) {
	if c.trace == 0 {
		return
	}
	in := &t.list[c.trace-1]
	if e.m != nil && e.m.Kind == jsonrpc.Response && e.f.Dir == answering(c.Dir) {
		in.Responses++
	}
	if e.at.Wall.Before(in.First.Wall) { // an answer that stands before its request
		in.First = e.at
	}
	if !e.at.Wall.Before(in.Last.Wall) {
		in.Last = e.at
	}
}

// errors counts an error of a call, or takes one back.
func (t *traces) errors(c *call, n int) {
	if c.trace > 0 {
		t.list[c.trace-1].Errors += n
	}
}

// traceOf is what a keeper keeps of a call's trace: the number of its id, from 1, and
// the parent span.
func (k *keeper) traceOf(c *call) (number uint32, span tracectx.SpanID) {
	if c.Trace == (tracectx.TraceID{}) {
		return 0, span
	}
	if n := k.traces.n; c.keptTrace == 0 && n > 0 && *k.traces.at(n - 1) == c.Trace {
		c.keptTrace = uint32(n)
	}
	if c.keptTrace == 0 {
		k.traces.add(c.Trace)
		c.keptTrace = uint32(k.traces.n)
	}
	return c.keptTrace, c.Span
}

// InTrace reports whether a request of the call carried that trace id.
func (c *Call) InTrace(id tracectx.TraceID) bool {
	return id != (tracectx.TraceID{}) && (c.Trace == id || slices.Contains(c.Also, id))
}

// Traced reports whether a request of the call carried a trace id.
func (c *Call) Traced() bool { return c.Trace != (tracectx.TraceID{}) }
