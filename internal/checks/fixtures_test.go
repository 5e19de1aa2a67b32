package checks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// fixture is a capture in testdata/<check-id>. Its name says what is expected:
//
//	ok-NAME[@REVISION].jsonl         the check counts a subject and finds nothing
//	bad-NAME[@REVISION]#SEQS.jsonl   it convicts exactly those frames, in that order
//	skip-NAME[@REVISION].jsonl       it counts no subject
//	note-NAME[@REVISION]#SEQS.jsonl  it convicts nobody and makes notes on those frames
//
// A bad fixture has an ok twin of the same NAME, from which it differs in one line. Without
// @REVISION it holds for every revision in which a clause has the check.
type fixture struct {
	path, kind, name string
	revision         mcp.Revision
	seqs             string
}

func fixtures(t *testing.T, check string) (all []fixture) {
	paths, err := filepath.Glob(filepath.Join("testdata", check, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f := fixture{path: path}
		base := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		base, f.seqs, _ = strings.Cut(base, "#")
		base, rev, has := strings.Cut(base, "@")
		if has {
			if f.revision = mcp.ParseRevision(rev); f.revision == mcp.NoRevision {
				t.Errorf("%s: %q is no revision", path, rev)
			}
		}
		f.kind, f.name, _ = strings.Cut(base, "-")
		switch {
		case f.kind != "ok" && f.kind != "bad" && f.kind != "skip" && f.kind != "note":
			t.Errorf("%s: what does it show?", path)
		case (f.kind == "bad" || f.kind == "note") != (f.seqs != ""):
			t.Errorf("%s: which frames?", path)
		}
		all = append(all, f)
	}
	return all
}

// TestFixtures runs every check over its own captures.
func TestFixtures(t *testing.T) {
	for _, check := range Registry().Checks() {
		t.Run(check.ID, func(t *testing.T) {
			in, shown := revisionsOf(check), map[string]mcp.Revisions{}
			for _, f := range fixtures(t, check.ID) {
				for _, rev := range mcp.Known() {
					if !in.Has(rev) || f.revision != mcp.NoRevision && f.revision != rev {
						continue
					}
					shown[f.kind] |= 1 << rev
					f.run(t, check, rev)
				}
				if f.kind == "bad" {
					f.compare(t)
				}
			}
			if check.On == nil {
				t.Fatal("is not written")
			}
			if shown["ok"] != in || shown["bad"] != in {
				t.Errorf("in force in %b, has ok fixtures for %b and bad ones for %b", in, shown["ok"], shown["bad"])
			}
		})
	}
}

// run judges the capture at a revision and compares what the check found.
func (f *fixture) run(t *testing.T, check *judge.Check, rev mcp.Revision) {
	t.Helper()
	j, _ := judged(t, openLog(t, f.path), judge.Options{Revision: rev})
	subjects, seqs, notes := 0, []string{}, []string{}
	for i := range j.Len() {
		n, list := j.Tally(i, check, rev)
		subjects += n
		for _, found := range list {
			seqs = append(seqs, fmt.Sprint(found.Seq))
			if found.Detail == "" || strings.ContainsAny(found.Detail, "\n") || strings.HasSuffix(found.Detail, ".") {
				t.Errorf("%s: detail %q", f.path, found.Detail)
			}
		}
		for _, note := range j.End(i).Notes {
			if note.Check == check {
				notes = append(notes, fmt.Sprint(note.Seq))
			}
		}
	}
	got, ok := strings.Join(seqs, ","), false
	switch f.kind {
	case "ok":
		ok = subjects > 0 && got == ""
	case "bad":
		ok = got == f.seqs
	case "skip":
		ok = subjects == 0
	case "note":
		ok = got == "" && strings.Join(notes, ",") == f.seqs
	}
	if !ok {
		t.Errorf("%s at %v: %d subjects, findings at %q, notes at %q", f.path, rev, subjects, got, notes)
	}
}

// compare holds that a bad fixture differs in one line from its ok twin.
func (f *fixture) compare(t *testing.T) {
	t.Helper()
	twins, _ := filepath.Glob(filepath.Join(filepath.Dir(f.path), "ok-"+f.name+"*.jsonl"))
	for _, twin := range twins {
		if name, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(twin), "ok-"), ".jsonl"), "@"); name == f.name && oneEdit(lines(t, f.path), lines(t, twin)) {
			return
		}
	}
	t.Errorf("%s: no ok twin differs in just one line", f.path)
}

func lines(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(text, []byte("\n"))
}

// oneEdit reports whether one line changed, came or went.
func oneEdit(a, b [][]byte) bool {
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[0], b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && bytes.Equal(a[len(a)-1], b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 && len(a)+len(b) > 0
}

// TestEveryFixtureHasACheck holds that no capture lies about unused.
func TestEveryFixtureHasACheck(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/*")
	for _, dir := range dirs {
		if !slices.ContainsFunc(Registry().Checks(), func(c *judge.Check) bool { return c.ID == filepath.Base(dir) }) {
			t.Errorf("%s belongs to no check", dir)
		}
	}
}
