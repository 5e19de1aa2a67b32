package report

import (
	"fmt"
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/gate"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

// Bounds of what a check remembers in detail; counts go on beyond them.
const (
	keepPerSignal = 100   // in one session
	keepInAll     = 5_000 // in one check
)

// Options of a check.
type Options struct {
	FailOn gate.Set // signals that fail the check
	All    bool     // show findings of the other signals too
	// Select picks sessions; nil takes all.
	Select func(*session.Header) bool
	// Judge has seen the same frames; its findings are those of the signals of clauses. It must be
	// told that no frame follows before Report is called.
	Judge *judge.Judge
}

// Collector gathers findings while a log is folded and forgotten. Its Settled and Revised belong
// into [session.Options], Step is called with each frame after it was applied, Report
// at the end.
type Collector struct {
	o        Options
	witness  view.Witness
	sessions []*kept // by index of the session, nil where nothing was found
	left     int     // of keepInAll
	pieces   view.Pieces
	early    map[place]bool // errors that may answer a request still to come
}

// kept is what is remembered of one session.
type kept struct {
	left     *int
	findings []Finding
	pending  []waiting
	listed   [16]int // by signal
	more     [16]int
	bad      map[uint64]bool // frames that are no message, as many as a judge keeps findings
}

// maxBad bounds kept.bad.
const maxBad = 1000

// waiting is a call that was never answered; its sentence needs the end of the
// session.
type waiting struct {
	finding  int // in kept.findings, without a sentence so far
	call     session.Call
	evidence view.Evidence
}

// NewCollector returns a collector for one fold of one log.
func NewCollector(o Options) *Collector {
	return &Collector{o: o, left: keepInAll, early: map[place]bool{}}
}

func (c *Collector) session(i int) *kept {
	for len(c.sessions) <= i {
		c.sessions = append(c.sessions, nil)
	}
	if c.sessions[i] == nil {
		c.sessions[i] = &kept{left: &c.left}
	}
	return c.sessions[i]
}

// add remembers a finding of that signal, if there is room for it; else it is counted,
// and nobody takes the trouble to say what it is.
func (k *kept) add(s gate.Signal, say func() Finding) {
	if k.listed[s] >= keepPerSignal || *k.left <= 0 {
		k.more[s]++
		return
	}
	k.listed[s]++
	*k.left--
	f := say()
	f.Signal = s
	k.findings = append(k.findings, f)
}

// Step notes what a frame did, as far as it concerns no call: those are judged when
// they are settled.
func (c *Collector) Step(f *capture.Frame, st session.Step) {
	c.witness.See(f, st)
	c.pieces.Look(f)
	for i := range st.Messages {
		switch m := &st.Messages[i]; {
		case m.Outcome == session.OutcomeBad:
			c.add(st.Session, gate.Invalid, m, func() string { return view.NotMCP(f) })
			c.session(st.Session).noteBad(m.Ref.Seq)
		case m.Call >= 0:
		case m.Kind == jsonrpc.Response && letGo[m.Outcome]:
			c.letGo(st.Session, m)
		case m.Outcome == session.OutcomeError:
			c.add(st.Session, gate.Error, m, func() string { return c.witness.HTTPFailure(f) })
		case m.Outcome == session.OutcomeUnmatched && c.carriesError(m):
			c.unmatched(st.Session, m)
		case m.Outcome == session.OutcomeEarly && len(c.early) < keepInAll && c.carriesError(m):
			c.early[place{m.Ref, m.Element}] = true
		case m.Defects.Has(jsonrpc.RestOfBatch):
			c.add(st.Session, gate.Incomplete, m, view.RestOfBatch)
		}
	}
}

func (k *kept) noteBad(seq uint64) {
	if k.bad == nil {
		k.bad = map[uint64]bool{}
	}
	if len(k.bad) < maxBad {
		k.bad[seq] = true
	}
}

// judged adds what the judge found to a session.
func (k *kept) judged(s *Session, r *judge.Report, failOn gate.Set, last session.Instant) {
	list, more := gate.Findings(r, k.bad)
	s.Signals.Count(list, k.bad)
	s.Signals.Add(more)
	for signal, n := range more {
		k.more[signal] += n
	}
	for i := range list {
		f := &list[i]
		if f.Signal == gate.Invalid && k.named(f) {
			continue
		}
		signal := f.Signal
		if signal == gate.Mismatch && !failOn.Has(signal) && failOn.Has(gate.Warn) {
			signal = gate.Warn // it gates as one
		}
		at := f.Time
		if f.At == 0 {
			at = last
		}
		k.add(signal, func() Finding {
			return Finding{Seq: f.Seq, At: at, Rule: f.Clause.ID, Text: term.Escape(f.Detail)}
		})
	}
}

// named gives a finding at a frame that is no message the rule that it broke, and
// reports whether there is one.
func (k *kept) named(f *gate.Found) bool {
	for i := range k.findings {
		if g := &k.findings[i]; g.Signal == gate.Invalid && g.Seq == f.Seq {
			if g.Rule == "" {
				g.Rule = f.Clause.ID
			}
			return true
		}
	}
	return k.bad[f.Seq]
}

// letGo are the outcomes of answers to calls that are let go of, as far as they are findings.
var letGo = map[session.Outcome]bool{session.OutcomeError: true, session.OutcomeToolError: true, session.OutcomeLate: true}

// letGo notes the answer to a call that was let go of.
func (c *Collector) letGo(i int, m *session.Message) {
	node := c.pieces.At(m.Element)
	isError, _ := node.Path("result", "isError").Bool()
	if m.Outcome == session.OutcomeLate {
		c.add(i, gate.LateResult, m, func() string { return view.LetGo(m, node) })
	}
	if isError || c.carriesError(m) {
		c.add(i, gate.Error, m, func() string { return view.LetGo(m, node) })
	}
}

// place is a message by where it lies.
type place struct {
	ref     capture.Ref
	element int32
}

// Revised takes the last word on an answer that stood before its request, or has none.
func (c *Collector) Revised(i int, m *session.Message) {
	at := place{m.Ref, m.Element}
	if c.early[at] && m.Outcome == session.OutcomeUnmatched && m.Call < 0 {
		c.unmatched(i, m)
	}
	delete(c.early, at)
}

func (c *Collector) unmatched(i int, m *session.Message) {
	c.add(i, gate.Error, m, func() string { return view.Unmatched(m) })
}

// add remembers a finding at a message.
func (c *Collector) add(i int, s gate.Signal, m *session.Message, text func() string) {
	c.session(i).add(s, func() Finding { return Finding{Seq: m.Ref.Seq, At: m.At, Text: text()} })
}

// carriesError reports whether a message of the frame last looked at is an error.
func (c *Collector) carriesError(m *session.Message) bool {
	if m.Kind != jsonrpc.Response {
		return false
	}
	e := c.pieces.At(m.Element).Get("error")
	return e.Exists() && e.Kind() != jsontree.Null
}

// Settled takes a call that nothing can change any more.
func (c *Collector) Settled(i int, call *session.Call) {
	e := c.witness.Testify(i, call)
	if call.Errored {
		c.session(i).add(gate.Error, func() Finding { return failure(call) })
	}
	switch {
	case call.Late:
		c.session(i).add(gate.LateResult, func() Finding {
			why, _ := view.WhyOf(call, view.Scene{}, e)
			return Finding{Seq: call.Response.Seq, At: call.End, Text: view.Call(call) + ": " + why.First}
		})
	case call.State == session.StatePending && call.Dir == capture.C2S && !call.Unknown():
		k := c.session(i)
		k.add(gate.Pending, func() Finding {
			k.pending = append(k.pending, waiting{len(k.findings), cloneCall(call), e})
			return Finding{Seq: call.Request.Seq, At: call.Start}
		})
	}
}

func failure(call *session.Call) Finding {
	f := Finding{Seq: call.Response.Seq, At: call.End, Text: view.Call(call) + ": " + view.Failure(call)}
	if f.Seq == 0 {
		f.Seq = call.Request.Seq
	}
	return f
}

// cloneCall copies a call, whose memory is used again, as far as its sentence needs it.
func cloneCall(c *session.Call) session.Call {
	out := *c
	if p := c.Progress; p != nil {
		progress := *p
		out.Progress = &progress
	}
	out.Legs = slices.Clone(c.Legs)
	out.Cancel, out.Task, out.Stream = nil, nil, nil
	return out
}

// Report gives what was found, once the reducer has been told that no frame follows.
func (c *Collector) Report(r *session.Reducer) *Check {
	check := &Check{FailOn: c.o.FailOn, All: c.o.All}
	for i := range r.Len() {
		snapshot := r.Snapshot(i)
		h := &snapshot.Header
		if c.o.Select != nil && !c.o.Select(h) {
			continue
		}
		k := c.session(i)
		k.collectGaps(snapshot.Gaps)
		k.more[gate.Incomplete] += snapshot.MoreGaps
		for j := range k.pending {
			w := &k.pending[j]
			k.findings[w.finding].Text = w.text(h)
		}
		s := Session{ID: h.ID, Frames: h.Counts.Frames, Signals: gate.CountsOf(&h.Counts), Missing: h.Counts.Missing}
		if c.o.Judge != nil {
			k.judged(&s, c.o.Judge.End(i), c.o.FailOn, h.Last)
		}
		s.Findings = k.findings
		// What was counted and not seen here, as what became of a call that had been let
		// go of, is at least not kept quiet.
		for _, signal := range []gate.Signal{gate.Error, gate.Pending, gate.LateResult} {
			k.more[signal] = max(k.more[signal], s.Signals[signal]-k.listed[signal])
		}
		for signal, n := range k.more {
			if n > 0 {
				s.More = append(s.More, More{gate.Signal(signal), n})
			}
		}
		order(s.Findings, c.o.FailOn)
		check.Sessions = append(check.Sessions, s)
	}
	return check
}

// text says how long the call was open, and why.
func (w *waiting) text(h *session.Header) string {
	why, _ := view.WhyOf(&w.call, view.SceneOf(h), w.evidence)
	return fmt.Sprintf("%s: open %s to the last frame; %s", view.Call(&w.call), view.Duration(h.Last.Sub(w.call.Start)), why.First)
}
