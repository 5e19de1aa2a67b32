// Package tracectx reads W3C Trace Context: traceparent and tracestate as they stand in
// HTTP headers and in _meta, and baggage as far as its grammar goes.
//
// Errors say what is wrong with a value in words that can stand behind its name:
// "traceparent " + err.Error() is a sentence.
package tracectx

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// TraceID is the id of a whole trace.
type TraceID [16]byte

// String returns the id in lower-case hex.
func (id TraceID) String() string { return hex.EncodeToString(id[:]) }

// SpanID is the id of one span of a trace.
type SpanID [8]byte

// String returns the id in lower-case hex.
func (id SpanID) String() string { return hex.EncodeToString(id[:]) }

// FlagSampled is the flag of [Context.Sampled].
const FlagSampled = 1

// Context is what a traceparent says. No valid one is the zero Context.
type Context struct {
	Trace   TraceID
	Parent  SpanID // the span that what carries the traceparent belongs to
	Flags   byte
	Version byte // of the format that it was written in
}

// Sampled reports whether the caller may have recorded the trace.
func (c Context) Sampled() bool { return c.Flags&FlagSampled != 0 }

// Where the fields of a traceparent stand, in version 00 and in all later ones.
const (
	traceAt  = 3
	parentAt = traceAt + 32 + 1
	flagsAt  = parentAt + 16 + 1
	size     = flagsAt + 2
)

// Parse reads a traceparent. Of version 00 it accepts what that version defines and no more;
// later versions may append fields, behind a hyphen, which are left alone.
func Parse(traceparent []byte) (Context, error) {
	var c Context
	version, ok := hexByte(traceparent)
	switch {
	case !ok:
		return Context{}, errors.New("does not begin with a version of two lower-case hex digits")
	case version == 0xff:
		return Context{}, errors.New("has the version ff, which is forbidden")
	case len(traceparent) < size:
		return Context{}, fmt.Errorf("has %d characters instead of %d", len(traceparent), size)
	case traceparent[traceAt-1] != '-' || traceparent[parentAt-1] != '-' || traceparent[flagsAt-1] != '-':
		return Context{}, errors.New("is not made of 2, 32, 16 and 2 characters joined by hyphens")
	case !hexBytes(c.Trace[:], traceparent[traceAt:]):
		return Context{}, errors.New("has a trace id that is not lower-case hex")
	case !hexBytes(c.Parent[:], traceparent[parentAt:]):
		return Context{}, errors.New("has a parent id that is not lower-case hex")
	case c.Trace == TraceID{}:
		return Context{}, errors.New("has a trace id of zeros only")
	case c.Parent == SpanID{}:
		return Context{}, errors.New("has a parent id of zeros only")
	}
	if c.Flags, ok = hexByte(traceparent[flagsAt:]); !ok {
		return Context{}, errors.New("has flags that are not two lower-case hex digits")
	}
	switch more := traceparent[size:]; {
	case len(more) == 0:
	case version == 0:
		return Context{}, fmt.Errorf("of version 00 goes on after the flags, for %d characters", len(more))
	case more[0] != '-':
		return Context{}, errors.New("goes on after the flags without a hyphen")
	}
	c.Version = version
	return c, nil
}

// ParseTraceID reads what [TraceID.String] writes; false if it is anything else.
func ParseTraceID(text string) (id TraceID, ok bool) {
	if len(text) != 2*len(id) || !hexBytes(id[:], []byte(text)) {
		return TraceID{}, false
	}
	return id, id != TraceID{}
}

// hexByte reads two lower-case hex digits.
func hexByte(text []byte) (byte, bool) {
	if len(text) < 2 {
		return 0, false
	}
	high, ok := hexDigit(text[0])
	low, fine := hexDigit(text[1])
	return high<<4 | low, ok && fine
}

// hexBytes fills to from the beginning of text.
func hexBytes(to, text []byte) (ok bool) {
	for i := range to {
		if to[i], ok = hexByte(text[2*i:]); !ok {
			return false
		}
	}
	return true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
