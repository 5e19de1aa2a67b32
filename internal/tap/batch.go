package tap

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"mcpsnoop/internal/capture"
)

// entry is a frame in the batch.
type entry struct {
	end    int    // in the batch
	before uint64 // the last number given before it and the loss it tells of
	lost   uint64 // frames of the traffic lost when it is: itself, or those a gap tells of
	bytes  int64  // of them on the wire
	reason string // of a gap
	start  bool
}

// gap is a loss that no gap frame tells of yet.
type gap struct {
	lost   uint64
	bytes  int64
	reason string
}

func (g *gap) add(lost uint64, bytes int64, reason string) {
	g.lost += lost
	g.bytes += bytes
	switch {
	case g.reason == "":
		g.reason = reason
	case !strings.Contains(g.reason, reason):
		g.reason += ", " + reason
	}
}

// part is what the writer knows of the part of the log that it writes.
type part struct {
	frames  uint64
	gone    bool
	checked time.Duration // when it was last looked for
}

// said is what was reported, once.
type said struct{ noWrite, noSync, noPart bool }

// lose counts frames that are not recorded.
func (w *writer) lose(frames int64, bytes int64, reason string) {
	w.totals.lose(uint64(frames), reason)
	w.gap.add(uint64(frames), bytes, reason)
}

// tick looks what time it is. Where wall and monotonic time have parted since the
// last record, a frame says so.
func (w *writer) tick(rec *record) {
	wall, mono := time.Duration(rec.wall-w.wall), time.Duration(rec.mono-w.mono)
	first := w.wall == 0
	w.wall, w.mono = rec.wall, rec.mono
	w.latest = max(w.latest, rec.wall)
	if jump := wall - mono; !first && (jump > clockJump || jump < -clockJump) && w.notes != nil {
		w.catchUp()
		f := w.own()
		w.notes.Clock(f, capture.ClockInfo{Wall: wall, Mono: mono})
		w.put(f, entry{before: w.seq})
	}
}

// emit puts a frame of the traffic into the batch.
func (w *writer) emit(f *capture.Frame, bytes int64) {
	w.catchUp()
	w.put(f, entry{before: w.seq, lost: 1, bytes: bytes})
	if len(w.out) >= batchBytes {
		w.flush()
	}
}

// catchUp puts down what has to stand before any other frame: the start, if it was
// lost, and a gap, if one is owed.
func (w *writer) catchUp() {
	if !w.started {
		w.start()
	}
	if g := w.gap; g.lost > 0 {
		before := w.seq
		w.seq += g.lost
		w.gap = gap{}
		info := capture.GapInfo{Lost: g.lost, First: before + 1, Last: w.seq, Bytes: g.bytes, Reason: g.reason}
		f := w.own()
		w.notes.Gap(f, info)
		w.put(f, entry{before: before, lost: g.lost, bytes: g.bytes, reason: g.reason})
	}
}

func (w *writer) start() {
	w.started = true
	f := w.own()
	w.notes.Start(f)
	w.put(f, entry{before: w.seq, start: true})
}

// own begins a frame of the tap's own.
func (w *writer) own() *capture.Frame { return &capture.Frame{Mono: time.Duration(w.mono)} }

// put numbers and encodes a frame.
func (w *writer) put(f *capture.Frame, e entry) {
	w.seq++
	f.Tap, f.Label, f.Seq = w.tap, w.label, w.seq
	f.Transport, f.Time = w.http.transport(), time.Unix(0, w.latest).UTC()
	if w.redact != nil {
		*f = w.redact(*f)
	}
	w.out = capture.AppendFrame(w.out, f)
	e.end = len(w.out)
	w.batch = append(w.batch, e)
}

// outRoom is how much memory the batch keeps for the next one.
const outRoom = 4 << 20

// flush writes the batch.
func (w *writer) flush() {
	if len(w.batch) == 0 || w.abandoned {
		return
	}
	w.turn()
	var n int
	var err error
	w.outside(func() { n, err = w.log.Write(w.out) })
	if w.abandoned {
		return
	}
	w.settle(n, err)
	w.batch = w.batch[:0]
	if w.out = w.out[:0]; cap(w.out) > outRoom {
		w.out = nil
	}
	w.look(false)
}

// outside does what may take long.
func (w *writer) outside(f func()) {
	mu := w.http.mutex(w)
	mu.Unlock()
	defer mu.Lock()
	f()
}

