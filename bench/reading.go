package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

func oneLog(dir string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "sessions", "*.jsonl"))
	if err == nil && len(paths) != 1 {
		err = fmt.Errorf("%d logs in %s", len(paths), dir)
	}
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// foldRows time the reducer alone, in this process, over frames that lie in memory.
func foldRows(e *env) (rows []row, err error) {
	for _, c := range []struct {
		name           string
		calls, payload int
	}{{"200 B", 50_000, 200}, {"10 KiB", 5_000, 10 << 10}} {
		path, err := e.capture("fold", c.calls, c.payload)
		if err != nil {
			return nil, err
		}
		frames, size, err := readAll(path)
		if err != nil {
			return nil, err
		}
		mean := float64(size) / float64(len(frames))
		r := row{
			what: fmt.Sprintf("fold alone, payload %s (%.0f B a frame)", c.name, mean),
			unit: "µs a frame", budget: 1.5 + 1.2e-3*mean,
		}
		for range e.rounds {
			runtime.GC()
			start := time.Now()
			fold(frames)
			r.values = append(r.values, micros(time.Since(start))/float64(len(frames)))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// located is a frame with its place in the log.
type located struct {
	frame *capture.Frame
	ref   capture.Ref
}

// readAll reads a log whole and returns its frames and the bytes of their payloads.
func readAll(path string) (frames []located, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	in := capture.NewReader(f, capture.ReaderOptions{Name: path})
	var frame capture.Frame
	for {
		ref, err := in.Next(&frame)
		if err == io.EOF {
			return frames, size, nil
		}
		if err != nil {
			return nil, 0, err
		}
		size += int64(len(frame.Payload))
		frames = append(frames, located{frame.Clone(), ref})
	}
}

// fold folds and forgets, as check does.
func fold(frames []located) {
	r := session.New(session.Options{Settled: func(int, *session.Call) {}})
	for i := range frames {
		r.Apply(frames[i].frame, frames[i].ref)
	}
	r.Finish()
}

// checkRows compare `check` with the least that any reader of JSON has to do.
func checkRows(e *env) ([]row, error) {
	path, err := e.capture("check", 500_000, 200)
	if err != nil {
		return nil, err
	}
	log, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	frames := float64(bytes.Count(log, []byte("\n")))
	small, err := e.capture("flat", 5_000, 200)
	if err != nil {
		return nil, err
	}
	smallLog, err := os.ReadFile(small)
	if err != nil {
		return nil, err
	}
	smallFrames := float64(bytes.Count(smallLog, []byte("\n")))
	ratio := row{what: "check / json.Valid of the same lines", budget: 2.7}
	each := row{what: "check, a frame", unit: "µs", budget: 8}
	flatMost := row{what: "check a frame, at 10⁶ frames / at 10⁴: not dearer", budget: 1.2}
	flatLeast := row{what: "check a frame, at 10⁶ frames / at 10⁴: not cheaper", budget: 0.8, atLeast: true}
	for range e.rounds {
		start, err := e.wall("version") // what starting costs, log or no log
		if err != nil {
			return nil, err
		}
		took, err := e.wall("check", path)
		if err != nil {
			return nil, err
		}
		valid, err := validate(log)
		if err != nil {
			return nil, err
		}
		tookSmall, err := e.wall("check", small)
		if err != nil {
			return nil, err
		}
		a, b := micros(took-start)/frames, micros(tookSmall-start)/smallFrames
		ratio.values = append(ratio.values, took.Seconds()/valid.Seconds())
		each.values = append(each.values, micros(took)/frames)
		flatMost.values = append(flatMost.values, a/b)
		flatLeast.values = append(flatLeast.values, a/b)
	}
	return []row{ratio, each, flatMost, flatLeast}, nil
}

// wall times a command of ours.
func (e *env) wall(args ...string) (time.Duration, error) {
	start := time.Now()
	_, err := e.output(e.binary, append([]string{"--home", filepath.Join(e.dir, "home")}, args...)...)
	return time.Since(start), err
}

// validate times json.Valid over each line.
func validate(log []byte) (time.Duration, error) {
	start := time.Now()
	for line := range bytes.Lines(log) {
		if !json.Valid(line) {
			return 0, fmt.Errorf("not JSON: %.100s", line)
		}
	}
	return time.Since(start), nil
}

// memoryRows compare the memory that a command takes for a long log and a short one.
func memoryRows(e *env) (rows []row, err error) {
	const few, many = 5_000, 500_000 // calls; two frames each
	short, err := e.capture("short", few, 200)
	if err != nil {
		return nil, err
	}
	long, err := e.capture("long", many, 200)
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"check"}, {"export", "-T", "json"}, {"export", "-T", "text"}} {
		r := row{
			what: strings.Join(args, " ") + ": RSS at 10⁶ frames, less RSS at 10⁴ and 24 B a call",
			unit: "MB", budget: 16,
		}
		for range 3 {
			small, err := e.peak(append(args, short)...)
			if err != nil {
				return nil, err
			}
			large, err := e.peak(append(args, long)...)
			if err != nil {
				return nil, err
			}
			r.values = append(r.values, (large-small-24*many)/1e6)
		}
		rows = append(rows, r)
	}
	judged, err := judgedMemoryRows(e, "validate")
	if err != nil {
		return nil, err
	}
	return append(rows, judged...), nil
}

// peak returns the peak resident set of one of our commands, in bytes. tapbench
// measures it: a child of this process would inherit the figure of ours.
func (e *env) peak(args ...string) (float64, error) {
	out, err := e.output(e.tapbench, append([]string{"time", "--runs", "1", "--", e.binary,
		"--home", filepath.Join(e.dir, "home")}, args...)...)
	if err != nil {
		return 0, err
	}
	var run struct {
		KB     float64 `json:"peak_rss_kb"`
		Status int     `json:"exit_status"`
	}
	if err := json.Unmarshal(out, &run); err != nil {
		return 0, fmt.Errorf("read tapbench's report: %w", err)
	}
	if run.Status != 0 {
		return 0, fmt.Errorf("%v: exit code %d", args, run.Status)
	}
	return run.KB * 1024, nil
}
