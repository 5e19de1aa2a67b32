package judge

import (
	"slices"

	"mcpsnoop/internal/mcp"
)

// Outcome is what became of a clause in a session.
type Outcome uint8

// The outcomes, the first that applies.
const (
	Excluded      Outcome = iota // a capture cannot decide it
	NotApplicable                // the capability it depends on was not declared
	NotObserved                  // nothing happened that it is about
	Pass
	Fail
	Warned // as fail, for a clause that does not bind
	Unsupported
)

var outcomeNames = [...]string{
	Excluded: "excluded", NotApplicable: "not-applicable", NotObserved: "not-observed", Pass: "pass", Fail: "fail", Warned: "warn", Unsupported: "unsupported",
}

// String returns the outcome as reports spell it.
func (o Outcome) String() string { return outcomeNames[o] }

// Row is a clause with its outcome.
type Row struct {
	Clause   *Clause
	Outcome  Outcome
	Findings []Finding
	More     int // findings that are counted and not listed
}

// Rows are the clauses of a revision, in the order of the registry.
type Rows struct {
	Revision mcp.Revision
	List     []Row
}

// Report is what was found in one session so far.
type Report struct {
	Rows               // at the revision of the session
	Basis       Basis  // what decided that
	Unsupported string // the version that client and server agreed on, if we do not know it
	Also        []Rows // of messages that declared another revision
	Notes       []Note
	Messages    int
}

// Verdict of a report.
type Verdict uint8

// The verdicts.
const (
	Passed Verdict = iota
	PassedWithWarnings
	Failed
	CannotJudge
)

var verdictNames = [...]string{"pass", "pass-with-warnings", "fail", "unsupported"}

// String returns the verdict as reports spell it.
func (v Verdict) String() string { return verdictNames[v] }

// Totals returns how many clauses came to each outcome.
func (r *Rows) Totals() (n [Unsupported + 1]int) {
	for i := range r.List {
		n[r.List[i].Outcome]++
	}
	return n
}

// Verdict returns the verdict on the session, at its revision.
func (r *Report) Verdict() Verdict {
	n := r.Totals()
	switch {
	case r.Unsupported != "" || n[Unsupported] > 0:
		return CannotJudge
	case n[Fail] > 0:
		return Failed
	case n[Warned] > 0:
		return PassedWithWarnings
	}
	return Passed
}

// Judged reports whether any clause was decided.
func (r *Report) Judged() bool {
	n := r.Totals()
	return n[Pass]+n[Fail]+n[Warned] > 0
}

// End returns the report of session i as it would be if it ended here. It changes
// nothing: more steps may follow.
func (j *Judge) End(i int) *Report {
	s := j.at(i)
	r, by, unsupported := s.decide()
	report := &Report{Basis: by, Unsupported: unsupported, Notes: slices.Clone(s.notes), Messages: s.facts.Messages}
	report.Revision = r
	if unsupported != "" {
		report.Rows, report.Also = s.unsupportedRows(), s.also(mcp.NoRevision)
		return report
	}
	end := s.ending()
	end.conclude(r)
	report.Rows = end.rows(r, r)
	report.Also = end.also(r)
	return report
}

// ending returns a copy of a session that may be ended: what checks conclude goes to
// results of its own.
func (s *conv) ending() *conv {
	end := *s
	end.off = slices.Clone(s.off)
	for rev := range end.results {
		to := &end.results[rev]
		to.subjects = slices.Clone(to.subjects)
		to.found = nil
		if n := len(s.results[rev].found); n > 0 {
			to.found = make(map[int]*conviction, n)
		}
		for check, in := range s.results[rev].found {
			to.found[check] = &conviction{slices.Clip(in.findings), in.more}
		}
	}
	return &end
}

// also returns the rows of messages that were of another revision than r, which is the
// session's.
func (s *conv) also(r mcp.Revision) (all []Rows) {
	for rev := mcp.Revision(1); rev <= mcp.Latest; rev++ {
		if rev != r && s.worthTelling(rev, r) {
			all = append(all, s.rows(rev, r))
		}
	}
	return all
}

// conclude runs what follows from absence.
func (s *conv) conclude(r mcp.Revision) {
	e := (&Event{Kind: End, From: Client, Revision: r, Facts: &s.facts}).of(s)
	s.run(s.j.options.Registry.byRev[r].of(e), e)
}

func (e *Event) of(s *conv) *Event {
	e.s = s
	return e
}

// worthTelling reports whether messages of another revision than the session's, r, were
// judged, and not just sent to see whether they are understood.
func (s *conv) worthTelling(rev, r mcp.Revision) bool {
	for _, in := range s.results[mcp.NoRevision].found {
		for _, f := range in.findings {
			for _, g := range f.given {
				if s.stray(f, g.clause, rev, r) {
					return true
				}
			}
		}
	}
	return !s.foreign(rev) && slices.ContainsFunc(s.results[rev].subjects, func(n uint32) bool { return n > 0 })
}

