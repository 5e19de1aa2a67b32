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
// is open at once is bounded: beyond, the oldest is let go of, Counts.Let says so,
// and of its fate only the counts are told.
package session

import (
	"hash/maphash"
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
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
}

// Step is what one frame did. It holds until the next Apply.
type Step struct {
	Session  int       // index of the session the frame belongs to
	Messages []Message // one, or one for each element of a batch; none for the tap's own notes
	Calls    []*Call   // Calls[i] is the call of Messages[i] as it stands now, nil if none or forgotten
	Gaps     []GapNote // what this frame, or the numbering before it, says is missing
}

// Reducer folds the frames of one log, which may hold several taps and sessions.
type Reducer struct {
	options  Options
	seed     maphash.Seed
	parser   jsonrpc.Parser
	names    names
	texts    texts
	pool     pool
	rings    []*ring // empty, to be used again
	taps     map[string]*tap
	sessions []*conversation
	last     *conversation        // of the frame before
	skipped  []*capture.LineError // before the first frame

	// What one Apply works in.
	step    Step
	event   event
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
	s := r.sessionOf(f)
	r.step = Step{Session: s.index, Messages: r.step.Messages[:0], Calls: r.step.Calls[:0], Gaps: r.step.Gaps[:0]}
	at := Instant{Wall: f.Time, Mono: f.Mono}
	s.tap.number(f, int(ref.Line), s.noteGap)
	s.span(at)
	if f.Dir == capture.Meta {
		s.own(f, int(ref.Line))
	} else {
		s.frame(f, ref, at)
	}
	r.flush()
	return r.step
}

// sessionOf returns the session that a frame belongs to. For now a tap holds one.
func (r *Reducer) sessionOf(f *capture.Frame) *conversation {
	if s := r.last; s != nil && s.tap.id == f.Tap {
		return s
	}
	t := r.taps[f.Tap]
	if t == nil {
		t = &tap{id: f.Tap, label: f.Label, transport: f.Transport, session: len(r.sessions)}
		r.taps[f.Tap] = t
		r.sessions = append(r.sessions, r.newConversation(t))
		for _, e := range r.skipped {
			t.skip(e)
		}
		r.skipped = nil
	}
	r.last = r.sessions[t.session]
	return r.last
}

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
