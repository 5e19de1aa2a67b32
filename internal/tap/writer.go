package tap

import (
	"bytes"
	"sync"
	"time"
	"unicode/utf8"

	"mcpsnoop/internal/capture"
)

// clockJump is how far wall and monotonic time may part between two frames before
// that is recorded.
const clockJump = 2 * time.Second

// writer follows the queue: it splits chunks into lines, numbers them, encodes and
// appends them to the log. Numbers are given here, in the order of the queue; what
// was lost takes its numbers too, when the gap that tells of it is written.
type writer struct {
	tap, label string
	log        Log
	limits     Limits
	redact     func(capture.Frame) capture.Frame
	notify     func(string)
	endInfo    capture.EndInfo // set before the queue closes

	// mu is held except while the log is at work, so that when it never returns,
	// somebody else can count what is left.
	mu        sync.Mutex
	abandoned bool
	work      *segment // being written
	at        int      // the next record of work
	rest      []byte   // what is left of the record before that

	notes   *capture.Notes
	lines   [streams]line
	frame   capture.Frame // reused
	seq     uint64        // the last number given
	wall    int64         // of the last record
	mono    int64
	latest  int64 // latest wall time of a record
	out     []byte
	batch   []entry // the frames in out
	started bool    // the start is written or in the batch
	part    part
	said    said
	gap     gap // what was lost since the last gap was put down
	totals  totals
	http    httpWriter
}

// line is an unfinished line.
type line struct {
	kept []byte // its beginning, as far as it is recorded
	size int64  // bytes on the wire
	cr   bool   // the last of them is a carriage return
}

func newWriter(cfg *Recording) *writer {
	notify := cfg.Notify
	if notify == nil {
		notify = func(string) {}
	}
	return &writer{
		tap: cfg.Tap, label: cfg.Label, log: cfg.Log, limits: cfg.Limits, redact: cfg.Redact, notify: notify,
	}
}

// write writes work, and with it all before it. It returns false when the writer
// is to end.
func (w *writer) write(r *recorder, work *segment, sync, last bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.work = work; w.work != nil; {
		cost := int64(0)
		for w.at = 0; w.at < w.work.n; {
			rec := &w.work.records[w.at]
			w.at++
			cost += rec.cost()
			w.record(rec, r.hurry.Load())
			if w.abandoned {
				return false
			}
		}
		s := w.work
		w.work = s.next
		r.written(s, cost-w.http.moreParked())
	}
	for _, log := range w.logs() {
		log.flush()
		if last {
			log.endInfo = w.endInfo
			log.end()
		}
		if sync {
			log.sync()
		}
	}
	if last {
		w.sumUp()
	}
	return !last && !w.abandoned
}

// record handles one record. In a hurry, nothing more is encoded.
func (w *writer) record(rec *record, hurry bool) {
	if !hurry {
		w.tick(rec)
	}
	l := &w.lines[rec.stream]
	if rec.elided > 0 {
		l.size += rec.elided
		l.cr = rec.cr
	}
	switch rec.kind {
	case startRecord:
		w.notes = capture.NewNotes(*rec.start)
		w.start()
	case chunkRecord:
		w.rest = rec.block.buf[rec.lo:rec.hi]
		if w.split(rec, hurry) {
			rec.block.release(1)
		}
	case endRecord:
		if l.size > 0 {
			w.line(rec, l, nil, 0, hurry)
		}
	case lossRecord:
		bytes := rec.bytes
		for s, broken := range rec.broken {
			if broken {
				bytes += w.lines[s].size
				w.lines[s].reset()
			}
		}
		w.lose(rec.frames, bytes, "queue full")
	case httpRecord:
		w.httpRecord(rec, hurry)
	}
}

// split makes frames of the lines that end in what is left of a chunk, and keeps the
// beginning of the next. It returns false if it was abandoned in between.
func (w *writer) split(rec *record, hurry bool) bool {
	l := &w.lines[rec.stream]
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			break
		}
		tail := w.rest[:i]
		w.rest = w.rest[i+1:]
		w.line(rec, l, tail, 1, hurry)
		if w.abandoned && !hurry {
			return false
		}
	}
	l.keep(w.rest, w.limits.MessageBytes)
	w.rest = nil
	return true
}

// line makes a frame of a line whose last bytes are tail and whose line feed, if it
// has one, is lf bytes long.
func (w *writer) line(rec *record, l *line, tail []byte, lf int64, hurry bool) {
	defer l.reset()
	content := l.size + int64(len(tail))
	size := content + lf
	if hurry {
		w.lose(1, size, "still queued at exit")
		return
	}
	cr := l.cr
	payload := tail
	if len(tail) > 0 {
		cr = tail[len(tail)-1] == '\r'
	}
	if l.size > 0 {
		l.keep(tail, w.limits.MessageBytes)
		payload = l.kept
	}
	eol := capture.NoEOL
	if lf > 0 {
		if eol = capture.LF; cr {
			eol = capture.CRLF
			content--
		}
	}
	flags := capture.Flags(0)
	if content > w.limits.MessageBytes {
		flags = capture.Truncated
		payload = wholeRunes(payload[:w.limits.MessageBytes])
	} else {
		payload = payload[:content]
	}
	form := capture.Unjudged
	if rec.stream == stderr { // never a message, whatever it looks like
		if form = capture.Bytes; utf8.Valid(payload) {
			form = capture.Text
		}
	}
	w.frame = capture.Frame{
		Dir: rec.stream.dir(), Form: form, Payload: payload, Size: size, EOL: eol, Flags: flags,
		Mono: time.Duration(rec.mono),
	}
	w.emit(&w.frame, size)
}

// wholeRunes cuts off the beginning of a character that is not all there.
func wholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// keep appends to the line, of whose bytes no more than limit are kept.
func (l *line) keep(data []byte, limit int64) {
	if len(data) == 0 {
		return
	}
	if room := limit - int64(len(l.kept)); room > 0 {
		l.kept = append(l.kept, data[:min(int64(len(data)), room)]...)
	}
	l.size += int64(len(data))
	l.cr = data[len(data)-1] == '\r'
}

// keptRoom is how much memory a line keeps for the next one.
const keptRoom = 4 << 20

func (l *line) reset() {
	l.size, l.cr = 0, false
	if l.kept = l.kept[:0]; cap(l.kept) > keptRoom {
		l.kept = nil
	}
}
