package export

import (
	"errors"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/tracectx"
	"mcpsnoop/internal/view"
)

// Log is a log that can be read again: a [capture.Log] opened for that.
type Log interface {
	Next(*capture.Frame) (capture.Ref, error)
	Rewind() error
	Fetch(capture.Ref) (*capture.Frame, error)
}

// Options of an export.
type Options struct {
	Now time.Time
	// Select picks sessions; nil takes all.
	Select func(*session.Header) bool
	// Live says which sessions are being recorded; nil: none.
	Live func(*session.Header) bool
	// Run, if set, is the run that the sessions are those of: they are written as several,
	// even if it is one.
	Run *Run
	// Trace, unless it is zero, leaves out what belongs to other traces.
	Trace tracectx.TraceID
	// Runs, if set, is given all sessions of the log, and says of which runs each is part.
	Runs func([]session.Header) map[int][]RunPart
	// Judge, if set, judges on the way: events carry its findings.
	Judge *judge.Judge
	// Temp is the directory of temporary files, "" for the system's.
	Temp string
}

func (o *Options) live(h *session.Header) bool { return o.Live != nil && o.Live(h) }

// ErrNothing says that no session is to be exported.
var ErrNothing = errors.New("nothing to export: no session in the log")

// folded is what the first pass learns.
type folded struct {
	o       Options
	log     Log
	reducer *session.Reducer
	calls   *spool
	chosen  []int       // sessions to export, in order
	is      map[int]int // place in chosen
	inOrder bool        // frames stand in the log as they are to be written
	early   map[place]session.Message
	moved   map[place]int // heads of requests that belong elsewhere than was guessed
	notes   map[callKey]note
	found   map[frameKey][]judge.Group
	scopes  scopes
	parts   map[int][]RunPart // by session
}

// frameKey is a frame of a session.
type frameKey struct {
	session int
	seq     uint64
}

// findings sorts what the judge found by frames.
func (p *folded) findings() {
	p.found = map[frameKey][]judge.Group{}
	if p.o.Judge == nil {
		return
	}
	for _, i := range p.chosen {
		list, _ := p.o.Judge.End(i).Grouped()
		for _, g := range list {
			key := frameKey{i, g.Seq}
			p.found[key] = append(p.found[key], g)
		}
	}
}

// foundAt is what was found at the frame of an event, told with the first of its events
// that is written.
func (p *folded) foundAt(e *event) []judge.Group {
	if !e.first || len(p.found) == 0 {
		return nil
	}
	return p.found[frameKey{p.chosen[e.place], e.frame.Seq}]
}

// callKey is a call of a session.
type callKey struct {
	session int
	index   int32
}

// note is what a reader of single frames must be told of a call that hung or came
// late, and on which frame: at the request, or at the answer.
type note struct {
	status   view.Status
	why      string
	atAnswer bool
}

// maxNotes bounds them; the calls themselves say the same.
const maxNotes = 10_000

func (p *folded) note(i int, c *session.Call, why *Why, live bool) {
	if why == nil || len(p.notes) >= maxNotes {
		return
	}
	n := note{why: why.First, atAnswer: c.Late}
	switch c.State {
	case session.StatePending:
		n.status = view.StatusNoAnswer
		if live {
			n.status = view.StatusPending
		}
	case session.StateAbandoned:
		n.status = view.StatusAbandoned
	case session.StateCancelled:
		switch {
		case c.Late:
		case c.Cancel != nil && c.Cancel.Closed:
			n.status = view.StatusCancel
		default:
			return // the cancellation says it
		}
	default:
		return
	}
	p.notes[callKey{i, c.Index}] = n
}

// place is a message by where its frame lies.
type place struct {
	file    int32
	offset  int64
	element int32
}

func placeOf(m *session.Message) place { return place{m.Ref.File, m.Ref.Offset, m.Element} }

// maxEarly bounds what is remembered of answers that stand before their requests, as
// some recorders write them (capture.NoMono). There are few but in a log that is all
// wrong.
const maxEarly = 10_000

// revised takes the last word on such an answer.
func (p *folded) revised(_ int, m *session.Message) {
	if len(p.early) < maxEarly {
		p.early[placeOf(m)] = *m
	}
}

// movedTo takes where the head of a request belongs.
func (p *folded) movedTo(ref capture.Ref, _, to int) {
	if len(p.moved) < maxEarly {
		p.moved[place{ref.File, ref.Offset, -1}] = to
	}
}

// sessionOf is the session of a frame.
func (p *folded) sessionOf(ref capture.Ref, st *session.Step) int {
	if st.Guess {
		if to, ok := p.moved[place{ref.File, ref.Offset, -1}]; ok {
			return to
		}
	}
	return st.Session
}

// settleEarly puts the last word on an answer that stands before its request.
func (p *folded) settleEarly(m *session.Message) {
	if m.Outcome == session.OutcomeEarly {
		if last, ok := p.early[placeOf(m)]; ok {
			*m = last
		}
	}
}

// fold reads the log once.
func fold(log Log, o Options) (*folded, error) {
	calls, err := newSpool(o.Temp)
	if err != nil {
		return nil, err
	}
	p := &folded{o: o, log: log, calls: calls, is: map[int]int{}, early: map[place]session.Message{}, moved: map[place]int{}, notes: map[callKey]note{}, scopes: scopes{trace: o.Trace}}
	if err := p.read(); err != nil {
		calls.close()
		return nil, err
	}
	return p, nil
}

func (p *folded) read() error {
	var witness view.Witness
	var failed error
	var r *session.Reducer
	r = session.New(session.Options{Stats: true, Catalog: true, Revised: p.revised, Moved: p.movedTo, Settled: func(i int, c *session.Call) {
		why, live := p.why(r, i, c, witness.Testify(i, c))
		if p.scopes.put(i, c) == ofOthers {
			return
		}
		p.note(i, c, why, live)
		if err := p.calls.put(i, c, newCall(c, why)); err != nil && failed == nil {
			failed = err
		}
	}})
	order := newSequence()
	err := judge.Fold(p.log, r, p.o.Judge, func(f *capture.Frame, _ capture.Ref, st session.Step) error {
		witness.See(f, st)
		order.next(f)
		return failed
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	p.reducer, p.inOrder = r, order.ordered
	for i := range r.Len() {
		h := r.Header(i)
		if p.o.Select == nil || p.o.Select(&h) {
			p.is[i] = len(p.chosen)
			p.chosen = append(p.chosen, i)
		}
	}
	if len(p.chosen) == 0 {
		return ErrNothing
	}
	p.findings()
	if o := &p.o; o.Runs != nil {
		all := make([]session.Header, r.Len())
		for i := range all {
			all[i] = r.Header(i)
		}
		p.parts = o.Runs(all)
	}
	return p.calls.flush()
}

func (p *folded) why(r *session.Reducer, i int, c *session.Call, e view.Evidence) (why *Why, live bool) {
	scene := view.Scene{}
	if c.State == session.StatePending {
		h := r.Header(i)
		scene = view.Scene{Header: &h, Upto: h.Last, Live: p.o.live(&h)}
	}
	w, ok := view.WhyOf(c, scene, e)
	if !ok || c.Unknown() {
		return nil, false
	}
	return &Why{w.First, w.Bullets, w.Try}, scene.Live
}

// release lets go of what only the first part of an output needs.
func (p *folded) release() {
	p.close()
	p.reducer, p.calls = nil, nil
}

func (p *folded) close() {
	if p.calls != nil {
		p.calls.close()
	}
}
