package report

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"mcpsnoop/internal/judge"
)

// VerdictsDocument is the JSON form of [Verdicts]. Nothing in it depends on time or
// machine.
type VerdictsDocument struct {
	Version  int              `json:"version"`
	Tool     ToolPart         `json:"tool"`
	Sessions []SessionVerdict `json:"sessions"`
}

// ToolPart names the program that wrote a document.
type ToolPart struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// SessionVerdict is one session of a [VerdictsDocument].
type SessionVerdict struct {
	Session  string     `json:"session"`
	Revision string     `json:"revision"`
	Basis    string     `json:"basis"` // what decided the revision
	Verdict  string     `json:"verdict"`
	Totals   TotalsPart `json:"totals"`
	Rows     []RowPart  `json:"rows"` // in the order of the registry
	Also     []AlsoPart `json:"also"`
	Notes    []NotePart `json:"notes"`
}

// TotalsPart counts rows by outcome.
type TotalsPart struct {
	Pass          int `json:"pass"`
	Fail          int `json:"fail"`
	Warn          int `json:"warn"`
	Excluded      int `json:"excluded"`
	Unsupported   int `json:"unsupported"`
	NotApplicable int `json:"not_applicable"`
	NotObserved   int `json:"not_observed"`
}

// RowPart is a clause with what became of it.
type RowPart struct {
	ID       string        `json:"id"`
	Level    string        `json:"level"`
	Actor    string        `json:"actor"`
	Signal   string        `json:"signal"`
	Outcome  string        `json:"outcome"`
	Check    string        `json:"check"` // several are joined by commas; "" for a row that is not judged
	Rule     string        `json:"rule"`
	URL      string        `json:"url"`
	Reason   string        `json:"reason,omitempty"` // why the row is not judged
	Gate     string        `json:"gate,omitempty"`   // capability on which the row depends
	Findings []FindingPart `json:"findings"`
	More     int           `json:"more,omitempty"` // findings that are not listed
}

// FindingPart is a finding of a row.
type FindingPart struct {
	Seq    uint64 `json:"seq"` // the frame's own number in the file it came from
	Detail string `json:"detail"`
}

// AlsoPart is what messages that declared another revision came to.
type AlsoPart struct {
	Revision string     `json:"revision"`
	Totals   TotalsPart `json:"totals"`
	Rows     []RowPart  `json:"rows"`
}

// NotePart is something that may be legal and is worth knowing.
type NotePart struct {
	Check  string `json:"check"`
	Seq    uint64 `json:"seq"`
	Detail string `json:"detail"`
}

// WriteJSON renders the verdicts as a [VerdictsDocument].
func (v *Verdicts) WriteJSON(w io.Writer) error {
	doc := VerdictsDocument{Version: 1, Tool: ToolPart{"mcpsnoop", v.Version}, Sessions: []SessionVerdict{}}
	for i := range v.Sessions {
		doc.Sessions = append(doc.Sessions, v.Sessions[i].part())
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

func (s *Verdict) part() SessionVerdict {
	p := SessionVerdict{
		Session: s.Session, Revision: cmp.Or(s.Unsupported, s.Revision.String()), Basis: s.Basis.String(), Verdict: s.Verdict().String(),
		Totals: totalsOf(&s.Rows), Rows: rowsOf(&s.Rows), Also: []AlsoPart{}, Notes: []NotePart{},
	}
	for i := range s.Also {
		a := &s.Also[i]
		p.Also = append(p.Also, AlsoPart{a.Revision.String(), totalsOf(a), rowsOf(a)})
	}
	for i := range s.Notes {
		n := &s.Notes[i]
		p.Notes = append(p.Notes, NotePart{n.Check.ID, n.Seq, n.Detail})
	}
	return p
}

func totalsOf(rows *judge.Rows) TotalsPart {
	n := rows.Totals()
	return TotalsPart{
		n[judge.Pass], n[judge.Fail], n[judge.Warned], n[judge.Excluded], n[judge.Unsupported], n[judge.NotApplicable], n[judge.NotObserved],
	}
}

func rowsOf(rows *judge.Rows) []RowPart {
	list := []RowPart{}
	for i := range rows.List {
		r := &rows.List[i]
		c := r.Clause
		revision := rows.Revision
		if !c.In.Has(revision) {
			revision = c.Newest()
		}
		p := RowPart{
			ID: c.ID, Level: c.Level.String(), Actor: c.Actor.String(), Signal: c.Signal.String(), Outcome: r.Outcome.String(),
			Check: checksOf(c), Rule: c.Rule, URL: c.URL(revision), Reason: c.Unjudged, Gate: c.Gate, Findings: []FindingPart{}, More: r.More,
		}
		for j := range r.Findings {
			p.Findings = append(p.Findings, FindingPart{r.Findings[j].Seq, r.Findings[j].Detail})
		}
		list = append(list, p)
	}
	return list
}

func checksOf(c *judge.Clause) string {
	var ids []string
	for _, check := range c.Checks {
		ids = append(ids, check.ID)
	}
	return strings.Join(ids, ",")
}