// stray reports whether a finding was told under a clause of another revision before that
// of the session, r, was decided, and r has no such clause: it stands among the rows of
// the other, since what was told is not taken back.
func (s *conv) stray(f *Finding, c *Clause, rev, r mcp.Revision) bool {
	return slices.Contains(f.given, given{c, rev}) &&
		!slices.ContainsFunc(s.j.options.Registry.of(f.Check, r), func(here *Clause) bool { return here.ID == c.ID })
}

// unsupportedRows are the newest clauses, none of them judged.
func (s *conv) unsupportedRows() Rows {
	rows := Rows{}
	for _, c := range s.j.options.Registry.In(mcp.Latest) {
		if !c.Own {
			rows.List = append(rows.List, Row{Clause: c, Outcome: Unsupported})
		}
	}
	return rows
}

// rows makes the rows of a revision in a session of revision r. What was judged while
// its revision was open belongs to that of the session.
func (s *conv) rows(rev, r mcp.Revision) Rows {
	in := s.j.options.Registry.In(rev)
	rows := Rows{Revision: rev, List: make([]Row, 0, len(in))}
	for _, c := range in {
		row := s.row(c, rev, r)
		if !c.Own || row.Outcome == Fail || row.Outcome == Warned {
			rows.List = append(rows.List, row)
		}
	}
	return rows
}

// row makes the row of a clause: what counts for it, and what that comes to.
func (s *conv) row(c *Clause, rev, r mcp.Revision) Row {
	row := Row{Clause: c}
	switch {
	case len(c.Checks) == 0:
		row.Outcome = Excluded
		return row
	case s.gate(c) != open:
		row.Outcome = NotApplicable
		return row
	}
	subjects := 0
	for _, check := range c.Checks {
		all := s.counted(c, check, rev, r)
		subjects += all.subjects
		row.More += all.more
		for _, f := range all.findings {
			shown := *f
			shown.Clause, shown.Revision, shown.given = c, rev, nil
			row.Findings = append(row.Findings, shown)
		}
	}
	switch {
	case len(row.Findings) > 0 && c.Level.Binds():
		row.Outcome = Fail
	case len(row.Findings) > 0:
		row.Outcome = Warned
	case subjects == 0 || s.blind(rev, c.Checks[0]) && c.Actor == Server:
		row.Outcome = NotObserved
	default:
		row.Outcome = Pass
	}
	return row
}

// counted is what counts of a check for a clause.
type counted struct {
	subjects int
	findings []*Finding
	more     int // findings that are not kept
}

// counted returns what counts for a clause of revision rev, of what a check saw in a session
// of revision r: all that it saw at rev; of what it saw while the revision was open all if rev
// is the session's, else only what was told under the clause and has no other place. Of
// a server that has not shown to know rev, what was not told does not count.
func (s *conv) counted(c *Clause, check *Check, rev, r mcp.Revision) (all counted) {
	blind := s.blind(rev, check)
	for _, from := range [2]mcp.Revision{mcp.NoRevision, rev} {
		n, in := s.seen(check, from)
		whole := from == rev || rev == r
		if whole {
			all.subjects += n
			all.more += in.more
		}
		for _, f := range in.findings {
			if !whole {
				if !s.stray(f, c, rev, r) {
					continue
				}
				all.subjects++
			}
			if blind && f.From == Server && !f.wasGiven(c) {
				// Each finding was counted as a subject: by BadAt when it was made, or just
				// above. So this never takes away more than is there.
				all.subjects--
				continue
			}
			all.findings = append(all.findings, f)
		}
	}
	return all
}

// seen returns what a check has counted and found at a revision.
func (s *conv) seen(check *Check, rev mcp.Revision) (subjects int, found conviction) {
	from := &s.results[rev]
	if from.subjects != nil {
		subjects = int(from.subjects[s.j.options.Registry.place(check.slot)])
	}
	if in := from.found[check.slot]; in != nil {
		found = *in
	}
	return subjects, found
}

// foreign reports whether nothing can be said of the server: it was asked in a revision
// that it has not shown to know.
func (s *conv) foreign(rev mcp.Revision) bool {
	return mcp.PerRequest(rev) && !s.eras.modern && s.pinned == mcp.NoRevision
}

// blind reports whether a check can say nothing of such a server: it can of what no revision
// allows.
func (s *conv) blind(rev mcp.Revision, check *Check) bool {
	return s.foreign(rev) && !s.j.options.Registry.always(check)
}

// Tally returns how many subjects a check has counted at a revision of session i, and what it
// has found, as if the session ended here. Tests of single checks ask for it.
func (j *Judge) Tally(i int, c *Check, rev mcp.Revision) (subjects int, findings []*Finding) {
	s := j.at(i).ending()
	s.conclude(rev)
	for _, r := range []mcp.Revision{mcp.NoRevision, rev} {
		n, in := s.seen(c, r)
		subjects += n
		findings = append(findings, in.findings...)
	}
	return subjects, findings
}
