// Package session turns frames into what was said: messages, calls and
// conversations. A [Reducer] is fed frame by frame, in log order, and gives
// immutable [Snapshot]s; any split of the same frames gives the same result.
//
// Each relation between messages (calls, progress, cancellation, retries, tasks,
// subscriptions) is a part with its own small state and its own file; Apply
// classifies and dispatches. State is kept per session: ids, tokens and revisions
// of two clients never mix.
//
// # Memory
//
// With Options.Keep a session takes about 150 bytes a frame. Without, it takes what
// is open, and 8 to 12 bytes for each id or token that was settled, so that a second
// answer is still known as one; with Options.Stats 8 bytes more for each answer. What
// is open at once is bounded: beyond, the oldest is let go of, Call.Let and Counts.Let say
// so, and of its fate only the counts are told.
package session

import (
	"hash/maphash"
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
)

// Options of a Reducer.
type Options struct {
	// Keep keeps every message and call for Snapshot, and implies Stats and Catalog.
	// Without it the reducer forgets what is settled.
	Keep bool
	// Stats sums up durations and sizes for Snapshot.
	Stats bool
	// Catalog follows the lists of tools, prompts and resources for Snapshot.
	Catalog bool
	// Settled, if set, is given each call once, when nothing but a duplicate answer
	// can change it any more, or at Finish; the call must not be changed, nor kept but
	// by Clone: what it points to is used again. It comes before its Step returns.
	Settled func(session int, c *Call)
	// Revised, if set, is given each message of which the outcome changes after its
	// Step: one that was OutcomeEarly. It must not be kept.
	Revised func(session int, m *Message)
	// Moved, if set, is told where a frame belongs that was given to another session by
	// guess (Step.Guess). It comes before the Step of the frame that showed it returns.
	Moved func(ref capture.Ref, from, to int)
}

// Step is what one frame did. It holds until the next Apply.
type Step struct {
	Session  int       // index of the session the frame belongs to
	Guess    bool      // the head of an HTTP request: the next frame of its exchange shows whose it is, see Options.Moved
	Messages []Message // one, or one for each element of a batch; none for the tap's own notes
	// Parsed is the payload as JSON-RPC, by the Element of Messages. It is there too where it is no
	// message at all, and nil where the payload is no JSON or was cut.
	Parsed []jsonrpc.Message
	Calls  []*Call   // Calls[i] is the call of Messages[i] as it stands now, nil if none or forgotten
	Gaps   []GapNote // what this frame, or the numbering before it, says is missing
}

// Reducer folds the frames of one log, which may hold several taps and sessions.
type Reducer struct {
	options  Options
	seed     maphash.Seed
	parser   jsonrpc.Parser
	names    names
	texts    texts
	pool     pool
	live     ring // open calls of all sessions, oldest first
	linger   ring // those of the other kind
	held     int  // bytes of answers that wait for their requests
	shared   map[string]string
	rings    []*ring // empty, to be used again
	taps     map[string]*tap
	sessions []*conversation
	last     *conversation        // of the frame before
	skipped  []*capture.LineError // before the first frame

	// What one Apply works in.
	step    Step
	event   event
	who     who               // of the frame
	x       *exchange         // of the frame, nil if unknown
	peeked  []jsonrpc.Message // of the frame, nil if it was not parsed so far
	params  params
	mended  []byte    // a frame that was cut
	settled []settled // calls that this Apply settled; their records are used again in the next
	recall  []Call    // calls of the list that the step shows
}

type settled struct {
	s *conversation
	c *call
}

// New returns an empty reducer.
func New(o Options) *Reducer {
	return &Reducer{options: o, seed: maphash.MakeSeed(), names: newNames(o.Keep), taps: map[string]*tap{}}
}

// Apply takes the next frame. ref says where it lies; the frame is not kept.
func (r *Reducer) Apply(f *capture.Frame, ref capture.Ref) Step {
	r.recycle()
	r.step.Parsed = nil
	at := Instant{Wall: f.Time, Mono: f.Mono}
	r.who, r.peeked = r.whoOf(f), nil
	s, x := r.sessionOf(f, ref, at)
	r.last, r.x = s, x
	r.step = Step{Session: s.index, Messages: r.step.Messages[:0], Calls: r.step.Calls[:0], Gaps: r.step.Gaps[:0]}
	r.step.Guess = x != nil && x.guess
	s.tap.number(f, int(ref.Line), s.noteGap)
	if !r.step.Guess {
		s.span(at)
	}
	if f.Dir == capture.Meta {
		s.own(f, int(ref.Line))
	} else {
		s.frame(f, ref, at)
	}
	if x != nil {
		s.ended(f, x, at)
	}
	r.flush()
	return r.step
}

