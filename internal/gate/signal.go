// Package gate turns signals into pass or fail: which signals there are, which of
// them this build can judge, and which a user lets fail a check.
package gate

import (
	"fmt"
	"strings"

	"mcpsnoop/internal/session"
)

// Signal is the coarse class under which something gates CI.
type Signal uint8

// The signals, in the order in which they are always named.
const (
	Error Signal = iota
	Invalid
	Warn
	Mismatch
	Pending
	LateResult
	Drift
	Deprecated
	Incomplete
	Schema
	Should
	Args
	Output
	signals
)

var names = [signals]string{
	"error", "invalid", "warn", "mismatch", "pending", "late-result", "drift",
	"deprecated", "incomplete", "schema", "should", "args", "output",
}

// judged are the signals this build can judge. Whoever teaches it another adds it
// here, and its count to [CountsOf] or [Findings.Count].
var judged = SetOf(Error, Invalid, Warn, Mismatch, Pending, LateResult, Incomplete, Should)

// asked are the signals that fail a check unless a user says otherwise, as far as
// they are judged.
var asked = SetOf(Error, Invalid, Warn)

func (s Signal) String() string {
	if s < signals {
		return names[s]
	}
	return fmt.Sprintf("signal(%d)", uint8(s))
}

// Set is a set of signals.
type Set uint16

// SetOf returns the set of those signals.
func SetOf(list ...Signal) (s Set) {
	for _, x := range list {
		s |= 1 << x
	}
	return s
}

// Has reports whether x is in the set.
func (s Set) Has(x Signal) bool { return s&(1<<x) != 0 }

// Signals returns the members in the fixed order.
func (s Set) Signals() (list []Signal) {
	for x := range signals {
		if s.Has(x) {
			list = append(list, x)
		}
	}
	return list
}

// String names the members in the fixed order: "error,invalid".
func (s Set) String() string { return s.join(",") }

func (s Set) join(separator string) string {
	var list []string
	for _, x := range s.Signals() {
		list = append(list, x.String())
	}
	return strings.Join(list, separator)
}

// Judged returns the signals this build can judge.
func Judged() Set { return judged }

// Default returns the signals that fail a check unless told otherwise.
func Default() Set { return asked & judged }

// ParseFailOn reads the list of --fail-on: names between commas, in any case,
// blanks around them ignored. What it refuses is an error of use.
func ParseFailOn(list string) (Set, error) {
	var s Set
	for element := range strings.SplitSeq(list, ",") {
		name := strings.ToLower(strings.TrimSpace(element))
		if name == "" {
			return 0, fmt.Errorf("empty signal in %q: name one or more of %s", list, judged.join(", "))
		}
		x, ok := named(name)
		if !ok {
			return 0, fmt.Errorf("unknown signal %q: name one or more of %s", strings.TrimSpace(element), judged.join(", "))
		}
		if !judged.Has(x) {
			return 0, fmt.Errorf("signal %q is not judged by this build: it judges %s", name, judged.join(", "))
		}
		s |= SetOf(x)
	}
	return s, nil
}

func named(name string) (Signal, bool) {
	for x := range signals {
		if names[x] == name {
			return x, true
		}
	}
	return 0, false
}

// Counts says how often each signal was seen.
type Counts [signals]int

// CountsOf takes the counts of a session. Signals that are not judged stay 0.
func CountsOf(c *session.Counts) (n Counts) {
	n[Error] = c.Errors
	n[Invalid] = c.Invalid
	n[Pending] = c.Pending
	n[LateResult] = c.Late
	n[Incomplete] = c.Incomplete()
	return n
}

// Add sums two counts, as of two sessions of which each must pass.
func (n *Counts) Add(other Counts) {
	for i := range n {
		n[i] += other[i]
	}
}

// Tripped returns the signals of failOn that were seen: none means pass.
func (n *Counts) Tripped(failOn Set) (s Set) {
	for _, x := range failOn.Signals() {
		if n[x] > 0 {
			s |= SetOf(x)
		}
	}
	return s
}
