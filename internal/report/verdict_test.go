package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// stormy is a session that breaks something in each of the ways that reports tell apart: a MUST, a
// SHOULD twice on one frame in the same words, and text that no terminal should see.
func stormy(id, label string) *tape {
	return newTape(id, label).handshake().
		s2c(.5, "ready \x1b[2J \u009b]]><&\"'").
		c2s(1, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`).
		s2c(1.1, `{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"\u001b[31m, ","inputSchema":{"type":"object"}},{"name":"\u001b[31m, ","inputSchema":{"type":"object"}},{"name":"a,b","inputSchema":{"type":"object"}}]}}`)
}

// verdictsOf judges a log. Each session's frames stand where they stand in it.
func verdictsOf(t *testing.T, log string) *Verdicts {
	t.Helper()
	src := capture.OpenStream(capture.Options{}, "test", strings.NewReader(log))
	defer src.Close()
	r, j := session.New(session.Options{}), judge.New(judge.Options{Registry: checks.Registry()})
	lines := map[string]map[uint64]int32{}
	if err := judge.Fold(src, r, j, func(f *capture.Frame, ref capture.Ref, _ session.Step) error {
		if lines[f.Tap] == nil {
			lines[f.Tap] = map[uint64]int32{}
		}
		lines[f.Tap][ref.Seq] = ref.Line
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v := &Verdicts{Version: "1.2.3"}
	for i := range r.Len() {
		h := r.Header(i)
		v.Sessions = append(v.Sessions, Verdict{
			Session: h.ID, Report: j.End(i), Files: []string{filepath.Join("logs", "a b.jsonl")},
			Place: func(seq uint64) (int32, int32) { return 0, lines[h.Tap][seq] },
		})
	}
	return v
}

// two is a log with two stormy sessions and a clear one.
func two() string {
	return stormy("a-1-000000000001", "a").String() + newTape("c-3-000000000003", "c").handshake().String() + stormy("b-2-000000000002", "b").String()
}

func written(t *testing.T, write func(w io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// told is a finding as formats tell of it.
type told struct {
	session, rule string
	seq           uint64
	detail        string // escaped
}

// findings are those of the verdicts themselves.
func findings(v *Verdicts) (list []told) {
	for i := range v.Sessions {
		s := &v.Sessions[i]
		for _, rows := range append([]judge.Rows{s.Rows}, s.Also...) {
			for _, r := range rows.List {
				for _, f := range r.Findings {
					list = append(list, told{s.Session, r.Clause.ID, f.Seq, term.Escape(f.Detail)})
				}
			}
		}
	}
	return list
}

func TestVerdictsJSON(t *testing.T) {
	v := verdictsOf(t, two())
	text := written(t, v.WriteJSON)
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	var doc VerdictsDocument
	if err := in.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != 1 || doc.Tool != (ToolPart{"mcpsnoop", "1.2.3"}) || len(doc.Sessions) != 3 {
		t.Errorf("version %d by %v of %d sessions", doc.Version, doc.Tool, len(doc.Sessions))
	}
	var list []told
	for i, s := range doc.Sessions {
		n := map[string]int{}
		for k, r := range s.Rows {
			n[r.Outcome]++
			if want := v.Sessions[i].List[k].Clause; r.ID != want.ID || r.Level != want.Level.String() || r.Signal != want.Signal.String() || r.Rule != want.Rule {
				t.Errorf("row %d is %+v, want %s", k, r, want.ID)
			}
			if !strings.HasPrefix(r.URL, "https://modelcontextprotocol.io/specification/"+s.Revision+"/") || (r.Check == "") != (r.Outcome == "excluded") || (r.Reason != "") != (r.Outcome == "excluded") {
				t.Errorf("row %+v", r)
			}
			for _, f := range r.Findings {
				list = append(list, told{s.Session, r.ID, f.Seq, term.Escape(f.Detail)})
			}
		}
		want := TotalsPart{n["pass"], n["fail"], n["warn"], n["excluded"], n["unsupported"], n["not-applicable"], n["not-observed"]}
		if s.Totals != want {
			t.Errorf("totals %+v, want %+v", s.Totals, want)
		}
	}
	if got := []string{doc.Sessions[0].Verdict, doc.Sessions[1].Verdict, doc.Sessions[2].Verdict}; !slices.Equal(got, []string{"fail", "pass", "fail"}) {
		t.Errorf("verdicts %q", got)
	}
	if want := findings(v); len(want) < 10 || !slices.Equal(list, want) {
		t.Errorf("findings\n%v\nwant\n%v", list, want)
	}
	for name, write := range formats(v) {
		first := written(t, write)
		if again := written(t, formats(verdictsOf(t, two()))[name]); !bytes.Equal(first, again) {
			t.Errorf("%s: not the same bytes a second time", name)
		}
	}
	empty := written(t, (&Verdicts{}).WriteJSON)
	if !bytes.Contains(empty, []byte(`"sessions": []`)) {
		t.Errorf("no session is %s", empty)
	}
	for _, list := range []string{"also", "notes", "findings"} {
		if bytes.Contains(text, fmt.Appendf(nil, "%q: null", list)) {
			t.Errorf("%s is null somewhere", list)
		}
	}
}

func formats(v *Verdicts) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return v.WriteText(w, term.Palette{}) }, "json": v.WriteJSON, "junit": v.WriteJUnit,
		"sarif": func(w io.Writer) error { return v.WriteSARIF(w, "/w") },
	}
}

// TestNothingRaw: no format for people or their tools lets through what a terminal obeys.
func TestNothingRaw(t *testing.T) {
	v := verdictsOf(t, two())
	for name, write := range formats(v) {
		for _, r := range string(written(t, write)) {
			if r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 && name != "json" {
				t.Errorf("%s has %q in it", name, r)
			}
		}
	}
}

var lineOfText = regexp.MustCompile(`(?m)^(?:([^ :\n]+): revision .*|(?:FAIL|WARN) (\S+) .*|  seq (\d+): (.*))$`)

func TestVerdictsText(t *testing.T) {
	v := verdictsOf(t, two())
	var list []told
	var session, rule string
	for _, m := range lineOfText.FindAllStringSubmatch(string(written(t, formats(v)["text"])), -1) {
		switch {
		case m[1] != "":
			session = m[1]
		case m[2] != "":
			rule = m[2]
		default:
			f := told{session: session, rule: rule, detail: m[4]}
			fmt.Sscan(m[3], &f.seq)
			list = append(list, f)
		}
	}
	if want := findings(v); !slices.Equal(list, want) {
		t.Errorf("findings\n%v\nwant\n%v", list, want)
	}
}

// TestJUnit reads what is written as CI does. Counts are those of the cases.
func TestJUnit(t *testing.T) {
	type message struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type suite struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Name    string   `xml:"name,attr"`
			Class   string   `xml:"classname,attr"`
			Failure *message `xml:"failure"`
			Skipped *message `xml:"skipped"`
			Out     string   `xml:"system-out"`
		} `xml:"testcase"`
		Attrs []xml.Attr `xml:",any,attr"`
	}
	for _, strict := range []bool{false, true} {
		v := verdictsOf(t, two())
		v.Strict = strict
		var doc struct {
			XMLName xml.Name   `xml:"testsuites"`
			Attrs   []xml.Attr `xml:",any,attr"`
			Suites  []suite    `xml:"testsuite"`
		}
		if err := xml.Unmarshal(written(t, v.WriteJUnit), &doc); err != nil {
			t.Fatal(err)
		}
		number := func(attrs []xml.Attr, name string) (n int) {
			for _, a := range attrs {
				if a.Name.Local == name {
					fmt.Sscan(a.Value, &n)
				}
			}
			return n
		}
		all := map[string]int{}
		var list []told
		for i, s := range doc.Suites {
			n := map[string]int{"tests": len(s.Cases)}
			for _, c := range s.Cases {
				text, failed := c.Out, c.Failure != nil
				switch {
				case failed && c.Skipped != nil:
					t.Errorf("%s both failed and was skipped", c.Name)
				case failed:
					n["failures"]++
					text = c.Failure.Text
					if c.Failure.Type == "" || c.Failure.Message == "" {
						t.Errorf("%s failed without a word", c.Name)
					}
				case c.Skipped != nil:
					n["skipped"]++
				}
				rule, _, _ := strings.Cut(c.Name, " ")
				for _, line := range regexp.MustCompile(`(?m)^(?:warning: )?seq (\d+): (.*)$`).FindAllStringSubmatch(text, -1) {
					f := told{session: v.Sessions[i].Session, rule: rule, detail: line[2]}
					fmt.Sscan(line[1], &f.seq)
					list = append(list, f)
				}
			}
			for _, name := range []string{"tests", "failures", "errors", "skipped"} {
				if got := number(s.Attrs, name); got != n[name] {
					t.Errorf("suite %s says %d %s, there are %d", s.Name, got, name, n[name])
				}
				all[name] += n[name]
			}
			must := v.Sessions[i].Totals()
			want := must[judge.Fail]
			if strict {
				want += must[judge.Warned]
			}
			if n["failures"] != want {
				t.Errorf("%d failures, want %d", n["failures"], want)
			}
		}
		for _, name := range []string{"tests", "failures", "skipped"} {
			if got := number(doc.Attrs, name); got != all[name] {
				t.Errorf("in all %d %s, there are %d", got, name, all[name])
			}
		}
		if want := findings(v); !slices.Equal(list, want) {
			t.Errorf("findings\n%v\nwant\n%v", list, want)
		}
	}
}

// TestSARIF: what GitHub asks of results.
func TestSARIF(t *testing.T) {
	log := two()
	v := verdictsOf(t, log)
	text := written(t, formats(v)["sarif"])
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	var doc sarifLog
	if err := in.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != "2.1.0" || !strings.Contains(doc.Schema, "sarif-2.1.0") || len(doc.Runs) != 1 {
		t.Fatalf("version %q by %q with %d runs", doc.Version, doc.Schema, len(doc.Runs))
	}
	run := doc.Runs[0]
	if d := run.Tool.Driver; d.Name != "mcpsnoop" || d.Version != "1.2.3" {
		t.Errorf("tool %+v", d)
	}
	ids := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if ids[r.ID] || r.Short.Text == "" || r.Full.Text == "" || r.Help.Text == "" || !strings.HasPrefix(r.URI, "https://") {
			t.Errorf("rule %+v", r)
		}
		ids[r.ID] = true
	}
	lines := strings.Split(log, "\n")
	marks := map[string]bool{}
	message := regexp.MustCompile(`^session (\S+), frame (\d+): (.*)$`)
	var list []told
	for _, r := range run.Results {
		if r.Index < 0 || r.Index >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.Index].ID != r.Rule {
			t.Fatalf("%s is not rule %d", r.Rule, r.Index)
		}
		if r.Level != "error" && r.Level != "warning" {
			t.Errorf("level %q", r.Level)
		}
		if len(r.Fingerprints) != 1 {
			t.Errorf("fingerprints %v", r.Fingerprints)
		}
		for _, mark := range r.Fingerprints {
			if marks[mark] {
				t.Errorf("two results are %s", mark)
			}
			marks[mark] = true
		}
		m := message.FindStringSubmatch(r.Message.Text)
		if m == nil || len(r.Locations) != 1 {
			t.Fatalf("result %+v", r)
		}
		f := told{session: m[1], rule: r.Rule, detail: m[3]}
		fmt.Sscan(m[2], &f.seq)
		list = append(list, f)
		where := r.Locations[0].Physical
		if where.Artifact.URI != "logs/a%20b.jsonl" {
			t.Errorf("uri %q", where.Artifact.URI)
		}
		var frame struct {
			Session string `json:"session_id"`
			Seq     uint64
		}
		if err := json.Unmarshal([]byte(lines[where.Region.StartLine-1]), &frame); err != nil || frame.Session != f.session || frame.Seq != f.seq {
			t.Errorf("line %d has frame %+v, %v, want %+v", where.Region.StartLine, frame, err, f)
		}
	}
	if want := findings(v); !slices.Equal(list, want) {
		t.Errorf("findings\n%v\nwant\n%v", list, want)
	}
	// A finding keeps its mark when others come and go.
	alone := verdictsOf(t, stormy("b-2-000000000002", "b").String())
	var other sarifLog
	if err := json.Unmarshal(written(t, formats(alone)["sarif"]), &other); err != nil {
		t.Fatal(err)
	}
	for _, r := range other.Runs[0].Results {
		for _, mark := range r.Fingerprints {
			if !marks[mark] {
				t.Errorf("%s of %s is new", mark, r.Rule)
			}
		}
	}
}

func TestURIs(t *testing.T) {
	for _, c := range []struct{ path, dir, want string }{
		{"/w/logs/a.jsonl", "/w", "logs/a.jsonl"},
		{"logs/a b.jsonl", "/w", "logs/a%20b.jsonl"},
		{"../a.jsonl", "/w/x", "file:///w/a.jsonl"},
		{"/elsewhere/a.jsonl", "/w", "file:///elsewhere/a.jsonl"},
		{"a:b.jsonl", "/w", "./a:b.jsonl"},
	} {
		if got := uriOf(filepath.FromSlash(c.path), filepath.FromSlash(c.dir)); got != c.want && filepath.Separator == '/' {
			t.Errorf("%s below %s is %s, want %s", c.path, c.dir, got, c.want)
		}
	}
	for version, want := range map[string]bool{"1.2.3": true, "v1.2.3": true, "dev": false, "1.2": false, "1.2.3-test": false, "1.2.x": false} {
		if semantic(version) != want {
			t.Errorf("%s is semantic: %v", version, !want)
		}
	}
}

// TestAnswer: the strongest of all sessions wins.
func TestAnswer(t *testing.T) {
	row := func(o judge.Outcome) *judge.Report {
		return &judge.Report{Rows: judge.Rows{List: []judge.Row{{Outcome: o}}}}
	}
	also := func(o judge.Outcome) *judge.Report {
		r := row(judge.Pass)
		r.Also = []judge.Rows{row(o).Rows}
		return r
	}
	for _, c := range []struct {
		strict bool
		list   []*judge.Report
		want   Answer
	}{
		{false, []*judge.Report{row(judge.Pass)}, Allowed},
		{false, []*judge.Report{row(judge.Warned)}, Allowed},
		{true, []*judge.Report{row(judge.Warned)}, Broken},
		{false, []*judge.Report{row(judge.Pass), row(judge.Fail)}, Broken},
		{false, []*judge.Report{row(judge.Unsupported), row(judge.Fail)}, Broken},
		{false, []*judge.Report{row(judge.Unsupported), row(judge.Pass)}, Unable},
		{false, []*judge.Report{row(judge.NotObserved)}, Unable},
		{false, []*judge.Report{row(judge.NotObserved), row(judge.Pass)}, Allowed},
		{false, nil, Unable},
		{false, []*judge.Report{also(judge.Fail)}, Broken},
		{false, []*judge.Report{also(judge.Warned)}, Allowed},
		{true, []*judge.Report{also(judge.Warned)}, Broken},
	} {
		v := &Verdicts{Strict: c.strict}
		for _, r := range c.list {
			v.Sessions = append(v.Sessions, Verdict{Report: r})
		}
		if got := v.Answer(); got != c.want {
			t.Errorf("strict %v of %v: %d, want %d", c.strict, reflect.ValueOf(c.list), got, c.want)
		}
	}
}
