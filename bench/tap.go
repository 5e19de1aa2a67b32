package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// loads are what a tap carries: enough calls for each round to take a good part of a
// second.
var loads = []struct {
	name       string
	payload    int // bytes
	throughput float64
}{
	{"100 B", 100, 0.85},
	{"10 KiB", 10 << 10, 0.60},
	{"1 MiB", 1 << 20, 0.90},
}

// kind is one of our taps, with how it is measured and what it is compared with.
type kind struct {
	name      string
	driver    []string
	flag      string // of the driver, naming the proxy
	ours      string // what follows our binary
	floor     string // what follows tapbench
	perCall   int    // frames
	alone     [3]int // calls of each load, one at a time
	saturated [3]int // calls of each load, 16 at a time
}

const webArgs = "--target {target} --listen {listen}"

var kinds = map[string]kind{
	"stdio": {
		"tap", []string{"stdio"}, "--wrap", "--", "floor --", 2,
		[3]int{8000, 3000, 120}, [3]int{20000, 5000, 150},
	},
	"watch": {
		"tap with watch", []string{"stdio"}, "--wrap", "watch stdio --", "floor --", 2,
		[3]int{8000, 3000, 120}, [3]int{20000, 5000, 150},
	},
	"json": {
		"http tap, JSON", []string{"http"}, "--proxy-cmd", "http " + webArgs, "http-floor " + webArgs, 2,
		[3]int{3000, 1500, 100}, [3]int{8000, 3000, 100},
	},
	"sse": {
		"http tap, SSE", []string{"http", "--sse", "--probes", "0"}, "--proxy-cmd", "http " + webArgs, "http-floor " + webArgs, 3,
		[3]int{3000, 1500, 100}, [3]int{8000, 3000, 100},
	},
}

// load is what tapbench reports of a run through a proxy.
type load struct {
	Name    string  `json:"name"`
	Intact  bool    `json:"bytes_intact"`
	Lost    float64 `json:"frames_lost_max"`
	Wrapped struct {
		CallsPerSec float64 `json:"calls_per_s"`
		MiBPerSec   float64 `json:"mib_per_s"`
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
func (e *env) pair(k *kind, round int, args ...string) (ours, floor load, err error) {
	one := func(proxy string) (load, error) {
		all, err := e.bench(slices.Concat(k.driver, []string{"--rounds", "1", k.flag, proxy}, args)...)
		if err != nil {
			return load{}, err
		}
		return all[0], nil
	}
	us, it := e.binary+" "+k.ours, e.floor+" "+k.floor
	if round%2 == 0 {
		if ours, err = one(us); err == nil {
			floor, err = one(it)
		}
	} else if floor, err = one(it); err == nil {
		ours, err = one(us)
	}
	return ours, floor, err
}

// sustained is the rate up to which no frame may be lost, in MB/s.
const sustained = 300

// losses are the frames that the log of a tap lacks.
type losses struct {
	worst  float64 // of rounds up to the sustained rate
	rounds int     // beyond it that lost any,
	beyond float64 // the worst of them
}

func (l *losses) add(of *load) {
	switch {
	case of.Wrapped.MiBPerSec*(1<<20)/1e6 <= sustained:
		l.worst = max(l.worst, of.Lost)
	case of.Lost > 0:
		l.rounds++
		l.beyond = max(l.beyond, of.Lost)
	}
}

// row is the budget, which holds for every single round.
func (l *losses) row(name string) row {
	r := row{what: fmt.Sprintf("%s: frames lost at up to %d MB/s, worst round", name, sustained), values: []float64{l.worst}}
	if l.rounds > 0 {
		r.note = fmt.Sprintf("%s: rounds beyond %d MB/s that lost frames, as they may there: %d; %.0f frames in the worst",
			name, sustained, l.rounds, l.beyond)
	}
	return r
}

// tapRows measures one of the taps under all loads.
func tapRows(which string) func(*env) ([]row, error) {
	return func(e *env) (rows []row, err error) {
		k := kinds[which]
		var lost losses
		for i, l := range loads {
			p50 := row{what: k.name + ", one call at a time, " + l.name + ": p50 / floor", budget: 1.10}
			p99 := row{what: k.name + ", one call at a time, " + l.name + ": p99 / floor", budget: 1.10}
			for round := range e.rounds {
				ours, floor, err := e.pair(&k, round, "--concurrency", "1", "--payload", fmt.Sprint(l.payload), "--calls", fmt.Sprint(k.alone[i]))
				if err != nil {
					return nil, err
				}
				lost.add(&ours)
				p50.values = append(p50.values, ours.Wrapped.P50/floor.Wrapped.P50)
				p99.values = append(p99.values, ours.Wrapped.P99/floor.Wrapped.P99)
			}
			rows = append(rows, p50, p99)
		}
		for i, l := range loads {
			// A frame is longer than its payload; the budget is given for the payload alone,
			// of which each call has two.
			mean := 2 * float64(l.payload) / float64(k.perCall)
			cpu := row{
				what: k.name + ", 16 calls, " + l.name + ": proxy CPU a frame over the floor's",
				unit: "µs", budget: 1.0 + 1.5e-3*mean,
			}
			rate := row{what: k.name + ", 16 calls, " + l.name + ": calls/s / floor", budget: l.throughput, atLeast: true}
			for round := range e.rounds {
				ours, floor, err := e.pair(&k, round, "--concurrency", "16", "--payload", fmt.Sprint(l.payload), "--calls", fmt.Sprint(k.saturated[i]))
				if err != nil {
					return nil, err
				}
				lost.add(&ours)
				cpu.values = append(cpu.values, ours.Wrapped.CPUPerFrame-floor.Wrapped.CPUPerFrame)
				rate.values = append(rate.values, ours.Wrapped.CallsPerSec/floor.Wrapped.CallsPerSec)
			}
			rows = append(rows, cpu, rate)
		}
		return append(rows, lost.row(k.name)), nil
	}
}

// lostRows floods the tap as fast as a server can write, with what fits the queue.
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
