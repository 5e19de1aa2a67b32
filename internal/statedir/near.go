package statedir

import (
	"slices"
	"strings"
)

// mostNear is how many suggestions are made.
const mostNear = 4

// near returns what arg may have been meant to be, best first: labels and ids that
// hold it, and those as many slips away as one in three of its letters.
func (l *Listing) near(arg string) []string {
	want := []rune(strings.ToLower(arg))
	if len(want) > 255 {
		return nil
	}
	limit := max(1, len(want)/3)
	best := map[string]int{}
	consider := func(text string, slip int) {
		if old, ok := best[text]; slip <= limit && (!ok || slip < old) {
			best[text] = slip
		}
	}
	holds := func(text string) bool {
		return len(want) >= 3 && strings.Contains(strings.ToLower(text), string(want))
	}
	var order []string // newest first, for equals
	for _, e := range l.Logs {
		label, id := []rune(strings.ToLower(e.Label)), []rune(strings.ToLower(e.ID))
		order = append(order, e.Label, e.ID)
		if e.Label != "" {
			consider(e.Label, slips(want, label, limit))
		}
		if len(want) > len(label)+1 { // more than a label was given
			consider(e.ID, slips(want, id[:min(len(want), len(id))], limit))
		}
		switch {
		case holds(e.Label):
			consider(e.Label, limit)
		case holds(e.ID):
			consider(e.ID, limit)
		}
	}
	var near []string
	for slip := 0; slip <= limit && len(near) < mostNear; slip++ {
		for _, text := range order {
			if s, ok := best[text]; ok && s == slip && len(near) < mostNear {
				near = append(near, text)
				delete(best, text)
			}
		}
	}
	return near
}

// slips returns how many letters must be put in, left out or replaced to make b of
// a; more than limit is some number above it.
func slips(a, b []rune, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
		if slices.Min(row) > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
