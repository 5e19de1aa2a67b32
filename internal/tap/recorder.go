package tap

import (
	"bytes"
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"mcpsnoop/internal/capture"
)

const (
	// coalesce is how long frames wait for others to be written with.
	coalesce = 5 * time.Millisecond
	// batchBytes is how much is written without waiting for more.
	batchBytes = 256 << 10
	// restAfter is after how many empty looks the writer sleeps until it is woken.
	// While traffic flows, no frame has to wake it.
	restAfter = 20
)

// waits are how long the end waits for the log to take what is queued, and then for
// one write that does not return.
type waits struct{ exit, stuck time.Duration }

var usualWaits = waits{exit: time.Second, stuck: 250 * time.Millisecond}

// recorder puts what passes in order and has it written.
type recorder struct {
	clock clock
	bound int64 // of held
	copyN int64 // bytes of a message that are kept
	waits waits

	mu     sync.Mutex
	queue  queue
	held   int64 // cost of what is queued and being encoded
	fresh  int64 // cost of what was queued since the writer last looked
	closed bool
	idle   bool // the writer sleeps until it is woken
	urgent bool // the writer shall not wait for more
	sync   bool // the writer shall sync
	lines  [streams]pumpLine
	wake   chan struct{}
	httpQueue

	w       *writer
	hurry   atomic.Bool   // what is still queued shall be dropped
	stopped chan struct{} // closed when the writer goroutine has ended
}

// pumpLine is what the queue's entrance knows of the unfinished line of a stream.
type pumpLine struct {
	kept   int64 // bytes in the queue, at least
	elided int64
	cr     bool // the last elided byte is a carriage return
	broken bool // a part of it was lost, so all of it is
	ended  bool // the stream has
}

func newRecorder(cfg *Recording) *recorder {
	r := &recorder{
		clock: cfg.clock, bound: cfg.Limits.QueueBytes, copyN: cfg.Limits.MessageBytes,
		waits: waits{cmp.Or(cfg.waits.exit, usualWaits.exit), cmp.Or(cfg.waits.stuck, usualWaits.stuck)},
		wake:  make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	r.w = newWriter(cfg)
	go r.write()
	return r
}

// begin records the start of the tap. It comes before all else.
func (r *recorder) begin(info capture.StartInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.add()
	*rec = record{kind: startRecord, start: &info}
	r.stamp(rec)
	r.signal(recordCost)
}

// chunk records the bytes b.buf[lo:hi] of a stream. It reports whether a line ends
// there, and whether the bytes are kept and must not be written over.
func (r *recorder) chunk(s stream, b *block, lo, hi int) (lineEnds, kept bool) {
	first := bytes.IndexByte(b.buf[lo:hi], '\n')
	r.mu.Lock()
	defer r.mu.Unlock()
	return first >= 0, r.place(s, b, lo, hi, first)
}

// place finds room for a chunk whose first line end is at lo+first, if it has one.
func (r *recorder) place(s stream, b *block, lo, hi, first int) (kept bool) {
	l := &r.lines[s]
	if r.closed || l.ended {
		return false
	}
	if l.broken {
		if first < 0 {
			r.lose(s, 0, int64(hi-lo))
			return false
		}
		r.lose(s, 1, int64(first+1))
		*l = pumpLine{}
		if lo += first + 1; lo == hi {
			return false
		}
		first = bytes.IndexByte(b.buf[lo:hi], '\n')
	}
	data := b.buf[lo:hi]
	if first < 0 && l.kept > r.copyN {
		l.elided += int64(len(data))
		l.cr = data[len(data)-1] == '\r'
		return false
	}
	if r.held+int64(len(data))+recordCost > r.bound {
		r.lose(s, int64(bytes.Count(data, []byte{'\n'})), int64(len(data))+l.elided)
		*l = pumpLine{broken: data[len(data)-1] != '\n'}
		return false
	}
	b.refs.Add(1)
	rec := r.add()
	*rec = record{kind: chunkRecord, stream: s, block: b, lo: int32(lo), hi: int32(hi), elided: l.elided, cr: l.cr}
	r.stamp(rec)
	r.signal(rec.cost())
	if first >= 0 {
		*l = pumpLine{}
	} else {
		l.kept, l.elided = l.kept+int64(len(data)), 0
	}
	return true
}

// end records that a stream has ended. What comes of it later is not recorded.
func (r *recorder) end(s stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLine(s)
}

func (r *recorder) endLine(s stream) {
	l := &r.lines[s]
	if r.closed || l.ended {
		return
	}
	l.ended = true
	if l.broken {
		r.lose(s, 1, 0)
		return
	}
	rec := r.add()
	*rec = record{kind: endRecord, stream: s, elided: l.elided, cr: l.cr}
	r.stamp(rec)
	r.signal(recordCost)
}

// lose records that frames found no room, and that the unfinished line of s before
// them will not be finished. All that is lost in a row is one record.
func (r *recorder) lose(s stream, frames, bytes int64) {
	rec := r.queue.last()
	if rec == nil || rec.kind != lossRecord {
		rec = r.add()
		*rec = record{kind: lossRecord}
		r.stamp(rec)
		r.signal(recordCost)
	}
	rec.frames += frames
	rec.bytes += bytes
	rec.broken[s] = true
}

func (r *recorder) add() *record { return r.queue.push() }

// stamp gives a record its time. The lock makes times follow the order.
func (r *recorder) stamp(rec *record) {
	wall, mono := r.clock()
	rec.wall, rec.mono = wall, int64(mono)
}

// signal counts a record and wakes the writer if it must be.
func (r *recorder) signal(cost int64) {
	r.held += cost
	r.fresh += cost
	switch {
	case r.idle:
		r.idle = false
	case r.fresh >= batchBytes && !r.urgent:
		r.urgent = true
	default:
		return
	}
	r.rouse()
}

func (r *recorder) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// flush has everything written and synced at once, and does not wait for it.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sync, r.urgent, r.idle = true, true, false
	r.rouse()
}

