package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// loads are what the tap carries: enough calls for each round to take a good part
// of a second.
var loads = []struct {
	name       string
	payload    int // bytes
	alone      int // calls, one at a time
	saturated  int // calls, 16 at a time
	throughput float64
}{
	{"100 B", 100, 8000, 20000, 0.85},
	{"10 KiB", 10 << 10, 3000, 5000, 0.60},
	{"1 MiB", 1 << 20, 120, 150, 0.90},
}

// load is what tapbench reports of a run through a proxy.
type load struct {
	Name    string  `json:"name"`
	Intact  bool    `json:"bytes_intact"`
	Lost    float64 `json:"frames_lost_max"`
	Wrapped struct {
		CallsPerSec float64 `json:"calls_per_s"`
		P50         float64 `json:"p50_us"`
		P99         float64 `json:"p99_us"`
		CPUPerFrame float64 `json:"proxy_cpu_us_per_msg"`
	} `json:"wrapped"`
}

// bench runs tapbench and returns its reports.
func (e *env) bench(args ...string) (all []load, err error) {
	out, err := e.output(e.tapbench, args...)
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var l load
		if err := dec.Decode(&l); err != nil {
			return nil, fmt.Errorf("read tapbench's report: %w", err)
		}
		if !l.Intact {
			return nil, fmt.Errorf("%s: bytes were altered", l.Name)
		}
		all = append(all, l)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("tapbench %v reported nothing", args)
	}
	return all, nil
}

// output runs a command and returns its standard output; a failure says what it wrote
// on the other.
func (e *env) output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s", name, args, err, errs.Bytes())
	}
	return out, nil
}

// pair runs ours and the floor as neighbours; who is first alternates.
func (e *env) pair(round int, args ...string) (ours, floor load, err error) {
	one := func(wrap string) (load, error) {
		all, err := e.bench(append([]string{"stdio", "--rounds", "1", "--wrap", wrap}, args...)...)
		if err != nil {
			return load{}, err
		}
		return all[0], nil
	}
	us, it := e.binary+" --", e.tapbench+" floor --"
	if round%2 == 0 {
		if ours, err = one(us); err == nil {
			floor, err = one(it)
		}
	} else if floor, err = one(it); err == nil {
		ours, err = one(us)
	}
	if err == nil && ours.Lost > 0 {
		err = fmt.Errorf("%s: %v frames missing from the log", ours.Name, ours.Lost)
	}
	return ours, floor, err
}

func tapRows(e *env) (rows []row, err error) {
	for _, l := range loads {
		p50 := row{what: "tap, one call at a time, " + l.name + ": p50 / floor", budget: 1.10}
		p99 := row{what: "tap, one call at a time, " + l.name + ": p99 / floor", budget: 1.10}
		for i := range e.rounds {
			ours, floor, err := e.pair(i, "--concurrency", "1", "--payload", fmt.Sprint(l.payload), "--calls", fmt.Sprint(l.alone))
			if err != nil {
				return nil, err
			}
			p50.values = append(p50.values, ours.Wrapped.P50/floor.Wrapped.P50)
			p99.values = append(p99.values, ours.Wrapped.P99/floor.Wrapped.P99)
		}
		rows = append(rows, p50, p99)
	}
	for _, l := range loads {
		// A frame is longer than its payload; the budget is given for the payload alone.
		cpu := row{
			what: "tap, 16 calls, " + l.name + ": proxy CPU a frame over the floor's",
			unit: "µs", budget: 1.0 + 1.5e-3*float64(l.payload),
		}
		rate := row{what: "tap, 16 calls, " + l.name + ": calls/s / floor", budget: l.throughput, atLeast: true}
		for i := range e.rounds {
			ours, floor, err := e.pair(i, "--concurrency", "16", "--payload", fmt.Sprint(l.payload), "--calls", fmt.Sprint(l.saturated))
			if err != nil {
				return nil, err
			}
			cpu.values = append(cpu.values, ours.Wrapped.CPUPerFrame-floor.Wrapped.CPUPerFrame)
			rate.values = append(rate.values, ours.Wrapped.CallsPerSec/floor.Wrapped.CallsPerSec)
		}
		rows = append(rows, cpu, rate)
	}
	return rows, nil
}

// lostRows floods the tap as fast as a server can write. Runs of tapRows fail when
// a frame is missing; here the loss is the figure.
func lostRows(e *env) ([]row, error) {
	lost := row{what: "frames lost, flood of 200,000 and one message of 64 MiB", budget: 0}
	for range min(e.rounds, 5) {
		all, err := e.bench("bulk", "--rounds", "1", "--sizes", "64MiB", "--wrap", e.binary+" --")
		if err != nil {
			return nil, err
		}
		worst := 0.0
		for _, l := range all {
			worst = max(worst, l.Lost)
		}
		lost.values = append(lost.values, worst)
	}
	return []row{lost}, nil
}

// capture writes a log of one session with that many calls and returns its path.
func (e *env) capture(name string, calls, payload int) (string, error) {
	dir, err := os.MkdirTemp(e.dir, name+"-")
	if err != nil {
		return "", err
	}
	_, err = e.output(e.tapbench, "gen", "--out", dir, "--sessions", "1", "--calls", fmt.Sprint(calls),
		"--payload", fmt.Sprint(payload), "--errors", "0")
	if err != nil {
		return "", err
	}
	return oneLog(dir)
}