// settle counts what became of the batch. Frames that did not get into the log give
// back their numbers, so that the gap that will tell of them can take just those.
func (w *writer) settle(n int, err error) {
	written := len(w.batch)
	if err != nil {
		for written = 0; written < len(w.batch) && w.batch[written].end <= n; written++ {
		}
	}
	w.totals.frames += uint64(written)
	w.part.frames += uint64(written)
	if written == len(w.batch) {
		return
	}
	reason := cause(err)
	if !w.said.noWrite {
		w.said.noWrite = true
		w.notify(fmt.Sprintf("mcpsnoop: warning: %v; traffic goes on unrecorded", err))
	}
	after := w.gap // lost since, and so later
	w.gap = gap{}
	w.seq = w.batch[written].before
	for _, e := range w.batch[written:] {
		switch {
		case e.start:
			w.started = false
		case e.reason != "":
			w.gap.add(e.lost, e.bytes, e.reason)
		case e.lost > 0:
			w.totals.lose(e.lost, reason)
			w.gap.add(e.lost, e.bytes, reason)
		}
	}
	if after.lost > 0 {
		w.gap.add(after.lost, after.bytes, after.reason)
	}
}

// sync has the log outlast the machine.
func (w *writer) sync() {
	if w.abandoned {
		return
	}
	var err error
	w.outside(func() { err = w.log.Sync() })
	if err != nil && !w.abandoned && !w.said.noSync {
		w.said.noSync = true
		w.notify(fmt.Sprintf("mcpsnoop: warning: %v; if the machine stops now, frames are lost", err))
	}
}

// cause returns the system's own words for an error, if it has any.
func cause(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// turn goes on in a next part of the log when this one is full.
func (w *writer) turn() {
	size := w.log.Size()
	if size == 0 || size+int64(len(w.out)) <= w.limits.LogBytes {
		return
	}
	w.look(true)
	var err error
	w.outside(func() { err = w.log.NextPart() })
	switch {
	case w.abandoned:
	case err == nil:
		w.part = part{checked: w.part.checked}
	case !w.said.noPart:
		w.said.noPart = true
		w.notify(fmt.Sprintf("mcpsnoop: warning: %v; the log goes on growing", err))
	}
}

// lookAgain is how often the writer looks whether the log is still there.
const lookAgain = time.Second

// look looks whether the log is still there. The last look at a part counts what
// was lost with it.
func (w *writer) look(last bool) {
	now := time.Duration(w.mono)
	if w.abandoned || !last && (w.part.gone || now-w.part.checked < lookAgain) {
		return
	}
	w.part.checked = now
	var gone bool
	path := w.log.Path()
	w.outside(func() { gone = w.log.Gone() })
	if w.abandoned || !gone {
		return
	}
	if !w.part.gone {
		w.part.gone = true
		w.notify(fmt.Sprintf("mcpsnoop: warning: the log %q was removed while it was written; traffic goes on", path))
	}
	if last {
		w.totals.removed += w.part.frames
		w.part.frames = 0
	}
}

// end writes the last frame.
func (w *writer) end() {
	if w.abandoned || w.notes == nil {
		return
	}
	w.catchUp()
	info := w.endInfo
	info.Frames = w.totals.frames + uint64(len(w.batch)) + 1
	info.Dropped = w.totals.lost
	f := w.own()
	w.notes.End(f, info)
	w.put(f, entry{before: w.seq})
	w.flush()
	w.look(true)
}

// abandon counts what is left as lost, since the log does not return.
func (w *writer) abandon(r *recorder) totals {
	w.mu.Lock()
	defer w.mu.Unlock()
	const reason = "the log did not take them"
	for _, log := range w.logs() {
		log.abandoned = true
		for _, e := range log.batch {
			if e.lost > 0 && e.reason == "" {
				log.totals.lose(e.lost, reason)
			}
		}
	}
	w.abandoned = true
	if w.rest != nil {
		w.split(&w.work.records[w.at-1], true)
	}
	r.mu.Lock()
	queued := r.queue.take()
	r.mu.Unlock()
	for _, s := range []*segment{w.work, queued} {
		for ; s != nil; s = s.next {
			for i := range s.n {
				if s != w.work || i >= w.at {
					w.record(&s.records[i], true)
				}
			}
		}
	}
	w.sumUp()
	return w.totals
}
