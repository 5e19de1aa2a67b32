package export

import (
	"bufio"
	"bytes"
	"io"

	"mcpsnoop/internal/capture"
)

// JSON writes a log as a [Document], or as a [Collection] where several sessions
// are chosen.
func JSON(w io.Writer, log Log, o Options) error {
	p, err := fold(log, o)
	if err != nil {
		return err
	}
	defer p.close()
	out := bufio.NewWriterSize(w, 64<<10)
	d := &document{folded: p, out: indenter{w: out}, read: recent{log: log}, several: len(p.chosen) > 1 || o.Run != nil}
	if err := d.write(); err != nil {
		return err
	}
	out.WriteByte('\n')
	return out.Flush()
}

// document writes JSON piece by piece.
type document struct {
	*folded
	out     indenter
	buf     bytes.Buffer
	read    recent
	several bool
	ids     []string // of the chosen sessions
	more    bool     // a member or element went before
}

func (d *document) raw(text string) { d.out.write([]byte(text)) }

// comma separates members and elements of the container last begun.
func (d *document) comma() {
	if d.more {
		d.raw(",")
	}
	d.more = true
}

func (d *document) begin(bracket string) { d.raw(bracket); d.more = false }
func (d *document) end(bracket string)   { d.raw(bracket); d.more = true }

func (d *document) name(name string) {
	d.comma()
	d.raw(`"` + name + `":`)
}

func (d *document) value(v any) error {
	d.buf.Reset()
	if err := encode(&d.buf, v); err != nil {
		return err
	}
	d.out.write(d.buf.Bytes())
	return nil
}

func (d *document) member(name string, v any) error {
	d.name(name)
	return d.value(v)
}

// failed is the first error of the writer below.
func (d *document) failed() error {
	_, err := d.out.w.Write(nil)
	return err
}

func (d *document) write() error {
	d.begin("{")
	if err := d.member("version", FormatVersion); err != nil {
		return err
	}
	if err := d.member("generated_at", d.o.Now.UTC()); err != nil {
		return err
	}
	if d.several {
		if err := d.member("run", d.o.Run); err != nil {
			return err
		}
		d.name("sessions")
		d.begin("[")
	}
	for _, i := range d.chosen {
		if d.several {
			d.comma()
			d.begin("{")
		}
		if err := d.session(i); err != nil {
			return err
		}
		if d.several {
			d.end("}")
		}
	}
	d.release()
	if d.several {
		d.end("]")
	}
	d.name("events")
	d.begin("[")
	if err := d.events(d); err != nil {
		return err
	}
	d.end("]")
	d.end("}")
	return nil
}

// session writes the members of a [SessionPart].
func (d *document) session(i int) error {
	s := d.reducer.Snapshot(i)
	d.ids = append(d.ids, s.ID)
	head := newSession(&s.Header, d.o.live(&s.Header))
	head.Runs = append(head.Runs, d.parts[i]...)
	if err := d.member("session", head); err != nil {
		return err
	}
	if err := d.member("summary", newSummary(&s)); err != nil {
		return err
	}
	if c := newCapabilities(&s.Header); c != nil {
		if err := d.member("capabilities", c); err != nil {
			return err
		}
	}
	if err := d.member("gaps", newGaps(s.Gaps)); err != nil {
		return err
	}
	if s.MoreGaps > 0 {
		if err := d.member("more_gaps", s.MoreGaps); err != nil {
			return err
		}
	}
	d.name("calls")
	d.begin("[")
	if err := d.calls.each(i, d.call); err != nil {
		return err
	}
	d.end("]")
	return nil
}

// call writes a spooled call with its payloads, which are read from the log.
func (d *document) call(c spooled) error {
	d.comma()
	d.out.write(c.json[:len(c.json)-1])
	if err := d.payload(c.request, "params"); err != nil {
		return err
	}
	if err := d.payload(c.response, "result", "error"); err != nil {
		return err
	}
	d.raw("}")
	return d.failed()
}

// payload writes members of the message that lies there. A message that cannot be
// read as it was has none.
func (d *document) payload(m message, names ...string) error {
	if m.ref == (capture.Ref{}) {
		return nil
	}
	f, err := d.read.fetch(m.ref)
	if err != nil {
		return err
	}
	node := f.pieces.WithID(m.id)
	for _, name := range names {
		if v := node.Get(name); v.Exists() {
			d.raw(`,"` + name + `":`)
			d.out.write(v.Text())
		}
	}
	return nil
}

// render encodes an event without its raw payload.
func (d *document) render(e *event) ([]byte, error) {
	v := newEvent(e.frame, e.message())
	v.SessionWide = e.wide
	v.Findings = newFindings(d.foundAt(e))
	if d.several {
		v.Session = d.ids[e.place]
	}
	d.buf.Reset()
	err := encode(&d.buf, v)
	return d.buf.Bytes(), err
}

// emit writes an event; raw is its last member.
func (d *document) emit(head, raw []byte) error {
	d.comma()
	if raw == nil {
		d.out.write(head)
		return d.failed()
	}
	d.out.write(head[:len(head)-1])
	d.raw(`,"raw":`)
	d.out.write(raw)
	d.raw("}")
	return d.failed()
}
