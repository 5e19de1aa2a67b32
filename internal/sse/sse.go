// Package sse decodes event streams (text/event-stream) as they pass, in whatever
// pieces they come.
//
// It follows the WHATWG grammar, and tells what that grammar drops: comments, events
// without data, and an event that the end of the stream cut off, which no client
// dispatches.
package sse

import "bytes"

// Event is what stands between two blank lines of a stream.
type Event struct {
	ID      string // of the last "id" field; one with a NUL is ignored, as in the grammar
	Name    string // of the last "event" field
	Data    []byte // "data" fields joined by line feeds; valid until the decoder is used again
	Comment string // lines that begin with a colon, joined by line feeds
	Retry   int64  // milliseconds of the last "retry" field of digits, 0 if there is none
	Size    int64  // bytes on the wire, with the blank line and blank lines before it
	// Cut says that Data was longer than is kept, Broken that the stream ended before
	// the blank line.
	Cut, Broken bool
}

// maxValue is how much is kept of an id, a name, or an event's comments.
const maxValue = 8 << 10

// maxRetry keeps a retry field from overflowing.
const maxRetry = 1 << 53

// Decoder decodes one stream. Its zero value keeps no data; use New.
type Decoder struct {
	max  int           // bytes of data that are kept of an event
	get  func() []byte // nil: large events have memory of their own
	put  func([]byte)
	lent bool // data is what get returned

	event Event
	any   bool // the event has a field or a comment
	lines int  // "data" fields in it
	data  []byte

	field    field
	name     [5]byte // the beginning of the line, until its field is known
	nameLen  int
	lineLen  int64
	atStart  bool // of the value: a space here is not part of it
	value    []byte
	skipLF   bool // the last byte was a carriage return that ended a line
	begun    bool // the byte order mark, if there is one, is behind us
	bom      int  // bytes of it that have come
	skipping bool // until the next blank line, since bytes were lost
}

// field is what the line is that is being read.
type field uint8

const (
	unknown field = iota // so far
	ignored
	comment
	data
	event
	id
	retry
)

var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// New returns a decoder that keeps at most max bytes of the data of an event.
func New(max int64) *Decoder {
	return &Decoder{max: int(min(max, 1<<40))}
}

// Borrow has the decoder take memory for large events from get, and give it to put when
// they are over. Growing anew for each costs as much as decoding it.
func (d *Decoder) Borrow(get func() []byte, put func([]byte)) {
	d.get, d.put = get, put
}

// Feed decodes the next piece of the stream and calls yield for each event that it
// completes. The event is the decoder's and valid until yield returns.
func (d *Decoder) Feed(p []byte, yield func(*Event)) {
	if !d.begun {
		p = d.start(p)
	}
	for len(p) > 0 {
		if d.skipLF {
			d.skipLF = false
			if p[0] == '\n' {
				d.event.Size++
				p = p[1:]
				continue
			}
		}
		end := lineEnd(p)
		if end < 0 {
			d.segment(p)
			return
		}
		d.segment(p[:end])
		d.skipLF = p[end] == '\r'
		d.event.Size++
		p = p[end+1:]
		// The line feed of a CRLF belongs to what it ends, if it is here already.
		if d.skipLF && len(p) > 0 && p[0] == '\n' {
			d.skipLF = false
			d.event.Size++
			p = p[1:]
		}
		d.endLine(yield)
	}
}

// lineEnd returns the index of the first line feed or carriage return, -1 if there
// is none.
func lineEnd(p []byte) int {
	end := bytes.IndexByte(p, '\n')
	head := p
	if end >= 0 {
		head = p[:end]
	}
	if cr := bytes.IndexByte(head, '\r'); cr >= 0 {
		return cr
	}
	return end
}

// start takes a byte order mark away from the beginning of the stream.
func (d *Decoder) start(p []byte) []byte {
	for len(p) > 0 && d.bom < len(byteOrderMark) {
		if p[0] != byteOrderMark[d.bom] {
			d.begun = true
			d.segment(byteOrderMark[:d.bom]) // it was none
			return p
		}
		d.bom++
		p = p[1:]
	}
	if d.bom == len(byteOrderMark) {
		d.begun = true
		d.event.Size += int64(d.bom)
	}
	return p
}

