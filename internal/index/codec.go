package index

import (
	"encoding/binary"
	"time"
)

// A codec writes values to out, or reads them from in: which fields there are, and in
// which order, is written down once for both. What was read is a part of in, so
// reading copies no text.
//
// Reading trusts nothing. After the first value that is none, bad is set and all
// others are zero.
type codec struct {
	writing bool
	out     []byte
	in      string
	bad     bool
}

func (c *codec) fail() { c.in, c.bad = "", true }

func (c *codec) uvarint(v uint64) uint64 {
	if c.writing {
		c.out = binary.AppendUvarint(c.out, v)
		return v
	}
	if len(c.in) > 0 && c.in[0] < 0x80 { // most are small
		b := c.in[0]
		c.in = c.in[1:]
		return uint64(b)
	}
	var n uint64
	for i := range min(len(c.in), binary.MaxVarintLen64) {
		b := c.in[i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.in = c.in[i+1:]
			return n
		}
	}
	c.fail()
	return 0
}

// number is any integer. Of those that are kept none is unsigned and wider than an int.
func number[T ~int | ~int64 | ~uint8](c *codec, v *T) {
	n := int64(*v)
	n = unzigzag(c.uvarint(uint64(n)<<1 ^ uint64(n>>63)))
	if *v = T(n); int64(*v) != n {
		c.fail()
		*v = 0
	}
}

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// within is a number from 0 to most.
func within[T ~uint8](c *codec, v *T, most T) {
	if number(c, v); *v > most {
		c.fail()
		*v = 0
	}
}

func (c *codec) unsigned(v *uint64) { *v = c.uvarint(*v) }

func (c *codec) flag(v *bool) {
	var n uint8
	if *v {
		n = 1
	}
	within(c, &n, 1)
	*v = n == 1
}

func (c *codec) text(v *string) {
	n := c.uvarint(uint64(len(*v)))
	switch {
	case c.writing:
		c.out = append(c.out, *v...)
		return
	case n > uint64(len(c.in)):
		c.fail()
	}
	*v, c.in = c.in[:min(n, uint64(len(c.in)))], c.in[min(n, uint64(len(c.in))):]
}

// raw is bytes of which the number is known.
func (c *codec) raw(v []byte) {
	switch {
	case c.writing:
		c.out = append(c.out, v...)
	case len(v) > len(c.in):
		c.fail()
	default:
		c.in = c.in[copy(v, c.in):]
	}
}

// Times that a log can hold: years of four digits, in any zone.
var (
	firstTime = time.Date(-1, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
	lastTime  = time.Date(10000, 1, 2, 0, 0, 0, 0, time.UTC).Unix()
)

func (c *codec) time(v *time.Time) {
	sec, nsec := v.Unix(), int64(v.Nanosecond())
	number(c, &sec)
	number(c, &nsec)
	if c.writing {
		return
	}
	if sec < firstTime || sec > lastTime || nsec < 0 || nsec >= int64(time.Second) {
		c.fail()
		sec, nsec = 0, 0
	}
	*v = time.Unix(sec, nsec).UTC()
}

// list is any number of values, each of a byte or more. What is read takes memory only
// as it turns out to be there.
func list[T any](c *codec, v *[]T, each func(*codec, *T)) {
	n := c.uvarint(uint64(len(*v)))
	if c.writing {
		for i := range *v {
			each(c, &(*v)[i])
		}
		return
	}
	*v = make([]T, 0, min(n, 4))
	for range n {
		var one T
		if each(c, &one); c.bad {
			*v = nil
			return
		}
		*v = append(*v, one)
	}
	if n == 0 {
		*v = nil
	}
}

// maybe is a value that may be absent.
func maybe[T any](c *codec, v **T, each func(*codec, *T)) {
	there := *v != nil
	if c.flag(&there); !there {
		*v = nil
		return
	}
	if *v == nil {
		*v = new(T)
	}
	each(c, *v)
}
