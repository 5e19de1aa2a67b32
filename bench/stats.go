package main

import (
	"math"
	"slices"
	"strconv"
)

// row is one budget and what was measured of it, a value a round.
type row struct {
	what    string
	unit    string
	budget  float64
	atLeast bool // the budget is a lower limit
	values  []float64
	note    string // what the figures do not say
}

// The verdicts.
const (
	holds        = "holds"   // the whole interval is within the budget
	unclear      = "unclear" // the budget is inside the interval
	missedBudget = "MISSED"  // the whole interval is beyond it
)

func (r *row) verdict() string {
	low, high := interval(r.values)
	if r.atLeast {
		low, high = -high, -low
	}
	budget := r.budget
	if r.atLeast {
		budget = -budget
	}
	switch {
	case high <= budget:
		return holds
	case low > budget:
		return missedBudget
	}
	return unclear
}

func (r *row) limit() string {
	if r.atLeast {
		return "≥ " + r.figure(r.budget)
	}
	return "≤ " + r.figure(r.budget)
}

// figure formats a value with three digits that mean something, and its unit.
func (r *row) figure(v float64) string {
	digits := 0
	if a := math.Abs(v); a > 0 && a < 100 {
		digits = min(2-int(math.Floor(math.Log10(a))), 3)
	}
	s := strconv.FormatFloat(v, 'f', max(digits, 0), 64)
	if r.unit == "" {
		return s
	}
	return s + " " + r.unit
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// interval returns the 95 % interval of the median: the closest pair of order
// statistics, equally far from both ends, that encloses it with that probability.
// It assumes nothing of how the values are distributed. With fewer than six values
// there is no such pair, and it returns the extremes.
func interval(values []float64) (low, high float64) {
	s := slices.Sorted(slices.Values(values))
	k := 0
	for k+1 < (len(s)+1)/2 && tailBelow(len(s), k+1) <= 0.025 {
		k++
	}
	return s[k], s[len(s)-1-k]
}

// tailBelow is the probability that the median lies below the value of rank k (from
// 0): that at most k of n values are below it, each with probability ½.
func tailBelow(n, k int) float64 {
	p, sum := math.Pow(0.5, float64(n)), 0.0
	for i := 0; i <= k; i++ {
		sum += p
		p *= float64(n-i) / float64(i+1)
	}
	return sum
}
