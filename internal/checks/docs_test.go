package checks_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/view"
)

var update = flag.Bool("update", false, "write docs/checks anew")

const docs = "../../docs/checks"

// TestDocs holds docs/checks to the registry: its pages say what the values say. With
// -update it writes them.
func TestDocs(t *testing.T) {
	pages := docPages(checks.Registry())
	if *update {
		if err := os.RemoveAll(docs); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(docs, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	const remedy = "run go test ./internal/checks -run TestDocs -update"
	for name, text := range pages {
		there, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Errorf("%v: %s", err, remedy)
		} else if strings.ReplaceAll(string(there), "\r\n", "\n") != text {
			t.Errorf("docs/checks/%s is not what the registry says: %s", name, remedy)
		}
	}
	entries, _ := os.ReadDir(docs)
	for _, e := range entries {
		if pages[e.Name()] == "" {
			t.Errorf("docs/checks/%s belongs to no area: %s", e.Name(), remedy)
		}
	}
}

// TestCheckTexts holds that every check explains itself, in plain text of one line.
func TestCheckTexts(t *testing.T) {
	for _, c := range checks.Registry().Checks() {
		for _, f := range []struct {
			name, text string
			sentence   bool
		}{
			{"Title", c.Title, false}, {"Why", c.Why, true}, {"Fix", c.Fix, true}, {"Convicts", c.Convicts, false}, {"Exempts", c.Exempts, false},
		} {
			switch {
			case f.text == "" && f.name == "Exempts":
			case f.text == "":
				t.Errorf("%s: no %s", c.ID, f.name)
			case strings.ContainsAny(f.text, "\n\r\t"):
				t.Errorf("%s: %s has several lines: %q", c.ID, f.name, f.text)
			case strings.HasSuffix(f.text, ".") != f.sentence:
				t.Errorf("%s: Why and Fix are sentences, Title, Convicts and Exempts are not: %q", c.ID, f.text)
			}
		}
	}
}

// area returns the part of a check's id before the dot.
func area(c *judge.Check) string {
	name, _, _ := strings.Cut(c.ID, ".")
	return name
}

// docPages makes the pages: an index, one for each area, and the rules nobody judges.
func docPages(r *judge.Registry) map[string]string {
	const origin = "<!-- Made from internal/checks by its test TestDocs; change it there. -->\n\n"
	areas := map[string][]*judge.Check{}
	for _, c := range r.Checks() {
		areas[area(c)] = append(areas[area(c)], c)
	}
	names := make([]string, 0, len(areas))
	for area, list := range areas {
		slices.SortFunc(list, func(a, b *judge.Check) int { return cmp.Compare(a.ID, b.ID) })
		names = append(names, area)
	}
	slices.Sort(names)
	pages := map[string]string{"unjudged.md": origin + unjudgedPage(r)}
	index := new(strings.Builder)
	index.WriteString(origin + "# Checks\n\n" +
		"Each check looks at one thing and decides one or several rules of the specification. Breaking a MUST fails a session;\n" +
		"breaking a SHOULD warns. `mcpsnoop rules` shows the same as these pages, `mcpsnoop rules ID` one rule or check.\n" +
		"What a recording cannot decide stands [apart](unjudged.md). Where a rule is decided: [all rules](#all-rules).\n" + howToRead)
	for _, area := range names {
		fmt.Fprintf(index, "\n## [%s](%[1]s.md)\n\n", area)
		page := new(strings.Builder)
		fmt.Fprintf(page, "%s# Checks: %s\n\n[All checks](README.md)\n", origin, area)
		for _, c := range areas[area] {
			fmt.Fprintf(index, "- [%s](%s)%s\n", c.ID, pageOf(c), titled(": ", c))
			writeCheck(page, r, c)
		}
		pages[area+".md"] = page.String()
	}
	writeRules(index, r)
	pages["README.md"] = index.String()
	return pages
}

// howToRead is the part of the index that explains reports.
const howToRead = `
## How to read a report

` + "`mcpsnoop validate` has a word for what became of each rule in a session; `--all` lists them all." + `

| word | the rule |
|---|---|
| PASS | was kept, wherever it was seen to matter |
| FAIL | was broken, and says MUST or MUST NOT |
| WARN | was broken, and says SHOULD or SHOULD NOT |
| EXCL | is excluded: no recording can decide it |
| NOBS | was not observed: nothing happened that it is about. That is no pass |
| N/A | is not applicable: it depends on a capability that was not declared |
| UNSUP | was not judged: this build does not know the revision of the session |

` + "`seq 6` is frame 6 of the log: `mcpsnoop show SESSION 6` has all of it. Where frames are listed (`tail`, `show`, `export -T text`), ◆ stands\n" +
	"before the id of a MUST that was broken there and ◇ before that of a SHOULD; `+1` behind it: one more rule says the same.\n\n" +
	"The exchanges that `mcpsnoop watch` counts are answers, HTTP statuses that stand for one, notifications, and lines that are no\n" +
	"message. Where it sees several sessions it calls them s1, s2 in the order of their first frames; a finding without such a name\n" +
	"is of s1. In lines of frames `exchange=4` is another thing: the fourth HTTP request with its response.\n"

// writeRules lists the ids of all rules, each with a link to what decides it.
func writeRules(index *strings.Builder, r *judge.Registry) {
	const perLine = 6
	index.WriteString("\n## All rules")
	last, n, seen := "", 0, map[string]bool{}
	for _, c := range r.Clauses() {
		if seen[c.ID] { // its level differs between revisions
			continue
		}
		seen[c.ID] = true
		page := "unjudged.md"
		if len(c.Checks) > 0 {
			page = pageOf(c.Checks[0])
		}
		switch group, _, _ := strings.Cut(c.ID, "-"); {
		case group != last:
			index.WriteString("\n\n")
			last, n = group, 1
		case n%perLine == 0:
			index.WriteString(",\n")
			n++
		default:
			index.WriteString(", ")
			n++
		}
		fmt.Fprintf(index, "[%s](%s)", c.ID, page)
	}
	index.WriteString("\n")
}

// pageOf is where a check is explained.
func pageOf(c *judge.Check) string {
	return fmt.Sprintf("%s.md#%s", area(c), strings.ReplaceAll(c.ID, ".", ""))
}

func titled(before string, c *judge.Check) string {
	if c.Title == "" {
		return ""
	}
	return before + markdown(c.Title)
}

func writeCheck(page *strings.Builder, r *judge.Registry, c *judge.Check) {
	fmt.Fprintf(page, "\n## %s\n\n", c.ID)
	if c.Title != "" {
		fmt.Fprintf(page, "%s.\n\n", capital(markdown(c.Title)))
	}
	for _, f := range view.CheckFacts(c) {
		fmt.Fprintf(page, "- **%s:** %s\n", capital(f.Name), markdown(f.Text))
	}
	page.WriteString("\n| rule | level | binds | revisions | signal | says |\n|---|---|---|---|---|---|\n")
	for _, clause := range r.Clauses() {
		if slices.Contains(clause.Checks, c) {
			fmt.Fprintf(page, "| %s | %s | %s | %s | %s | %s |\n",
				link(clause), clause.Level, clause.Actor, view.Revisions(clause.In), clause.Signal, markdown(clause.Rule))
		}
	}
}

func unjudgedPage(r *judge.Registry) string {
	page := new(strings.Builder)
	page.WriteString("# Rules that no recording decides\n\n[All checks](README.md)\n\n" +
		"| rule | level | binds | revisions | says | why nobody can tell |\n|---|---|---|---|---|---|\n")
	for _, c := range r.Clauses() {
		if len(c.Checks) == 0 {
			fmt.Fprintf(page, "| %s | %s | %s | %s | %s | %s |\n",
				link(c), c.Level, c.Actor, view.Revisions(c.In), markdown(c.Rule), markdown(c.Unjudged))
		}
	}
	return page.String()
}

func link(c *judge.Clause) string { return fmt.Sprintf("[%s](%s)", c.ID, c.URL(c.Newest())) }

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// markdown keeps plain text plain.
func markdown(text string) string { return plain.Replace(text) }

var plain = strings.NewReplacer(`\`, `\\`, "_", `\_`, "*", `\*`, "`", "\\`", "|", `\|`, "<", "&lt;", "[", `\[`, "]", `\]`)
