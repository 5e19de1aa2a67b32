package main

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/checks"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// kindsOfTraffic are what judging is measured with.
func kindsOfTraffic(calls int) []*traffic {
	return []*traffic{
		{revision: mcp.V2025_11_25, calls: calls},
		{revision: mcp.V2026_07_28, calls: calls},
		{revision: mcp.V2025_11_25, web: true, calls: calls},
		{revision: mcp.V2026_07_28, web: true, calls: calls},
	}
}

// judging is a reducer with a judge of all rows behind it.
type judging struct {
	reducer *session.Reducer
	judge   *judge.Judge
}

func newJudging() judging {
	return judging{
		session.New(session.Options{Settled: func(int, *session.Call) {}}),
		judge.New(judge.Options{Registry: checks.Registry()}),
	}
}

func (j judging) step(frames []located) {
	for i := range frames {
		j.judge.Step(frames[i].frame, j.reducer.Apply(frames[i].frame, frames[i].ref))
	}
}

func (j judging) end() {
	j.reducer.Finish()
	j.judge.Finish()
	for i := range j.judge.Len() {
		j.judge.End(i)
	}
}

// foldJudged folds, judges and forgets, as check, validate and watch do.
func foldJudged(frames []located) {
	j := newJudging()
	j.step(frames)
	j.end()
}

// judgeRows time the reducer and all rows of the registry, in this process, over frames
// that lie in memory.
func judgeRows(e *env) (rows []row, err error) {
	for _, kind := range kindsOfTraffic(500_000) {
		next, stop := iter.Pull(kind.frames())
		frames := take(next, nil, 10_000)
		stop()
		foldJudged(frames[:100]) // the registry is made on first use
		each := row{what: fmt.Sprintf("fold and all rows, %v", kind), unit: "µs a frame", budget: 8}
		short := row{what: fmt.Sprintf("fold and all rows, %v: at 10² frames / at 10⁴", kind), budget: 1.2}
		for range e.rounds {
			runtime.GC()
			start := time.Now()
			foldJudged(frames)
			took := micros(time.Since(start)) / float64(len(frames))
			start = time.Now()
			for range 100 {
				foldJudged(frames[:100])
			}
			each.values = append(each.values, took)
			short.values = append(short.values, micros(time.Since(start))/1e4/took)
		}
		long := row{what: fmt.Sprintf("fold and all rows, %v: at 10⁶ frames / at 10⁴", kind), budget: 1.2}
		for range min(e.rounds, 6) {
			long.values = append(long.values, flatness(kind, frames))
		}
		rows = append(rows, each, short, long)
	}
	rows[0].note = "The goal for fold and all rows is 2.7 µs a frame, ten times what upstream's check took for its few rules"
	return rows, nil
}

// take returns the next frames of a session, in the memory of some that are not needed
// any more.
func take(next func() (*capture.Frame, bool), frames []located, n int) []located {
	frames = frames[:0]
	for len(frames) < n {
		f, ok := next()
		if !ok {
			break
		}
		frames = append(frames, located{f.Clone(), capture.Ref{Seq: f.Seq}})
	}
	return frames
}

// flatness judges a session of a million frames, in pieces that are made in between, and
// returns what a frame takes there, by what it takes in a session that is as long as
// the first piece.
func flatness(kind *traffic, first []located) float64 {
	next, stop := iter.Pull(kind.frames())
	defer stop()
	var long, short time.Duration
	j, pieces := newJudging(), 100
	var piece []located
	for n := range pieces {
		piece = take(next, piece, len(first))
		runtime.GC()
		start := time.Now()
		j.step(piece)
		long += time.Since(start)
		if n%10 == 9 {
			runtime.GC()
			start = time.Now()
			foldJudged(first)
			short += time.Since(start)
		}
	}
	j.end()
	return float64(long) / float64(pieces) / (float64(short) / float64(pieces/10))
}

// judgedMemoryRows compare the memory that judging takes for a long log and a short one,
// of each kind of traffic.
func judgedMemoryRows(e *env, args ...string) (rows []row, err error) {
	for _, kind := range kindsOfTraffic(500_000) {
		var paths [2]string
		var calls [2]int
		for i, frames := range []int{1e4, 1e6} {
			paths[i] = filepath.Join(e.dir, fmt.Sprintf("judged-%d.jsonl", i))
			if calls[i], err = kind.write(paths[i], frames); err != nil {
				return nil, err
			}
		}
		r := row{
			what: fmt.Sprintf("%s, %v: RSS at 10⁶ frames, less RSS at 10⁴ and 24 B a call", strings.Join(args, " "), kind),
			unit: "MB", budget: 16,
		}
		for range 3 {
			small, err := e.peak(append(args, paths[0])...)
			if err != nil {
				return nil, err
			}
			large, err := e.peak(append(args, paths[1])...)
			if err != nil {
				return nil, err
			}
			r.values = append(r.values, (large-small-24*float64(calls[1]-calls[0]))/1e6)
		}
		rows = append(rows, r)
		for _, path := range paths {
			os.Remove(path)
		}
	}
	return rows, nil
}

// write writes a log of so many frames, and returns how many calls it holds.
func (t traffic) write(path string, frames int) (calls int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for frame := range t.frames() {
		line = capture.AppendFrame(line[:0], frame)
		if _, err := out.Write(line); err != nil {
			return 0, err
		}
		if frames--; frames == 0 {
			break
		}
		if frame.Dir == capture.C2S {
			calls++
		}
	}
	return calls, out.Flush()
}
