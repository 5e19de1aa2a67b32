package judge

import (
	"fmt"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// Event is what checks are told of. It and all it points to, requests apart, hold for
// the call only.
type Event struct {
	Kind      Kind
	From      Actor // who sent it
	Seq       uint64
	At        session.Instant
	Transport capture.Transport
	Frame     *capture.Frame   // nil at End
	Msg       *jsonrpc.Message // nil for what is no JSON: heads, ends, lines that do not parse
	Method    string           // of the message, for an answer of what it answers; "" if unknown
	// Request is the message itself, if it is a request with an id to be answered by, and for an
	// answer the request it answers, nil if none of those seen.
	Request  *Req
	Post     *Post  // the HTTP exchange it belongs to; nil if unknown, and not over HTTP
	Reply    *Reply // the head of the HTTP answer that carried it; nil if unknown
	ClosedBy Actor  // of Closed: who ended it, 0 if unknown or neither
	Revision mcp.Revision
	Facts    *Facts // as they were before this event

	s       *conv
	call    *call    // being run
	counts  []uint32 // of the checks, nil for trackers
	metaSet bool
	meta    jsontree.Node
}

// Req is a request with what becomes of it. Checks may keep it.
type Req struct {
	Seq      uint64
	At       session.Instant
	From     Actor
	ID       string // exact JSON text, cut at 256 bytes
	Method   string
	Target   string // tool, prompt or resource it names; "" if none; cut at 512 bytes
	Version  string // protocolVersion of its _meta; "" if that is no string
	Versions bool   // its _meta has a protocolVersion, of whatever type
	Declares bool   // its _meta has clientCapabilities, of whatever type
	Caps     *Caps  // what the client declared with it; never nil
	Revision mcp.Revision
	Post     *Post  // that carried it, nil if unknown
	Answered uint64 // seq of the answer, 0 while there is none

	key        uint64
	prev, next *Req   // open under the same key, from the oldest on
	last       *Req   // of the oldest: the newest
	epoch      uint32 // of the open ones
	notes      []note
	few        [3]note // most requests need no more
}

// Key is [IDKey] of the request.
func (r *Req) Key() uint64 { return r.key }

type note struct {
	slot  any
	value any
}

// Slot is a place for what a check or tracker wants to know of a request when it is
// answered. The zero Slot must be a variable of its own: its address is the place.
type Slot[T any] struct{ _ byte }

// Put keeps a value with the request.
func (s *Slot[T]) Put(r *Req, value T) {
	for i := range r.notes {
		if r.notes[i].slot == any(s) {
			r.notes[i].value = value
			return
		}
	}
	if r.notes == nil {
		r.notes = r.few[:0]
	}
	r.notes = append(r.notes, note{s, value})
}

// Get returns what was kept with the request; r may be nil.
func (s *Slot[T]) Get(r *Req) (value T, ok bool) {
	if r == nil {
		return value, false
	}
	for i := range r.notes {
		if r.notes[i].slot == any(s) {
			return r.notes[i].value.(T), true
		}
	}
	return value, false
}

// Post is an HTTP request and its answer.
type Post struct {
	Seq      uint64 // of the frame that findings about its head point to
	Exchange uint64 // 0 where exchanges are not numbered
	At       session.Instant
	Verb     string            // "" if unknown
	Path     string            // "" if unknown
	Header   map[string]string // allow-listed, lower case
	// Complete says that a header of the allow-list that is not there was not sent. Old
	// recorders wrote down some headers only.
	Complete bool
	Reply    *Reply // nil until it came
	Requests []*Req // of its body, those that can be answered
	Stream   bool   // it is answered by an event stream
	Over     bool   // it has ended

	key      exchangeKey
	revision mcp.Revision // that its body declares
	body     bool         // it was seen
	one      [1]*Req      // mostly all of Requests
}

// Head returns a header of the request, and whether it was there.
func (p *Post) Head(name string) (string, bool) {
	value, ok := p.Header[name]
	return value, ok
}

// Reply is the head of an HTTP answer.
type Reply struct {
	Seq    uint64 // of the frame that carries it
	Status int
	Header map[string]string
	// Complete is as for [Post].
	Complete bool
}

// Meta returns _meta of the params or the result, an absent node if there is none.
func (e *Event) Meta() jsontree.Node {
	if !e.metaSet {
		e.metaSet = true
		if e.Msg != nil {
			if e.meta = e.Msg.Params.Get("_meta"); !e.meta.Exists() && e.Kind == Result {
				e.meta = e.Msg.Result.Get("_meta")
			}
		}
	}
	return e.meta
}

// OK counts a subject: something the clause is about, which was as it must be.
func (e *Event) OK() {
	if e.counts != nil {
		e.counts[e.s.j.options.Registry.place(e.call.slot)]++
	}
}

// Bad convicts the event, for the reason that detail gives: what was found, in one line
// without a full stop. Text of the session in it may hold anything.
func (e *Event) Bad(detail string) { e.BadAt(e.Seq, detail) }

// BadAt convicts another frame than the event's own.
func (e *Event) BadAt(seq uint64, detail string) {
	if e.counts == nil {
		return
	}
	e.OK()
	e.s.found(e, seq, detail)
}

// Badf is [Event.Bad] with a format, as of [fmt.Sprintf].
func (e *Event) Badf(format string, args ...any) { e.BadAt(e.Seq, fmt.Sprintf(format, args...)) }

// BadAtf is [Event.BadAt] with a format.
func (e *Event) BadAtf(seq uint64, format string, args ...any) {
	e.BadAt(seq, fmt.Sprintf(format, args...))
}

// Note tells of something that may well be legal; it never changes a verdict.
func (e *Event) Note(detail string) {
	if e.counts != nil {
		e.s.note(e, detail)
	}
}

// Notef is [Event.Note] with a format.
func (e *Event) Notef(format string, args ...any) { e.Note(fmt.Sprintf(format, args...)) }

// State returns the state of the check or tracker that is being run.
func State[T any](e *Event) T { return e.s.state(e.call.state, e.call.create).(T) }

// Of returns the state of a tracker, for checks to read and for the tracker itself.
func Of[T any](e *Event, t *Tracker) T { return e.s.state(t.state, t.New).(T) }

// Ordered reports whether the order of frames of both sides is the order in which they
// passed: the log was numbered before its frames went on.
func (e *Event) Ordered() bool { return !e.s.unordered }

// unorderedTime is how far apart frames of different sides must be for their order to
// count where the log was numbered otherwise.
const unorderedTime = time.Second

// Follows reports whether it is certain that this event passed after another of the
// given side at the given time.
func (e *Event) Follows(from Actor, at session.Instant) bool {
	return e.Ordered() || e.From == from && e.Transport == capture.Stdio || e.At.Sub(at) >= unorderedTime
}

// FromStart reports whether all of the session up to here is in the log: its beginning,
// and no frame is missing. Without that, what was not seen may still have been.
func (e *Event) FromStart() bool { return e.s.fromStart && !e.s.gapped() }

// Whole reports whether every message since the log began was seen and read: no frame
// is missing, cut or blacked out. What the session was before the log is another
// question, see FromStart.
func (e *Event) Whole() bool { return !e.s.gapped() && !e.s.partial }

// Pinned reports whether the user said at which revision to judge, and nothing in a
// capture of this kind says otherwise.
func (e *Event) Pinned() bool { return e.s.pinned != mcp.NoRevision }
