package session

import (
	"slices"

	"mcpsnoop/internal/capture"
)

// tap is what is known of one recorder: where its record begins and ends, and what
// the numbering of its frames says is missing.
type tap struct {
	id, label  string
	transport  capture.Transport
	sessions   []*conversation
	parties    parties
	start      capture.StartInfo
	end        *capture.EndInfo
	missing    int
	unreadable int
	torn       int
	notes      []GapNote
	more       int // notes beyond maxNotes

	numbered bool
	loose    bool   // recorded so that frames may stand out of order
	next     uint64 // number that the next frame should have
	holes    []span // not yet certain: a frame out of order may fill them
	told     []span // named by gap frames, so not to be counted again
	excuse   uint64 // frames that are known to be lost, by lines that could not be read or gap frames without numbers
}

// span is a run of numbers, both ends included.
type span struct{ first, last uint64 }

func (s span) len() uint64 { return s.last - s.first + 1 }

// Limits: notes that are kept, spans that are kept in mind, and how far out of order
// a frame can be.
const (
	maxNotes = 1000
	maxSpans = 64
	disorder = 1024
)

// number takes the number of a frame and notes what is missing before it.
func (t *tap) number(f *capture.Frame, line int, note func(GapNote)) {
	excuse := t.excuse
	t.excuse = 0
	if f.Flags&capture.Sparse != 0 {
		return
	}
	if !t.numbered {
		t.numbered = true
		t.next = min(1, f.Seq)
	}
	t.loose = f.Transport == capture.HTTP && f.Mono == capture.NoMono
	if f.Kind == capture.Gap {
		excuse += t.gap(f, line, note)
	}
	switch {
	case f.Seq < t.next:
		t.fill(f.Seq)
		return
	case f.Seq > t.next:
		t.hole(span{t.next, f.Seq - 1}, excuse, line, note)
	}
	t.next = f.Seq + 1
	t.told = slices.DeleteFunc(t.told, func(s span) bool { return s.last < t.next })
	for len(t.holes) > 0 && t.holes[0].last+disorder < t.next {
		t.certain(t.holes[0], line, note)
		t.holes = t.holes[1:]
	}
}

// gap takes a gap frame, and returns how many frames it tells of without numbers.
func (t *tap) gap(f *capture.Frame, line int, note func(GapNote)) uint64 {
	g, err := capture.ParseGap(f.Payload)
	if err != nil {
		return 0
	}
	numbered := g.First > 0 && g.First <= g.Last
	if g.Lost == 0 && numbered {
		g.Lost = span{g.First, g.Last}.len()
	}
	t.lack(g.Lost)
	note(GapNote{Kind: Lost, Line: line, Seq: t.before(), Gap: g})
	if !numbered {
		return g.Lost
	}
	if g.Last >= t.next && len(t.told) < maxSpans {
		t.told = append(t.told, span{g.First, g.Last})
	}
	return 0
}

// hole takes a run of numbers that did not come, less what is known of it already.
func (t *tap) hole(h span, excuse uint64, line int, note func(GapNote)) {
	rest := []span{h}
	for _, told := range t.told {
		var left []span
		for _, r := range rest {
			left = append(left, r.without(told)...)
		}
		rest = left
	}
	for _, r := range rest {
		if used := min(excuse, r.len()); used > 0 {
			excuse -= used
			if used == r.len() {
				continue
			}
			r.first += used
		}
		if t.loose && len(t.holes) < maxSpans {
			t.holes = append(t.holes, r)
			continue
		}
		t.certain(r, line, note)
	}
}

func (s span) without(x span) (left []span) {
	if x.last < s.first || x.first > s.last {
		return []span{s}
	}
	if x.first > s.first {
		left = append(left, span{s.first, x.first - 1})
	}
	if x.last < s.last {
		left = append(left, span{x.last + 1, s.last})
	}
	return left
}

// fill takes a frame that stands after one of a higher number.
func (t *tap) fill(seq uint64) {
	for i, h := range t.holes {
		if seq < h.first || seq > h.last {
			continue
		}
		t.holes = slices.Replace(t.holes, i, i+1, h.without(span{seq, seq})...)
		return
	}
}

func (t *tap) certain(h span, line int, note func(GapNote)) {
	t.lack(h.len())
	note(GapNote{Kind: Hole, Line: line, Seq: max(h.first, 1) - 1, Gap: capture.GapInfo{Lost: h.len(), First: h.first, Last: h.last}})
}

// finish says that no frame will fill a hole any more.
func (t *tap) finish() {
	for _, h := range t.holes {
		t.certain(h, 0, t.note)
	}
	t.holes = nil
}

// skip notes a line that could not be read.
func (t *tap) skip(e *capture.LineError) {
	n := GapNote{Kind: Skipped, Line: e.Line, Bytes: e.Len, Seq: t.before()}
	if e.Err != nil {
		n.Why = e.Err.Error()
	}
	if e.Torn {
		n.Kind = TornEnd
		t.torn = 1
	} else {
		t.unreadable++
		t.excuse++
	}
	t.note(n)
}

func (t *tap) note(n GapNote) {
	if len(t.notes) >= maxNotes {
		t.more++
		return
	}
	t.notes = append(t.notes, n)
}

// before returns the number of the last frame.
func (t *tap) before() uint64 { return max(t.next, 1) - 1 }

// lack counts missing frames. A forged number must not make the count overflow.
func (t *tap) lack(n uint64) {
	t.missing = int(min(uint64(t.missing)+min(n, mostMissing), mostMissing))
}

const mostMissing = 1 << 53