// segment takes a piece of a line.
func (d *Decoder) segment(p []byte) {
	d.event.Size += int64(len(p))
	d.lineLen += int64(len(p))
	if d.field == unknown {
		n := bytes.IndexByte(p, ':')
		name := p
		if n >= 0 {
			name = p[:n]
		}
		if d.nameLen+len(name) > len(d.name) {
			d.field = ignored
			return
		}
		d.nameLen += copy(d.name[d.nameLen:], name)
		if n < 0 {
			return
		}
		d.know()
		d.atStart = true
		p = p[n+1:]
	}
	if d.atStart && len(p) > 0 {
		d.atStart = false
		if p[0] == ' ' {
			p = p[1:]
		}
	}
	switch d.field {
	case data:
		if room := d.max - len(d.data); len(p) > room {
			p = p[:max(room, 0)]
			d.event.Cut = true
		}
		if d.get != nil && !d.lent && len(d.data)+len(p) > keptRoom {
			d.data, d.lent = append(d.get(), d.data...), true
		}
		d.data = append(d.data, p...)
	case comment, event, id, retry:
		d.value = append(d.value, p[:min(len(p), maxValue-len(d.value))]...)
	}
}

// know decides what field the line is. A second "data" field begins with the line
// feed that joins it to the first.
func (d *Decoder) know() {
	switch string(d.name[:d.nameLen]) {
	case "":
		d.field = comment
	case "data":
		d.field = data
		if d.lines++; d.lines > 1 {
			if len(d.data) < d.max {
				d.data = append(d.data, '\n')
			} else {
				d.event.Cut = true
			}
		}
	case "event":
		d.field = event
	case "id":
		d.field = id
	case "retry":
		d.field = retry
	default:
		d.field = ignored
	}
}

// endLine takes the end of a line.
func (d *Decoder) endLine(yield func(*Event)) {
	if d.lineLen == 0 {
		d.dispatch(yield)
		return
	}
	if d.field == unknown { // no colon: a field without a value
		d.know()
	}
	e := &d.event
	switch d.field {
	case comment:
		switch room := maxValue - len(e.Comment); {
		case e.Comment == "":
			e.Comment = string(d.value)
		case room > 1:
			e.Comment += "\n" + string(d.value[:min(len(d.value), room-1)])
		}
	case event:
		e.Name = string(d.value)
	case id:
		if bytes.IndexByte(d.value, 0) < 0 {
			e.ID = string(d.value)
		}
	case retry:
		if n, ok := digits(d.value); ok {
			e.Retry = n
		}
	}
	d.any = d.any || d.field != ignored
	d.resetLine()
}

func digits(p []byte) (n int64, ok bool) {
	for _, c := range p {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int64(c-'0'), maxRetry)
	}
	return n, len(p) > 0
}

func (d *Decoder) resetLine() {
	d.field, d.nameLen, d.lineLen, d.atStart, d.value = unknown, 0, 0, false, d.value[:0]
}

// dispatch ends the event. Blank lines in a row end nothing.
func (d *Decoder) dispatch(yield func(*Event)) {
	if d.skipping {
		d.skipping = false
		d.reset()
		return
	}
	if !d.any {
		return
	}
	d.event.Data = d.data
	yield(&d.event)
	d.reset()
}

// keptRoom is how much memory a decoder keeps for the next event.
const keptRoom = 64 << 10

func (d *Decoder) reset() {
	d.event, d.any, d.lines = Event{}, false, 0
	if d.lent {
		d.put(d.data)
		d.data, d.lent = nil, false
	}
	if d.data = d.data[:0]; cap(d.data) > keptRoom {
		d.data = nil
	}
	d.resetLine()
}

// End tells that the stream has ended. An event that it cut off is given to yield,
// as Broken.
func (d *Decoder) End(yield func(*Event)) {
	if !d.begun && d.bom > 0 {
		d.segment(byteOrderMark[:d.bom])
	}
	if d.lineLen > 0 {
		// What is there of the last line is told, though it may be half a line.
		d.endLine(yield)
	}
	if d.any && !d.skipping {
		d.event.Broken = true
		d.dispatch(yield)
	}
	d.reset()
}

// Pending returns how many bytes of an unfinished event are held.
func (d *Decoder) Pending() int { return len(d.data) + len(d.value) }

// Lost tells that bytes of the stream are missing here: what is there of the event
// is dropped, and all up to the next blank line. It reports whether there was any.
func (d *Decoder) Lost() (had bool) {
	had = d.any || d.lineLen > 0
	d.reset()
	d.begun, d.skipLF, d.skipping = true, false, true
	// The next piece may begin anywhere in a line: a blank line is only what follows
	// the end of that.
	d.lineLen, d.field = 1, ignored
	return had
}
