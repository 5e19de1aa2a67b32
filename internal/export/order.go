package export

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"slices"

	"mcpsnoop/internal/capture"
)

// sequence tells in which order frames of several taps belong: by time, within a tap
// as they were numbered, equal times by label, then by id.
type sequence struct {
	ordered bool // they came in that order so far
	last    position
	taps    map[string]*clock
}

// clock is how far a tap has come. Within a tap time never goes back.
type clock struct {
	label, id string
	number    int // in order of first frames
	now       int64
}

// position is where a frame belongs.
type position struct {
	time int64
	tap  *clock
}

func newSequence() *sequence { return &sequence{ordered: true, taps: map[string]*clock{}} }

func (p position) compare(q position) int {
	if p.tap == q.tap {
		return cmp.Compare(p.time, q.time)
	}
	return cmp.Or(cmp.Compare(p.time, q.time), cmp.Compare(p.tap.label, q.tap.label), cmp.Compare(p.tap.id, q.tap.id))
}

// next returns where the next frame of a log belongs.
func (s *sequence) next(f *capture.Frame) position {
	c := s.taps[f.Tap]
	if c == nil {
		c = &clock{label: f.Label, id: f.Tap, number: len(s.taps)}
		s.taps[f.Tap] = c
	}
	if !f.Time.IsZero() {
		c.now = max(c.now, f.Time.UnixNano())
	}
	p := position{c.now, c}
	if s.last.tap != nil && p.compare(s.last) < 0 {
		s.ordered = false
	}
	s.last = p
	return p
}

// merger writes events of several taps in order where the log has them otherwise,
// such as one tap behind the other. Each tap by itself is in order. Heads of events
// wait on disk, payloads where they are.
type merger struct {
	out   format
	heads *scratch
	taps  []*strand // by number
	last  *strand
	buf   []byte
	read  recent
}

// strand is the events of one tap: where they lie, and how far they are written.
type strand struct {
	tap  *clock
	runs []stretch // not written yet
	time int64     // of the next event
}

// stretch is events of one tap, one behind the other.
type stretch struct{ from, to int64 }

// fixedLen is what stands before the head of a waiting event: its time, its element,
// whether it has a raw payload, where its frame lies, how long its head is.
const fixedLen = 8 + 4 + 1 + refLen + 4

func newMerger(out format, log Log, temp string) (*merger, error) {
	heads, err := newScratch(temp)
	return &merger{out: out, heads: heads, read: recent{log: log}}, err
}

func (s *merger) close() { s.heads.close() }

func (s *merger) put(e *event, ref capture.Ref, at position) error {
	head, err := s.out.render(e)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint64(s.buf[:0], uint64(at.time))
	b = binary.LittleEndian.AppendUint32(b, uint32(e.element()))
	if e.frame.Form == capture.Raw {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = binary.LittleEndian.AppendUint32(appendRef(b, ref), uint32(len(head)))
	s.buf = b
	from, err := s.heads.write(b, head)
	if err != nil {
		return err
	}
	s.strandOf(at.tap, from).to = s.heads.at
	return nil
}

// strandOf returns the stretch to which an event that lies there belongs.
func (s *merger) strandOf(tap *clock, from int64) *stretch {
	for len(s.taps) <= tap.number {
		s.taps = append(s.taps, nil)
	}
	t := s.taps[tap.number]
	if t == nil {
		t = &strand{tap: tap}
		s.taps[tap.number] = t
	}
	if t != s.last {
		t.runs = append(t.runs, stretch{from: from})
		s.last = t
	}
	return &t.runs[len(t.runs)-1]
}

// end merges.
func (s *merger) end() error {
	if err := s.heads.flush(); err != nil {
		return err
	}
	var queue strands
	for _, t := range s.taps {
		if t == nil {
			continue
		}
		if err := s.look(t); err != nil {
			return err
		}
		queue = append(queue, t)
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		t := queue[0]
		if err := s.emit(t); err != nil {
			return err
		}
		if len(t.runs) == 0 {
			heap.Pop(&queue)
			continue
		}
		if err := s.look(t); err != nil {
			return err
		}
		heap.Fix(&queue, 0)
	}
	return nil
}

// look reads the time of the next event of a tap.
func (s *merger) look(t *strand) error {
	var b [8]byte
	if err := s.heads.readAt(b[:], t.runs[0].from); err != nil {
		return err
	}
	t.time = int64(binary.LittleEndian.Uint64(b[:]))
	return nil
}

// emit writes the next event of a tap.
func (s *merger) emit(t *strand) error {
	r := &t.runs[0]
	var fixed [fixedLen]byte
	if err := s.heads.readAt(fixed[:], r.from); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(fixed[fixedLen-4:]))
	s.buf = slices.Grow(s.buf[:0], n)[:n]
	if err := s.heads.readAt(s.buf, r.from+fixedLen); err != nil {
		return err
	}
	if r.from += int64(fixedLen + n); r.from == r.to {
		t.runs = t.runs[1:]
	}
	var raw []byte
	if fixed[12] == 1 {
		f, err := s.read.fetch(readRef(fixed[13:]))
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		raw = rawOf(&f.pieces, f.frame, int32(binary.LittleEndian.Uint32(fixed[8:])))
	}
	return s.out.emit(s.buf, raw)
}

// strands is a heap of taps by their next events.
type strands []*strand

func (q strands) Len() int { return len(q) }
func (q strands) Less(i, j int) bool {
	return position{q[i].time, q[i].tap}.compare(position{q[j].time, q[j].tap}) < 0
}
func (q strands) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *strands) Push(x any)   { *q = append(*q, x.(*strand)) }
func (q *strands) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	*q = (*q)[:last]
	return t
}
