package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

// Verdicts is the report of validate: what became of every clause in each session.
type Verdicts struct {
	Version  string // of the program
	All      bool   // rows without findings have a line too
	Strict   bool   // warnings fail
	Sessions []Verdict
}

// Verdict is the report on one session.
type Verdict struct {
	Session string
	*judge.Report
	Files []string                            // of the log, none for stdin
	Place func(seq uint64) (file, line int32) // of a frame in them; nil or line 0 where unknown
}

// Answer is what all sessions together come to.
type Answer uint8

// The answers, the strongest first.
const (
	Broken  Answer = iota + 1 // a clause that binds was broken; with Strict any
	Unable                    // a revision is not known, or nothing at all was judged
	Allowed                   // neither
)

// Answer sums the sessions up.
func (v *Verdicts) Answer() Answer {
	judged, unable := false, false
	for i := range v.Sessions {
		s := &v.Sessions[i]
		switch verdict := s.Verdict(); {
		case verdict == judge.Failed, verdict == judge.PassedWithWarnings && v.Strict:
			return Broken
		case verdict == judge.CannotJudge:
			unable = true
		}
		judged = judged || s.Judged()
		for j := range s.Also {
			n := s.Also[j].Totals()
			if n[judge.Fail] > 0 || v.Strict && n[judge.Warned] > 0 {
				return Broken
			}
		}
	}
	if unable || !judged {
		return Unable
	}
	return Allowed
}

// markers open the lines of rows.
var markers = map[judge.Outcome]string{
	judge.Pass: "PASS", judge.Fail: "FAIL", judge.Warned: "WARN", judge.Excluded: "EXCL",
	judge.Unsupported: "UNSUP", judge.NotApplicable: "N/A", judge.NotObserved: "NOBS",
}

// Marker returns the word that opens the line of a row.
func Marker(o judge.Outcome) string { return markers[o] }

// role is the colour role of an outcome.
func role(o judge.Outcome) term.Role {
	switch o {
	case judge.Pass:
		return view.RolePassed
	case judge.Fail:
		return view.RoleFailed
	case judge.Warned:
		return term.Warn
	}
	return term.Dim
}

// WriteText renders the verdicts for readers.
func (v *Verdicts) WriteText(w io.Writer, p term.Palette) error {
	out := bufio.NewWriter(w)
	for i := range v.Sessions {
		if i > 0 {
			fmt.Fprintln(out)
		}
		v.Sessions[i].text(out, p, v.All)
	}
	return out.Flush()
}

func (s *Verdict) text(out *bufio.Writer, p term.Palette, all bool) {
	revision := cmp.Or(s.Unsupported, s.Revision.String())
	how := ""
	if s.Basis > judge.ByDeclaration {
		how = " (" + s.Basis.String() + ")"
	}
	fmt.Fprintf(out, "%s: revision %s%s\n", view.SessionID(s.Session), term.Escape(revision), how)
	writeRows(out, p, &s.Rows, all)
	for i := range s.Also {
		also := &s.Also[i]
		fmt.Fprintf(out, "also revision %s, which messages declared\n", also.Revision)
		writeRows(out, p, also, all)
	}
	for i := range s.Notes {
		n := &s.Notes[i]
		fmt.Fprintf(out, "note seq %d: %s (%s)\n", n.Seq, term.Escape(n.Detail), n.Check.ID)
	}
	verdict := s.Verdict()
	word := verdict.String()
	switch {
	case verdict == judge.Failed || verdict == judge.CannotJudge:
		word = p.Paint(view.RoleFailed, word)
	case !s.Judged(): // to a reader "pass" would say too much; JSON has four words and totals
		word = "none (nothing was judged)"
	default:
		word = p.Paint(view.RolePassed, word)
	}
	fmt.Fprintf(out, "verdict: %s\n", word)
}

// totals are the outcomes in the order in which they are named.
var totals = []judge.Outcome{judge.Pass, judge.Fail, judge.Warned, judge.Excluded, judge.Unsupported, judge.NotApplicable, judge.NotObserved}

func writeRows(out *bufio.Writer, p term.Palette, rows *judge.Rows, all bool) {
	for i := range rows.List {
		r := &rows.List[i]
		if !all && len(r.Findings) == 0 {
			continue
		}
		fmt.Fprintf(out, "%s %s (%s)\n", p.Paint(role(r.Outcome), Marker(r.Outcome)), r.Clause.ID, r.Clause.Level)
		writeFindings(out, r, rows)
	}
	n := rows.Totals()
	if n[judge.NotObserved] > 0 && !all {
		fmt.Fprintf(out, "not observed: %d of %d judged rows (--all lists them)\n", n[judge.NotObserved], len(rows.List)-n[judge.Excluded])
	}
	fmt.Fprint(out, "totals:")
	for i, o := range totals {
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, " %s %d", o, n[o])
	}
	fmt.Fprintln(out)
}

func writeFindings(out *bufio.Writer, r *judge.Row, rows *judge.Rows) {
	for j := range r.Findings {
		fmt.Fprintf(out, "  %s\n", FindingText(&r.Findings[j]))
	}
	if r.More > 0 {
		fmt.Fprintf(out, "  and %d more\n", r.More)
	}
	if len(r.Findings) > 0 {
		writeClause(out, r.Clause, r.Clause.URL(rows.Revision))
	}
}

// FindingText words a finding where its clause is named already.
func FindingText(f *judge.Finding) string {
	return fmt.Sprintf("seq %d: %s", f.Seq, term.Escape(f.Detail))
}

func writeClause(out io.Writer, c *judge.Clause, url string) {
	fmt.Fprintf(out, "    rule: %s\n    see:  %s\n", c.Rule, url)
}

// WriteFinding renders one finding with its clause, as watch tells of it. which names
// the session where there are several, else it is "".
func WriteFinding(out io.Writer, p term.Palette, f *judge.Finding, which string) {
	outcome := judge.Warned
	if f.Clause.Level.Binds() {
		outcome = judge.Fail
	}
	if which != "" {
		which = "[" + which + "] "
	}
	fmt.Fprintf(out, "mcpsnoop watch: %s %s%s (%s) %s\n", p.Paint(role(outcome), Marker(outcome)), which, f.Clause.ID, f.Clause.Level, FindingText(f))
	writeClause(out, f.Clause, f.Clause.URL(f.Revision))
}
