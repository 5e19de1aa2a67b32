package main

import (
	"iter"
	"testing"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
)

// TestTraffic: what the budgets are measured with breaks no rule and decides many.
func TestTraffic(t *testing.T) {
	for _, kind := range kindsOfTraffic(200) {
		t.Run(kind.String(), func(t *testing.T) {
			r, j := session.New(session.Options{}), judge.New(judge.Options{
				Registry: checks.Registry(),
				Found:    func(_ int, f *judge.Finding) { t.Errorf("%s at seq %d: %s", f.Clause.ID, f.Seq, f.Detail) },
				Broken:   func(_ int, check string, reason any) { t.Errorf("%s panicked: %v", check, reason) },
			})
			for f := range kind.frames() {
				j.Step(f, r.Apply(f, capture.Ref{}))
			}
			r.Finish()
			j.Finish()
			if j.Len() != 1 {
				t.Fatalf("%d sessions", j.Len())
			}
			report := j.End(0)
			if n := report.Totals(); n[judge.Pass] < 10 || report.Revision != kind.revision || report.Verdict() != judge.Passed {
				t.Errorf("%v at %v, %d clauses decided", report.Verdict(), report.Revision, n[judge.Pass])
			}
			for _, row := range report.List {
				for _, f := range row.Findings {
					t.Errorf("%s at seq %d: %s", row.Clause.ID, f.Seq, f.Detail)
				}
			}
		})
	}
}

// BenchmarkJudge is for profiles: the reducer, and the judge on what it made of frames.
func BenchmarkJudge(b *testing.B) {
	for _, kind := range kindsOfTraffic(5000) {
		next, stop := iter.Pull(kind.frames())
		frames := take(next, nil, 10_000)
		stop()
		for _, with := range []string{"fold", "judge"} {
			b.Run(kind.String()+"/"+with, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if with == "fold" {
						fold(frames)
					} else {
						foldJudged(frames)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(frames)), "ns/frame")
			})
		}
	}
}
