package checks

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// frames reads a capture into memory.
func frames(t testing.TB, path string) (all []*capture.Frame) {
	log, f := openLog(t, path), new(capture.Frame)
	for {
		if _, err := log.Next(f); err != nil {
			return all
		}
		all = append(all, f.Clone())
	}
}

// live is a judge and its reducer, stepped by hand.
type live struct {
	judge   *judge.Judge
	reducer *session.Reducer
	given   []judge.Finding
	failed  func(string) // a check panicked
}

func newLive(t testing.TB, rev mcp.Revision) *live {
	l := &live{reducer: session.New(session.Options{}), failed: func(text string) { t.Error(text) }}
	l.judge = judge.New(judge.Options{
		Registry: Registry(), Revision: rev, Found: func(_ int, f *judge.Finding) { l.given = append(l.given, *f) },
		Broken: func(_ int, check string, reason any) { l.failed(fmt.Sprintf("%s panicked: %v", check, reason)) },
	})
	return l
}

func (l *live) step(f *capture.Frame) { l.judge.Step(f, l.reducer.Apply(f, capture.Ref{Seq: f.Seq})) }

// said spells everything that is reported as it stands.
func (l *live) said() (all []string) {
	for i := range l.judge.Len() {
		report := l.judge.End(i)
		for _, rows := range append([]judge.Rows{report.Rows}, report.Also...) {
			for _, row := range rows.List {
				all = append(all, fmt.Sprintf("%d %v %s %v", i, rows.Revision, row.Clause.ID, row.Outcome))
				for _, f := range row.Findings {
					all = append(all, fmt.Sprintf("%d %s %d %s", i, row.Clause.ID, f.Seq, f.Detail))
				}
			}
		}
	}
	return all
}

// TestVisible: each finding of the corpus appears no later than it can be known.
func TestVisible(t *testing.T) {
	list := deviations(t)
	corpus(t, func(name, path string, want *expected, rev mcp.Revision) {
		l := newLive(t, rev)
		for _, f := range frames(t, path) {
			l.step(f)
		}
		for _, w := range want.Live {
			if _, deviates := list[name+" "+w.ID]; deviates || w.Visible == "end" {
				continue
			}
			visible := uint64(w.Visible.(float64))
			if !slices.ContainsFunc(l.given, func(f judge.Finding) bool { return f.Clause.ID == w.ID && f.Seq == w.Seq && f.At <= visible }) {
				t.Errorf("%s: %s at seq %d was not told by seq %d", name, w.ID, w.Seq, visible)
			}
		}
	})
}

// TestLiveIsOffline: whatever was told up to any frame stands in the report of what was
// read up to there, and in that of the whole; asking for a report changes nothing.
func TestLiveIsOffline(t *testing.T) {
	corpus(t, func(name, path string, _ *expected, rev mcp.Revision) {
		all := frames(t, path)
		prefixes(t, name, all, rev, len(all))
		prefixes(t, name+" unpinned", all, mcp.NoRevision, len(all))
	})
	logs, _ := filepath.Glob(shared(t, "real-logs") + "/*.jsonl")
	for _, path := range logs {
		prefixes(t, filepath.Base(path), frames(t, path), mcp.NoRevision, 50)
	}
}

// prefixes compares a judge that goes on with others that begin anew, at most so many
// times.
func prefixes(t *testing.T, name string, all []*capture.Frame, rev mcp.Revision, most int) {
	t.Helper()
	going := newLive(t, rev)
	every := max(1, len(all)/most)
	for n, f := range all {
		going.step(f)
		if n%every != 0 && n != len(all)-1 {
			continue
		}
		anew := newLive(t, rev)
		for _, f := range all[:n+1] {
			anew.step(f)
		}
		said := anew.said()
		if got := going.said(); !slices.Equal(got, said) {
			t.Fatalf("%s: after frame %d, %d lines live and %d offline", name, n, len(got), len(said))
		}
		for i := range going.given {
			if g := &going.given[i]; !stands(said, g) {
				t.Errorf("%s: told at seq %d and withdrawn by frame %d: %s seq %d: %s", name, g.At, n, g.Clause.ID, g.Seq, g.Detail)
			}
		}
		if len(anew.given) != len(going.given) {
			t.Errorf("%s: after frame %d, %d findings live and %d offline", name, n, len(going.given), len(anew.given))
		}
	}
}

func stands(said []string, f *judge.Finding) bool {
	for i := range 64 { // sessions
		if slices.Contains(said, fmt.Sprintf("%d %s %d %s", i, f.Clause.ID, f.Seq, f.Detail)) {
			return true
		}
	}
	return false
}
