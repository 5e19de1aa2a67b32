package judge

import (
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// tally is what a check has seen at one revision of a session.
type tally struct {
	subjects int
	findings []*Finding
	more     int // findings beyond maxFindings, which are only counted
}

// maxFindings is how many findings of a check are kept, a session and revision.
const maxFindings = 1000

// Finding is one conviction.
type Finding struct {
	Check    *Check
	Clause   *Clause // nil in tallies: a check may decide several
	Revision mcp.Revision
	Seq      uint64          // frame it points to
	At       uint64          // frame that made it certain; 0 at the end
	Time     session.Instant // when that passed; zero at the end
	From     Actor           // who is to blame
	Detail   string

	given []*Clause // told already
}

// Note tells of something that may well be legal.
type Note struct {
	Check  *Check
	Seq    uint64
	Detail string
}

// maxNotes is how many notes are kept of a session.
const maxNotes = 1000

// waiting is a finding that is not certain so far.
type waiting struct {
	f *Finding
	r mcp.Revision // of the event; NoRevision while that is open
}

// maxWaiting bounds them. Beyond, they appear in the report only.
const maxWaiting = 4096

func (s *conv) tally(r mcp.Revision, slot int) *tally {
	if s.results[r] == nil {
		s.results[r] = make([]tally, s.j.options.Registry.slots)
	}
	return &s.results[r][slot]
}

// found takes a conviction of the check that is being run.
func (s *conv) found(e *Event, seq uint64, detail string) {
	if len(e.result.findings) >= maxFindings {
		e.result.more++
		return
	}
	f := &Finding{Check: e.check, Revision: e.Revision, Seq: seq, At: e.Seq, Time: e.At, From: e.From, Detail: detail}
	if e.Kind == End {
		f.At = 0
		if actor := s.j.options.Registry.of(e.check, e.Revision)[0].Actor; actor != Both {
			f.From = actor
		}
	}
	e.result.findings = append(e.result.findings, f)
	if e.Kind != End && !s.give(f, e.Revision) && len(s.waiting) < maxWaiting {
		s.waiting = append(s.waiting, waiting{f, e.Revision})
	}
}

func (s *conv) note(e *Event, detail string) {
	if len(s.notes) < maxNotes && e.Kind != End {
		s.notes = append(s.notes, Note{e.check, e.Seq, detail})
	}
}

// give tells of a finding as far as it is certain, and reports whether nothing is left
// to wait for.
func (s *conv) give(f *Finding, r mcp.Revision) bool {
	reg := s.j.options.Registry
	if r == mcp.NoRevision {
		if s.trace || s.facts.Phase == BeforeInitialize || !reg.common[f.Check.slot] {
			return false
		}
		if r = s.eras.proposal; !mcp.HasHandshake(r) {
			r = newestHandshake()
		}
	} else if mcp.PerRequest(r) && !s.eras.modern && s.pinned == mcp.NoRevision && !s.trace {
		return false
	}
	done := true
	for _, c := range reg.of(f.Check, r) {
		switch s.gate(c) {
		case shut:
		case unknown:
			done = false
		case open:
			s.tellFinding(f, c, r)
		}
	}
	return done
}

func newestHandshake() mcp.Revision {
	for r := mcp.Latest; r > mcp.NoRevision; r-- {
		if mcp.HasHandshake(r) {
			return r
		}
	}
	return mcp.NoRevision
}

func (s *conv) tellFinding(f *Finding, c *Clause, r mcp.Revision) {
	for _, given := range f.given {
		if given.ID == c.ID {
			return
		}
	}
	f.given = append(f.given, c)
	if s.j.options.Found != nil {
		told := *f
		told.Clause, told.Revision, told.given = c, r, nil
		s.j.options.Found(s.index, &told)
	}
}

type gateState uint8

const (
	open gateState = iota
	shut
	unknown
)

// gate reports whether a clause applies: some do only where a capability was declared.
func (s *conv) gate(c *Clause) gateState {
	switch {
	case c.Gate == "":
		return open
	case s.facts.Result == 0:
		return unknown
	}
	caps, path := s.facts.ServerCaps, c.Gate[len("server."):]
	if c.Gate[0] == 'c' {
		caps, path = s.facts.ClientCaps, c.Gate[len("client."):]
	}
	if caps.Has(path) {
		return open
	}
	return shut
}

// settle says that the handshake decided the revision.
func (s *conv) settle() {
	if s.settled == mcp.NoRevision {
		s.settled = s.eras.handshake
	}
	s.release()
}

// release tells of findings that have become certain.
func (s *conv) release() {
	left := s.waiting[:0]
	for _, w := range s.waiting {
		r := w.r
		if r == mcp.NoRevision {
			r = s.settled
		}
		if !s.give(w.f, r) {
			left = append(left, w)
		}
	}
	clear(s.waiting[len(left):])
	s.waiting = left
}
