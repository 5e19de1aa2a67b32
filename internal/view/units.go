// Package view is the wording, the units, the rows and the ordering that every
// face of mcpsnoop shares: terminal UI, plain outputs, exports, HTML. It is the
// only place where a duration becomes text and where a state gets its word.
//
// It computes strings and rows from facts and does no I/O. Whatever a peer sent
// has passed term.Escape when it leaves here: no string of this package holds a
// control character.
package view

import (
	"fmt"
	"strconv"
	"time"
)

// Nothing stands where a value could be and none is.
const Nothing = "–"

// SlowAfter is the duration from which a call counts as slow.
const SlowAfter = time.Second

// Duration formats d with three significant digits, from a minute on with two
// units: 0.4ms 12ms 850ms 3.20s 16.0s 2m05s 1h02m 1d03h.
func Duration(d time.Duration) string {
	switch d = max(0, d); {
	case d < 50*time.Microsecond:
		return "0ms"
	case d < 950*time.Microsecond:
		return fixed(d, time.Millisecond, 1) + "ms"
	case d < 999500*time.Microsecond:
		return fixed(d, time.Millisecond, 0) + "ms"
	case d < 9995*time.Millisecond:
		return fixed(d, time.Second, 2) + "s"
	case d < 59950*time.Millisecond:
		return fixed(d, time.Second, 1) + "s"
	}
	s := int64(d.Round(time.Second) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	m := int64(d.Round(time.Minute) / time.Minute)
	if m < 24*60 {
		return fmt.Sprintf("%dh%02dm", m/60, m%60)
	}
	h := int64(d.Round(time.Hour) / time.Hour)
	return fmt.Sprintf("%dd%02dh", h/24, h%24)
}

// fixed formats d in units with that many decimals, half rounded up.
func fixed(d, unit time.Duration, decimals int) string {
	scale := int64(1)
	for range decimals {
		scale *= 10
	}
	step := int64(unit) / scale
	n := (int64(d) + step/2) / step
	if decimals == 0 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%d.%0*d", n/scale, decimals, n%scale)
}

// Seconds formats d in whole seconds, however many: idle limits are known by
// that number (125s).
func Seconds(d time.Duration) string { return fixed(max(0, d), time.Second, 0) + "s" }

// Age formats how long something is past, in one unit: 2s 46m 3h 1d.
func Age(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	case d < time.Hour:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	case d < 24*time.Hour:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	}
	return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
}

// Size formats a number of bytes, K M G of 1024, in at most three digits: 0B
// 812B 1.0K 18.4K 812K 16.0M.
func Size(n int64) string {
	if n = max(0, n); n < 1000 {
		return strconv.FormatInt(n, 10) + "B"
	}
	v, unit := float64(n)/1024, 0
	for v >= 999.5 && unit < len("KMG")-1 {
		v, unit = v/1024, unit+1
	}
	decimals := 1
	if v >= 99.95 {
		decimals = 0
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + "KMG"[unit:unit+1]
}

// Count formats a number for a column: all digits up to 99,999, then three and
// k or M: 37 99999 124k 1.20M.
func Count(n int64) string {
	if n < 100_000 {
		return strconv.FormatInt(n, 10)
	}
	if n < 999_500 {
		return strconv.FormatInt((n+500)/1000, 10) + "k"
	}
	v, decimals := float64(n)/1e6, 2
	switch {
	case v >= 99.95:
		decimals = 0
	case v >= 9.995:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + "M"
}

// Number formats a number for prose, thousands marked: 1,204.
func Number[T int | int64 | uint64](n T) string {
	digits := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Plural says how many of a thing there are: "1 frame", "1,204 frames".
func Plural[T int | int64 | uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Time formats a moment as local wall clock with milliseconds: 19:41:56.500.
func Time(t time.Time) string { return t.Local().Format("15:04:05.000") }

// Moment formats a moment to the second as seen at now: the time, with the date
// where that is not today.
func Moment(t, now time.Time) string {
	if t.IsZero() {
		return Nothing
	}
	t, now = t.Local(), now.Local()
	if SameDay(t, now) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// DateTime formats a moment in full, where lines of several days stand together:
// 2026-11-30 19:41:56.500.
func DateTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000") }

// SameDay reports whether two moments lie on one local day.
func SameDay(a, b time.Time) bool {
	ay, am, ad := a.Local().Date()
	by, bm, bd := b.Local().Date()
	return ay == by && am == bm && ad == bd
}
