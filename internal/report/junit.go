package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/term"
)

// The elements of JUnit's XML, as CI systems read it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     int         `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    int           `xml:"time,attr"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Skipped *junitMessage `xml:"skipped,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit renders the verdicts as JUnit XML: a suite a session and revision, a case
// a clause. Clauses that were not judged are skipped; a warning is a failure only if
// it is to fail.
func (v *Verdicts) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "mcpsnoop validate"}
	for i := range v.Sessions {
		s := &v.Sessions[i]
		all.add(v.suite(s.Session, &s.Rows))
		for j := range s.Also {
			all.add(v.suite(s.Session, &s.Also[j]))
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (a *junitSuites) add(s junitSuite) {
	a.Suites = append(a.Suites, s)
	a.Tests, a.Failures, a.Skipped = a.Tests+s.Tests, a.Failures+s.Failures, a.Skipped+s.Skipped
}

func (v *Verdicts) suite(session string, rows *judge.Rows) junitSuite {
	name := session + " " + cmp.Or(rows.Revision.String(), "unsupported revision")
	suite := junitSuite{Name: term.Escape(name), Tests: len(rows.List)}
	for i := range rows.List {
		c := v.junitCase(&rows.List[i], rows)
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Skipped != nil:
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

func (v *Verdicts) junitCase(r *judge.Row, rows *judge.Rows) junitCase {
	c := junitCase{Name: r.Clause.ID + " " + r.Clause.Rule, Class: "mcpsnoop.validate." + cmp.Or(checksOf(r.Clause), "unjudged")}
	if len(r.Findings) > 0 {
		var text strings.Builder
		for i := range r.Findings {
			fmt.Fprintln(&text, FindingText(&r.Findings[i]))
		}
		writeClause(&text, r.Clause, r.Clause.URL(rows.Revision))
		if r.Outcome == judge.Warned && !v.Strict {
			c.Out = "warning: " + text.String()
			return c
		}
		c.Failure = &junitMessage{fmt.Sprintf("%s: %d finding(s)", r.Clause.Level, len(r.Findings)+r.More), r.Clause.Signal.String(), text.String()}
		return c
	}
	switch r.Outcome {
	case judge.Pass:
	case judge.Excluded:
		c.Skipped = &junitMessage{Message: r.Outcome.String() + ": " + r.Clause.Unjudged}
	case judge.NotApplicable:
		c.Skipped = &junitMessage{Message: r.Outcome.String() + ": " + r.Clause.Gate + " was not declared"}
	default:
		c.Skipped = &junitMessage{Message: r.Outcome.String()}
	}
	return c
}