// close writes what is queued and the end, for as long as that may take, and
// returns what became of it all.
func (r *recorder) close(end capture.EndInfo) totals {
	r.mu.Lock()
	for s := range streams { // of pumps that never came back
		r.endLine(s)
	}
	r.w.endInfo = end
	r.closed, r.urgent, r.idle = true, true, false
	r.rouse()
	r.mu.Unlock()
	if r.waitStopped(r.waits.exit) {
		return r.w.totals
	}
	r.hurry.Store(true)
	if r.waitStopped(r.waits.stuck) {
		return r.w.totals
	}
	return r.w.abandon(r)
}

func (r *recorder) waitStopped(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.stopped:
		return true
	case <-t.C:
		return false
	}
}

// next waits until there is something to write, and takes it.
func (r *recorder) next(timer *time.Timer) (work *segment, sync, closed bool) {
	for looks := 0; ; looks++ {
		r.mu.Lock()
		if !r.urgent && looks == 0 {
			r.mu.Unlock()
			r.pause(timer)
			r.mu.Lock()
		}
		if r.urgent || r.queue.head != nil {
			work, sync, closed = r.queue.take(), r.sync, r.closed
			r.fresh, r.urgent, r.sync = 0, false, false
			select {
			case <-r.wake: // it is for what was just taken
			default:
			}
			r.mu.Unlock()
			return work, sync, closed
		}
		if looks >= restAfter {
			r.idle = true
			r.mu.Unlock()
			<-r.wake
			looks = -1 // the first frame waits for others
			continue
		}
		r.mu.Unlock()
		r.pause(timer)
	}
}

// pause lets frames gather.
func (r *recorder) pause(timer *time.Timer) {
	timer.Reset(coalesce)
	select {
	case <-timer.C:
	case <-r.wake:
	}
}

// write is the writer goroutine.
func (r *recorder) write() {
	defer close(r.stopped)
	yieldCPU()
	timer := time.NewTimer(coalesce)
	defer timer.Stop()
	for {
		work, sync, closed := r.next(timer)
		if !r.w.write(r, work, sync || closed, closed) {
			return
		}
	}
}

// written gives back what a segment held.
func (r *recorder) written(s *segment, cost int64) {
	r.mu.Lock()
	r.held -= cost
	r.queue.give(s)
	r.mu.Unlock()
}
