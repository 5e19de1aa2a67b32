package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/view"
)

func (a *app) rulesCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "rules [ID|CHECK]",
		Short: "List the rules that sessions are judged by, or explain one",
		Long: `rules lists what the revisions of the specification demand and whether a recording can
decide it. With the id of a rule or check it says why that matters, what to do about a
finding, what convicts, and what is exempt. With a beginning of such ids, as tools or
TRAN-1, it lists those rules.`,
		Args: maxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.rules(first(args), asJSON) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return ruleNames(checks.Registry()), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) rules(name string, asJSON bool) error {
	registry := checks.Registry()
	list, check := registry.Clauses(), (*judge.Check)(nil)
	listed := name == ""
	if !listed {
		if list, check = find(registry, name); len(list) == 0 {
			list, listed = beginning(registry, name), true
		}
		if len(list) == 0 {
			return usagef(fmt.Sprintf("did you mean %q? rules without an argument lists all", nearest(name, ruleNames(registry))),
				"no rule or check %q", name)
		}
	}
	switch {
	case asJSON:
		return writeRules(a.jsonOut(), list)
	case listed:
		return a.print(view.Rules(list))
	}
	return a.writeOutput("", nil, func(w io.Writer) error { return explain(w, list, check) })
}

// find returns the clauses that have the name as their id, or those of the check that has.
func find(r *judge.Registry, name string) (list []*judge.Clause, check *judge.Check) {
	for _, c := range r.Checks() {
		if strings.EqualFold(c.ID, name) {
			check = c
		}
	}
	for _, c := range r.Clauses() {
		if strings.EqualFold(c.ID, name) || check != nil && slices.Contains(c.Checks, check) {
			list = append(list, c)
		}
	}
	return list, check
}

// beginning returns the clauses whose ids, or whose checks' ids, begin so.
func beginning(r *judge.Registry, name string) (list []*judge.Clause) {
	begins := func(id string) bool {
		return len(id) >= len(name) && strings.EqualFold(id[:len(name)], name)
	}
	for _, c := range r.Clauses() {
		if begins(c.ID) || slices.ContainsFunc(c.Checks, func(by *judge.Check) bool { return begins(by.ID) }) {
			list = append(list, c)
		}
	}
	return list
}

// ruleNames are the ids by which rules can be asked for.
func ruleNames(r *judge.Registry) (names []string) {
	for _, c := range r.Clauses() {
		if !slices.Contains(names, c.ID) {
			names = append(names, c.ID)
		}
	}
	for _, c := range r.Checks() {
		names = append(names, c.ID)
	}
	return names
}

// explain writes all about a check and its clauses, or about clauses and their checks.
func explain(w io.Writer, list []*judge.Clause, check *judge.Check) error {
	if check != nil {
		explainCheck(w, check)
	}
	for i, c := range list {
		if i > 0 || check != nil {
			io.WriteString(w, "\n")
		}
		fmt.Fprintf(w, "%s: %s\n", c.ID, c.Rule)
		writeFacts(w, view.RuleFacts(c))
	}
	if check != nil {
		return nil
	}
	for _, by := range checksOf(list) {
		io.WriteString(w, "\n")
		explainCheck(w, by)
	}
	return nil
}

// checksOf returns the checks that decide clauses, each once.
func checksOf(list []*judge.Clause) (by []*judge.Check) {
	for _, c := range list {
		for _, check := range c.Checks {
			if !slices.Contains(by, check) {
				by = append(by, check)
			}
		}
	}
	return by
}

func explainCheck(w io.Writer, c *judge.Check) {
	fmt.Fprintf(w, "check %s", c.ID)
	if c.Title != "" {
		fmt.Fprintf(w, ": %s", c.Title)
	}
	io.WriteString(w, "\n")
	writeFacts(w, view.CheckFacts(c))
}

func writeFacts(w io.Writer, list []view.Fact) {
	for _, f := range list {
		fmt.Fprintf(w, "  %-12s %s\n", f.Name+":", f.Text)
	}
}

// rulesJSON is "rules --json".
type rulesJSON struct {
	Version int         `json:"version"`
	Rules   []ruleJSON  `json:"rules"`
	Checks  []checkJSON `json:"checks"` // that decide them, each once
}

// checkJSON is a check with all that it says of itself.
type checkJSON struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Why      string `json:"why"`      // it matters
	Fix      string `json:"fix"`      // what to do about a finding
	Evidence string `json:"evidence"` // what convicts
	Exempt   string `json:"exempt,omitempty"`
}

// ruleJSON is one rule. An id stands more than once where its level differs between
// revisions.
type ruleJSON struct {
	ID        string   `json:"id"`
	Check     string   `json:"check"` // several are joined by commas, "" for none
	Level     string   `json:"level"`
	Actor     string   `json:"actor"`
	Revisions []string `json:"revisions"` // oldest first
	Signal    string   `json:"signal"`
	Section   string   `json:"section"` // page and heading
	URL       string   `json:"url"`     // of the section, in the newest of the revisions
	Rule      string   `json:"rule"`
	Judged    bool     `json:"judged"`
	Gate      string   `json:"gate,omitempty"`   // the capability it depends on
	Reason    string   `json:"reason,omitempty"` // why it is not judged
}

func writeRules(w io.Writer, list []*judge.Clause) error {
	doc := rulesJSON{Version: 1, Rules: []ruleJSON{}, Checks: []checkJSON{}}
	for _, c := range list {
		r := ruleJSON{
			ID: c.ID, Check: view.CheckIDs(c.Checks), Level: c.Level.String(), Actor: c.Actor.String(), Signal: c.Signal.String(),
			Section: c.Section, URL: c.URL(c.Newest()), Rule: c.Rule, Judged: len(c.Checks) > 0, Gate: c.Gate, Reason: c.Unjudged,
		}
		for _, revision := range mcp.Known() {
			if c.In.Has(revision) {
				r.Revisions = append(r.Revisions, revision.String())
			}
		}
		doc.Rules = append(doc.Rules, r)
	}
	for _, c := range checksOf(list) {
		doc.Checks = append(doc.Checks, checkJSON{c.ID, c.Title, c.Why, c.Fix, c.Convicts, c.Exempts})
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(&doc)
}

// nearest returns the name that takes the fewest edits to get to, letters alike in any
// case; the first of several.
func nearest(word string, names []string) (best string) {
	least := -1
	for _, name := range names {
		if n := edits(strings.ToLower(word), strings.ToLower(name)); least < 0 || n < least {
			best, least = name, n
		}
	}
	return best
}

// edits counts the bytes to insert, delete or replace to make a from b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