// sessionOf returns the session that a frame belongs to, and the HTTP exchange. What
// is not HTTP has one session a tap.
func (r *Reducer) sessionOf(f *capture.Frame, ref capture.Ref, at Instant) (*conversation, *exchange) {
	if s := r.last; s != nil && s.tap.id == f.Tap && f.Transport != capture.HTTP {
		return s, nil
	}
	t := r.taps[f.Tap]
	if t == nil {
		t = &tap{id: f.Tap, label: f.Label, transport: f.Transport}
		t.parties.r = r
		r.taps[f.Tap] = t
		for _, e := range r.skipped {
			t.skip(e)
		}
		r.skipped = nil
	}
	if f.Transport == capture.HTTP {
		return t.parties.of(t, f, r.who, ref, at)
	}
	return t.parties.latest(t), nil
}

// begin begins a session of a tap.
func (r *Reducer) begin(t *tap) *conversation {
	s := r.newConversation(t)
	r.sessions, t.sessions = append(r.sessions, s), append(t.sessions, s)
	return s
}

// peek parses the message of a frame before its turn has come, nil if it holds none.
func (r *Reducer) peek(f *capture.Frame) []jsonrpc.Message {
	if r.peeked == nil && f.Flags&capture.Truncated == 0 && holdsJSON(f) {
		r.peeked = r.parser.Parse(f.Payload)
	}
	return r.peeked
}

// holdsJSON reports whether the payload of a frame is one JSON value.
func holdsJSON(f *capture.Frame) bool {
	return f.Form == capture.Raw || f.Form == capture.Unjudged && jsontree.Check(f.Payload) == nil
}

// share returns text as a string, the same one for sessions that say the same.
func (r *Reducer) share(text []byte) string {
	if s, ok := r.shared[string(text)]; ok {
		return s
	}
	if r.shared == nil || len(r.shared) >= maxShared {
		r.shared = map[string]string{}
	}
	s := string(text)
	r.shared[s] = s
	return s
}

// maxShared is how many texts are kept in mind because other sessions may say them too.
const maxShared = 64

// flush hands settled calls over.
func (r *Reducer) flush() {
	if r.options.Settled == nil {
		return
	}
	for _, done := range r.settled {
		if !done.c.given {
			done.c.given = true
			r.options.Settled(done.s.index, &done.c.Call)
		}
	}
}

// recycle takes back what the step before pointed into.
func (r *Reducer) recycle() {
	for _, done := range r.settled {
		r.pool.put(done.c)
	}
	clear(r.settled)
	r.settled = r.settled[:0]
	r.recall = r.recall[:0]
	if cap(r.step.Messages) > keepFree {
		r.step.Messages, r.step.Calls = nil, nil
	}
}

// Skip notes a log line that could not be read. It belongs to the session of the
// frame before it, or of the first frame if there is none.
func (r *Reducer) Skip(e *capture.LineError) {
	if r.last != nil {
		r.last.tap.skip(e)
		return
	}
	if len(r.skipped) < maxNotes {
		own := *e
		r.skipped = append(r.skipped, &own)
	}
}

// Finish says that no frame will follow: what is open is judged as left open.
// Calling it twice is harmless; Apply must not be called any more.
func (r *Reducer) Finish() {
	r.recycle()
	for _, s := range r.sessions {
		s.finish()
		r.flush()
		r.recycle()
	}
}

// finish ends a session.
func (s *conversation) finish() {
	for s.early.waiting() {
		s.giveUpEarly()
	}
	s.tap.finish()
	s.left()
	var rest []*call
	for _, ring := range []*ring{&s.calls.live, &s.calls.linger} {
		for c := ring.first; c != nil; c = c.links[byAge].next {
			rest = append(rest, c)
		}
	}
	slices.SortFunc(rest, func(a, b *call) int { return int(a.Index) - int(b.Index) })
	for _, c := range rest {
		s.show(c)
		s.settle(c, c.fate())
	}
}

// left says that the client has gone: what it was asked for is abandoned.
func (s *conversation) left() {
	for c := s.calls.live.first; c != nil; {
		next := c.links[byAge].next
		if c.State == StatePending && (c.Dir == capture.S2C || c.waiting.on) {
			s.setState(c, StateAbandoned)
			c.End, c.endAt = s.last, -1
			s.settle(c, fateClosed)
		}
		c = next
	}
}

// Len returns the number of sessions, in order of their first frames.
func (r *Reducer) Len() int { return len(r.sessions) }

// Header returns the header of session i as it stands.
func (r *Reducer) Header(i int) Header { return r.sessions[i].header() }

// Snapshot returns session i as it stands; later frames do not change it.
func (r *Reducer) Snapshot(i int) Snapshot {
	s := r.sessions[i]
	snap := Snapshot{
		Header: s.header(), Stats: s.stats.sums(), Catalog: s.offers.catalog(),
		Gaps: s.tap.notes[:len(s.tap.notes):len(s.tap.notes)], MoreGaps: s.tap.more,
	}
	if s.keep == nil {
		return snap
	}
	for _, ring := range []*ring{&s.calls.live, &s.calls.linger} {
		for c := ring.first; c != nil; c = c.links[byAge].next {
			s.keep.pack(c)
		}
	}
	snap.Messages, snap.Calls = s.keep.lists(s.signs)
	return snap
}
