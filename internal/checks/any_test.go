package checks

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
)

// TestAnyLog: of frames in any order, from any captures, whole or broken, no check
// panics; what was told stands in every report from then on; a report changes nothing.
func TestAnyLog(t *testing.T) {
	all := fixtureFrames(t)
	rapid.Check(t, func(rt *rapid.T) { anyLog(t, rt, anyFrames(rt, all)) })
}

// FuzzAnyLog is TestAnyLog led by coverage.
func FuzzAnyLog(f *testing.F) {
	all := fixtureFrames(f)
	f.Fuzz(rapid.MakeFuzz(func(rt *rapid.T) { anyLog(f, rt, anyFrames(rt, all)) }))
}

// fixtureFrames returns the frames of all fixtures, by capture.
func fixtureFrames(t testing.TB) (all [][]*capture.Frame) {
	paths, _ := filepath.Glob("testdata/*/*.jsonl")
	for _, path := range paths {
		all = append(all, frames(t, path))
	}
	return all
}

// anyFrames draws a log: pieces of captures, of which single frames are changed.
func anyFrames(rt *rapid.T, all [][]*capture.Frame) (log []*capture.Frame) {
	web, trace, ordered := rapid.Bool().Draw(rt, "web"), rapid.IntRange(0, 3).Draw(rt, "trace") == 0, rapid.Bool().Draw(rt, "ordered")
	for range rapid.IntRange(1, 8).Draw(rt, "pieces") {
		from := rapid.SampledFrom(all).Draw(rt, "capture")
		first := rapid.IntRange(0, len(from)-1).Draw(rt, "first")
		if rapid.Bool().Draw(rt, "whole") {
			first = 0
		}
		exchange := rapid.Uint64Range(0, 3).Draw(rt, "exchange")
		for _, f := range from[first:] {
			f = f.Clone()
			f.Tap, f.Label, f.Flags = "any-1-000000000000", "any", f.Flags&^capture.Sparse
			if trace {
				f.Flags |= capture.Sparse
			}
			if f.Transport = capture.Stdio; web {
				f.Transport = capture.HTTP
				if f.Exchange == 0 && !trace {
					f.Exchange = exchange
				}
			}
			n := len(log) + 1
			f.Seq, f.Time, f.Mono = uint64(n), time.Date(2026, 11, 30, 12, 0, n, 0, time.UTC), time.Duration(n)*time.Second
			if !ordered {
				f.Mono = capture.NoMono
			}
			if rapid.IntRange(0, 9).Draw(rt, "broken") == 0 {
				breakFrame(rt, f)
			}
			log = append(log, f)
		}
	}
	return log
}

// breakFrame changes a frame as no peer or recorder should.
func breakFrame(rt *rapid.T, f *capture.Frame) {
	odd := []string{"null", "1.0", `""`, "[]", "{}", "-1", "1e999", `"\ud800"`, `{"a":{"a":1,"a":2}}`, `[[]]`, "true"}
	switch rapid.IntRange(0, 8).Draw(rt, "how") {
	case 0:
		f.Flags |= capture.Truncated
		f.Form, f.Payload = capture.Text, f.Payload[:len(f.Payload)/2]
	case 1:
		f.Dir = rapid.SampledFrom([]capture.Dir{capture.C2S, capture.S2C, capture.Stderr, capture.Meta}).Draw(rt, "dir")
	case 2:
		f.Kind = capture.Kind(rapid.IntRange(0, int(capture.Other)).Draw(rt, "kind"))
	case 3:
		f.Seq += 5
	case 4:
		f.HTTP = nil
	case 5: // a value is another
		if at := bytes.IndexByte(f.Payload, ':'); f.Form == capture.Raw && at > 0 {
			replaceValue(rt, f, rapid.SampledFrom(odd).Draw(rt, "value"))
		}
	case 6:
		f.Payload = slices.Concat([]byte("["), f.Payload, []byte(","), f.Payload, []byte("]"))
		f.Form = capture.Unjudged
	case 7:
		f.Flags |= capture.Batch
	case 8:
		f.Payload, f.Form = []byte(rapid.SampledFrom(odd).Draw(rt, "payload")), capture.Unjudged
	}
}

// replaceValue puts a value in the place of what follows some colon.
func replaceValue(rt *rapid.T, f *capture.Frame, value string) {
	var colons []int
	for i, c := range f.Payload {
		if c == ':' {
			colons = append(colons, i)
		}
	}
	at := rapid.SampledFrom(colons).Draw(rt, "colon") + 1
	end, depth := at, 0
	for ; end < len(f.Payload); end++ {
		c := f.Payload[end]
		if c == '{' || c == '[' {
			depth++
		}
		if depth == 0 && (c == ',' || c == '}' || c == ']') {
			break
		}
		if c == '}' || c == ']' {
			depth--
		}
	}
	f.Payload = slices.Concat(f.Payload[:at], []byte(value), f.Payload[end:])
	f.Form = capture.Unjudged
}

// anyLog judges a log twice, once with reports in between.
func anyLog(t testing.TB, rt *rapid.T, log []*capture.Frame) {
	rev := mcp.Revision(rapid.IntRange(0, int(mcp.Latest)).Draw(rt, "revision"))
	asked, quiet := newLive(t, rev), newLive(t, rev)
	asked.failed = func(text string) { rt.Fatal(text) }
	quiet.failed = asked.failed
	for n, f := range log {
		own := f.Clone() // of one of the two the memory is overwritten: it holds for the step alone
		asked.step(own)
		for i := range own.Payload {
			own.Payload[i] = '#'
		}
		if own.HTTP != nil {
			clear(own.HTTP.Request)
			clear(own.HTTP.Response)
		}
		quiet.step(f)
		if n%4 != 0 && n != len(log)-1 {
			continue
		}
		said := asked.said()
		if again := asked.said(); !slices.Equal(said, again) {
			rt.Fatalf("after frame %d, two reports differ", n)
		}
		for i := range asked.given {
			if g := &asked.given[i]; !stands(said, g) {
				rt.Fatalf("at %v told at seq %d and withdrawn by frame %d: %s of %v, seq %d: %s", rev, g.At, n, g.Clause.ID, g.Revision, g.Seq, g.Detail)
			}
		}
	}
	asked.judge.Finish()
	quiet.judge.Finish()
	if a, b := asked.said(), quiet.said(); !slices.Equal(a, b) {
		rt.Fatalf("reports in between changed the last one: %v", differ(a, b))
	}
	if len(asked.given) != len(quiet.given) {
		rt.Fatalf("%d findings were told with reports in between, %d without", len(asked.given), len(quiet.given))
	}
}

func differ(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%s / %s", a[i], b[i])
		}
	}
	return fmt.Sprintf("%d / %d lines", len(a), len(b))
}
