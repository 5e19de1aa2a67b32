package jsontree

import (
	"bytes"
	"math"
)

// decimal is a JSON number as it is written: its digits, and where the point
// stands. The value is 0.DIGITS × 10^point; there are no zeros at either end of
// digits, and none at all for 0.
type decimal struct {
	negative bool
	digits   []byte // without a point
	point    int
}

// parseDecimal takes a valid JSON number apart. buf gets the digits if the number
// has a fraction.
func parseDecimal(text, buf []byte) (d decimal) {
	if text[0] == '-' {
		d.negative, text = true, text[1:]
	}
	mantissa, exponent := text, 0
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], parseExponent(text[e+1:])
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	d.digits, d.point = whole, len(whole)+exponent
	if len(fraction) > 0 {
		d.digits = append(append(buf[:0], whole...), fraction...)
	}
	written := len(d.digits)
	d.digits = bytes.TrimLeft(d.digits, "0")
	d.point -= written - len(d.digits)
	d.digits = bytes.TrimRight(d.digits, "0")
	return d
}

// parseExponent returns the value of the exponent, or a number far beyond any use.
func parseExponent(text []byte) (exponent int) {
	negative := text[0] == '-'
	for _, c := range text {
		if c >= '0' && c <= '9' && exponent < math.MaxInt32/10 {
			exponent = exponent*10 + int(c-'0')
		}
	}
	if negative {
		return -exponent
	}
	return exponent
}

// integer reports whether the value has no fraction.
func (d *decimal) integer() bool { return len(d.digits) == 0 || d.point >= len(d.digits) }

// int64 returns the value of an integer, false beyond the range.
func (d *decimal) int64() (int64, bool) {
	if d.point > 19 && len(d.digits) > 0 {
		return 0, false
	}
	var magnitude uint64 // 19 digits fit
	for i := 0; i < d.point && len(d.digits) > 0; i++ {
		magnitude *= 10
		if i < len(d.digits) {
			magnitude += uint64(d.digits[i] - '0')
		}
	}
	switch {
	case d.negative && magnitude <= -math.MinInt64:
		return -int64(magnitude), true // -(-1<<63) is itself
	case !d.negative && magnitude <= math.MaxInt64:
		return int64(magnitude), true
	}
	return 0, false
}

// Int returns the exact value of a number that is, by value, an integer (1.0 and
// 1e3 are); false for all else and beyond int64.
func (n Node) Int() (int64, bool) {
	if n.Kind() != Number {
		return 0, false
	}
	var buf [32]byte
	d := parseDecimal(n.Text(), buf[:0])
	if !d.integer() {
		return 0, false
	}
	return d.int64()
}

// IsInt reports whether n is a number that is, by value, an integer of any size.
func (n Node) IsInt() bool {
	if n.Kind() != Number {
		return false
	}
	var buf [32]byte
	d := parseDecimal(n.Text(), buf[:0])
	return d.integer()
}
