package gate

import (
	"mcpsnoop/internal/judge"
)

// signalOf gives the signals of clauses their place among all signals.
var signalOf = map[judge.Signal]Signal{judge.Invalid: Invalid, judge.Mismatch: Mismatch, judge.Warn: Warn, judge.Advice: Should}

// Found is a finding with the signal under which it counts.
type Found struct {
	judge.Group
	Signal Signal
}

// Findings returns what a report found, in the order of its rows. bad holds the frames
// that are no message at all: they count as invalid, whatever else could be said of them.
// more counts findings that the report does not list.
func Findings(r *judge.Report, bad map[uint64]bool) (list []Found, more Counts) {
	groups, left := r.Grouped()
	for _, g := range groups {
		if signal := signalOf[g.Clause.Signal]; signal == Invalid || !bad[g.Seq] {
			list = append(list, Found{g, signal})
		}
	}
	for clause, n := range left {
		more[signalOf[clause.Signal]] += n
	}
	return list, more
}

// Count adds what was found to counts: each frame once a signal, and what counts as
// mismatch as warn too. bad is as for [Findings]; those frames are counted already.
func (n *Counts) Count(list []Found, bad map[uint64]bool) {
	frames := [signals]map[uint64]bool{}
	add := func(s Signal, seq uint64) {
		if frames[s] == nil {
			frames[s] = map[uint64]bool{}
		}
		frames[s][seq] = true
	}
	for i := range list {
		f := &list[i]
		if f.Signal == Invalid && bad[f.Seq] {
			continue
		}
		add(f.Signal, f.Seq)
		if f.Signal == Mismatch {
			add(Warn, f.Seq)
		}
	}
	for s := range frames {
		n[s] += len(frames[s])
	}
}
