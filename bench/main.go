// Command bench judges the budgets of the design: what recording costs the traffic,
// what reading costs the reader. It is run by `make bench`, never by go test: on a
// shared machine only ratios of neighbouring runs mean anything, and only many of
// them.
//
// Every figure is measured in rounds. Where ours is compared with something else the
// two alternate and neighbours are compared with each other. A row shows the median
// and its 95 % interval; a budget counts as missed only when the whole interval lies
// beyond it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// env is what the measurements share.
type env struct {
	binary   string // mcpsnoop
	tapbench string
	floor    string // tapbench in a file of its own, see docs/decisions/http.md
	rounds   int
	dir      string // for throw-away files
}

// groups measure the rows, in the order of the design's table.
var groups = []struct {
	name    string
	measure func(*env) ([]row, error)
}{
	{"tap", tapRows("stdio")},
	{"watch", tapRows("watch")},
	{"lost", lostRows},
	{"json", tapRows("json")},
	{"sse", tapRows("sse")},
	{"streams", streamRows},
	{"fold", foldRows},
	{"judge", judgeRows},
	{"check", checkRows},
	{"memory", memoryRows},
	{"index", indexRows},
	{"idle", idleRows},
}

const usage = `bench judges the budgets of the design (see docs/performance.md).

  make bench                               all rows, some twenty minutes
  make bench BENCHFLAGS='-only fold'       some of them: tap watch lost json sse streams fold judge check memory idle
  make bench BENCHFLAGS=-write             also record the table in docs/performance.md
`

func main() {
	var e env
	flag.StringVar(&e.binary, "mcpsnoop", "./mcpsnoop", "the binary to measure")
	flag.StringVar(&e.tapbench, "tapbench", "bin/tapbench", "the load generator")
	flag.StringVar(&e.floor, "floor", "bin/tapbench-floor", "the same, built another way: what the floors are run from")
	flag.IntVar(&e.rounds, "rounds", 15, "rounds of each measurement")
	only := flag.String("only", ".", "measure the groups that match this regular expression")
	write := flag.Bool("write", false, "record the table in docs/performance.md")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage); flag.PrintDefaults() }
	flag.Parse()
	missed, err := run(&e, *only, *write)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	case missed > 0:
		fmt.Fprintf(os.Stderr, "bench: %d of the budgets missed\n", missed)
		os.Exit(1)
	}
}

func run(e *env, only string, write bool) (missed int, err error) {
	re, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	if write && e.rounds < 15 {
		return 0, fmt.Errorf("-write records measurements of at least 15 rounds only")
	}
	for _, path := range []*string{&e.binary, &e.tapbench, &e.floor} {
		if *path, err = filepath.Abs(*path); err != nil {
			return 0, err
		}
		if _, err := os.Stat(*path); err != nil {
			return 0, err
		}
	}
	if e.dir, err = os.MkdirTemp("", "mcpsnoop-bench-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(e.dir)

	var rows []row
	for _, g := range groups {
		if !re.MatchString(g.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", g.name)
		more, err := g.measure(e)
		if err != nil {
			return 0, fmt.Errorf("measure %s: %w", g.name, err)
		}
		rows = append(rows, more...)
	}
	if len(rows) == 0 {
		return 0, fmt.Errorf("nothing matches -only %s", only)
	}
	for _, r := range rows {
		if r.verdict() == missedBudget {
			missed++
		}
	}
	printTable(os.Stdout, rows)
	if write {
		return missed, record("docs/performance.md", e, flagsOf(only), rows)
	}
	return missed, nil
}

// printTable writes the rows as a Markdown table, which reads well anywhere.
func printTable(w io.Writer, rows []row) {
	cells := [][]string{{"what", "budget", "median", "95 % interval", "rounds", "verdict"}}
	for _, r := range rows {
		low, high := interval(r.values)
		cells = append(cells, []string{
			r.what, r.limit(), r.figure(median(r.values)), r.figure(low) + " – " + r.figure(high),
			fmt.Sprint(len(r.values)), r.verdict(),
		})
	}
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, c := range line {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	for n, line := range cells {
		for i, c := range line {
			fmt.Fprintf(w, "| %s%s ", c, strings.Repeat(" ", widths[i]-len([]rune(c))))
		}
		fmt.Fprintln(w, "|")
		if n == 0 {
			for _, width := range widths {
				fmt.Fprintf(w, "|%s", strings.Repeat("-", width+2))
			}
			fmt.Fprintln(w, "|")
		}
	}
	for _, r := range rows {
		if r.note != "" {
			fmt.Fprintf(w, "\n%s.\n", r.note)
		}
	}
}

const preface = `# Performance

What recording costs the traffic and what reading costs the reader, judged against the budgets of the design. Figures are
ratios or differences of neighbouring runs wherever that is possible; the floor is tapbench's bare relay, a proxy that copies
bytes and observes nothing, run from a file of its own (docs/decisions/http.md says why). A budget is missed only when the whole interval lies beyond it; "unclear" means that the
interval contains it.

Printed by

    make bench BENCHFLAGS=%s

on %s.

`

// flagsOf names the flags that record the groups that match only.
func flagsOf(only string) string {
	if only == "." {
		return "-write"
	}
	return fmt.Sprintf(`"-write -only '%s'"`, only)
}

// record writes the table where people look for it.
func record(path string, e *env, flags string, rows []row) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(f, preface, flags, machine(e))
	printTable(f, rows)
	return f.Close()
}

// machine says what the figures were measured on.
func machine(e *env) string {
	model := "an unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`).FindSubmatch(info); m != nil {
			model = string(m[1])
		}
	}
	version, _ := exec.Command(e.binary, "version").Output()
	return fmt.Sprintf("%s/%s, %d cores of %s, %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), model,
		runtime.Version(), strings.TrimSpace(string(version)))
}
