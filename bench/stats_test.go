package main

import (
	"strings"
	"testing"
)

func upTo(n int) (v []float64) {
	for i := range n {
		v = append(v, float64(n-i))
	}
	return v
}

// The ranks are those of any table of the sign test.
func TestIntervalRanks(t *testing.T) {
	for n, want := range map[int][2]float64{
		1: {1, 1}, 5: {1, 5}, 6: {1, 6}, 9: {2, 8}, 15: {4, 12}, 20: {6, 15}, 25: {8, 18}, 100: {40, 61},
	} {
		if low, high := interval(upTo(n)); low != want[0] || high != want[1] {
			t.Errorf("n=%d: [%v %v], want %v", n, low, high, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		budget  float64
		atLeast bool
		want    string
	}{
		{12, false, holds}, {11.9, false, unclear}, {4, false, unclear}, {3.9, false, missedBudget},
		{4, true, holds}, {4.1, true, unclear}, {12, true, unclear}, {12.1, true, missedBudget},
	} {
		r := row{budget: c.budget, atLeast: c.atLeast, values: upTo(15)} // interval 4 to 12
		if got := r.verdict(); got != c.want {
			t.Errorf("%s: %s, want %s", r.limit(), got, c.want)
		}
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1.0234: "1.02", 0.6: "0.600", 0.01234: "0.012", 12.34: "12.3", 1234.5: "1234", -3: "-3.00"} {
		if got := (&row{}).figure(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	if median([]float64{3, 1, 2}) != 2 || median([]float64{4, 1, 2, 3}) != 2.5 {
		t.Error("median")
	}
}

// Beyond the sustained rate frames may be lost, which is said; up to it none may.
func TestLosses(t *testing.T) {
	round := func(mibPerSec, lost float64) *load {
		l := load{Lost: lost}
		l.Wrapped.MiBPerSec = mibPerSec
		return &l
	}
	var l losses
	l.add(round(10, 0))
	l.add(round(287, 7)) // 301 MB/s
	l.add(round(900, 0))
	if r := l.row("tap"); r.verdict() != holds || !strings.Contains(r.note, "there: 1;") || !strings.Contains(r.note, "7 frames in the worst") {
		t.Errorf("%s, %q", r.verdict(), r.note)
	}
	l.add(round(286, 1))
	if r := l.row("tap"); r.verdict() != missedBudget {
		t.Errorf("%s after a loss at 300 MB/s", r.verdict())
	}
	var none losses
	if r := none.row("tap"); r.note != "" {
		t.Errorf("nothing was lost, but %q", r.note)
	}
}
