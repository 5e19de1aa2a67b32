package judge

import (
	"slices"
	"strings"

	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// result is what the checks have seen at one revision of a session.
type result struct {
	subjects []uint32            // of each check
	found    map[int]*conviction // by check, of those that found something
}

// conviction is what one check has found.
type conviction struct {
	findings []*Finding
	more     int // that are only counted
}

// Limits of what is kept of findings. The first of a check is kept in any case.
const (
	maxFindings = 1000    // of a check, a session and revision
	maxFound    = 1 << 16 // of a log
	maxDetail   = 1 << 10 // bytes
)

// Finding is one conviction.
type Finding struct {
	Check    *Check
	Clause   *Clause // nil until it stands under one: a check may decide several
	Revision mcp.Revision
	Seq      uint64          // frame it points to
	At       uint64          // frame that made it certain; 0 at the end
	Time     session.Instant // when that passed; zero at the end
	From     Actor           // who is to blame
	Detail   string

	given []given
}

// given is what was told already.
type given struct {
	clause *Clause
	r      mcp.Revision
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

// counts returns where subjects are counted at a revision.
func (s *conv) counts(r mcp.Revision) []uint32 {
	to := &s.results[r]
	if to.subjects == nil {
		reg := s.j.options.Registry
		to.subjects = make([]uint32, reg.slots-len(reg.trackers))
	}
	return to.subjects
}

// found takes a conviction of the check that is being run.
func (s *conv) found(e *Event, seq uint64, detail string) {
	check, to := e.call.check, &s.results[e.Revision]
	if to.found == nil {
		to.found = map[int]*conviction{}
	}
	in := to.found[check.slot]
	if in == nil {
		in = &conviction{}
		to.found[check.slot] = in
	}
	if n := len(in.findings); n >= maxFindings || n > 0 && s.j.found >= maxFound {
		in.more++
		return
	}
	f := &Finding{Check: check, Revision: e.Revision, Seq: seq, At: e.Seq, Time: e.At, From: e.From, Detail: clip(detail)}
	in.findings = append(in.findings, f)
	if e.Kind == End {
		f.At = 0
		if actor := s.j.options.Registry.of(check, e.Revision)[0].Actor; actor != Both {
			f.From = actor
		}
		return
	}
	s.j.found++
	r := e.Revision
	if r == mcp.NoRevision {
		r = s.settled // an answer keeps the open revision of its request
	}
	if !s.give(f, r) && len(s.waiting) < maxWaiting {
		s.waiting = append(s.waiting, waiting{f, e.Revision})
	}
}

// clip cuts a detail that no check should have made so long.
func clip(detail string) string {
	if len(detail) <= maxDetail {
		return detail
	}
	return strings.ToValidUTF8(detail[:maxDetail], "") + "…"
}

func (s *conv) note(e *Event, detail string) {
	if len(s.notes) < maxNotes && e.Kind != End {
		s.notes = append(s.notes, Note{e.call.check, e.Seq, clip(detail)})
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
			r = mcp.Legacy.Newest()
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

func (s *conv) tellFinding(f *Finding, c *Clause, r mcp.Revision) {
	if f.wasGiven(c) {
		return
	}
	f.given = append(f.given, given{c, r})
	if s.j.options.Found != nil {
		told := *f
		told.Clause, told.Revision, told.given = c, r, nil
		s.j.options.Found(s.index, &told)
	}
}

// wasGiven reports whether a finding was told under a clause, of whatever revision.
func (f *Finding) wasGiven(c *Clause) bool {
	return slices.ContainsFunc(f.given, func(g given) bool { return g.clause.ID == c.ID })
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

// release tells of findings that have become certain. Those of messages that declare
// nothing are of the revision that such messages have by now, until a handshake decides:
// then they are of that too.
func (s *conv) release() {
	left := s.waiting[:0]
	for _, w := range s.waiting {
		r := w.r
		if r == mcp.NoRevision {
			r = s.usual()
		}
		if !s.give(w.f, r) || w.r == mcp.NoRevision && s.settled == mcp.NoRevision {
			left = append(left, w)
		}
	}
	clear(s.waiting[len(left):])
	s.waiting = left
}
