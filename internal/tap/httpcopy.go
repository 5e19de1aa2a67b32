package tap

import (
	"mcpsnoop/internal/capture"
)

// take adds a piece of the body. When it was the last, it returns the body, decoded
// and as far as it is kept; the memory may be the record's.
func (b *bodyCopy) take(w *httpWriter, rec *record, contentEncoding []string, limit int64) (payload []byte, done bool) {
	last, data := rec.bits&bitLast != 0, rec.data()
	if rec.bits&bitHole != 0 {
		b.drop(w)
		b.hole = true
	}
	if b.hole {
		return nil, false
	}
	b.wire += int64(len(data))
	if b.buf == nil {
		b.buf = w.buffer()
	}
	if !b.begun {
		b.begun = true
		b.coded = newDecoding(contentEncoding)
	}
	if b.coded == nil {
		if last && len(b.buf) == 0 && int64(len(data)) <= limit {
			b.cut = b.cut || rec.size > b.wire
			return data, true
		}
		b.add(data, limit)
	} else {
		b.decode(data, last, limit)
	}
	if !last {
		return nil, false
	}
	b.cut = b.cut || rec.size > b.wire
	return b.finish(), true
}

// keepRaw is how much of a coded body is kept as it came, for the case that it turns
// out not to be coded as it says.
const keepRaw = 64 << 10

func (b *bodyCopy) decode(data []byte, last bool, limit int64) {
	if b.coded.out == 0 && len(b.raw) < keepRaw {
		b.raw = append(b.raw, data[:min(len(data), keepRaw-len(b.raw))]...)
	}
	b.coded.feed(data, last, func(out []byte) bool {
		b.raw = nil
		return b.add(out, limit)
	})
	if err := b.coded.err; err != nil && b.coded.out > 0 {
		b.cut = true
	}
}

// add keeps a piece as far as there is room, and returns false if there was not.
func (b *bodyCopy) add(data []byte, limit int64) bool {
	if room := limit - int64(len(b.buf)); int64(len(data)) > room {
		data = data[:max(room, 0)]
		b.cut = true
	}
	b.buf = append(b.buf, data...)
	return !b.cut
}

// finish returns what is kept.
func (b *bodyCopy) finish() []byte {
	if c := b.coded; c != nil {
		if c.err != nil && c.out == 0 && b.raw != nil {
			b.buf, b.cut = b.raw, b.cut || int64(len(b.raw)) < b.wire
		}
		c.stop()
	}
	return b.buf
}

// frame makes the frame of a body.
func (b *bodyCopy) frame(dir capture.Dir, payload []byte, size int64) capture.Frame {
	f := capture.Frame{Dir: dir, Form: capture.Unjudged, Payload: payload, Size: size}
	if b.cut {
		f.Flags, f.Payload = capture.Truncated, wholeRunes(payload)
	}
	return f
}

// drop lets go of what is kept.
func (b *bodyCopy) drop(w *httpWriter) {
	if b.coded != nil {
		b.coded.stop()
	}
	w.recycle(b.buf)
	*b = bodyCopy{begun: b.begun}
}

// Buffers for bodies are used again, so many of them and up to so large: a body that
// grows in a new one costs as much again as all else that is done with it.
const (
	spareBuffers = 8
	spareSize    = 4 << 20
)

// buffer returns an empty buffer.
func (h *httpWriter) buffer() []byte {
	if n := len(h.spare); n > 0 {
		b := h.spare[n-1]
		h.spare = h.spare[:n-1]
		return b
	}
	return []byte{}
}

func (h *httpWriter) recycle(b []byte) {
	if cap(b) > 0 && cap(b) <= spareSize && len(h.spare) < spareBuffers {
		h.spare = append(h.spare, b[:0])
	}
}
