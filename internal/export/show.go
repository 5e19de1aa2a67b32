package export

import (
	"bufio"
	"fmt"
	"io"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

// Show writes one frame for reading: whose it is, every frame of its call in order,
// and then the JSON of the frame and of the other half of its call. A frame of no
// call stands alone; the tap's own notes show what they hold.
func Show(w io.Writer, log Log, s *session.Snapshot, seq uint64, ref capture.Ref) error {
	d := &shown{w: bufio.NewWriterSize(w, 64<<10), log: log, s: s}
	d.pretty = indenter{w: bufio.NewWriterSize(&block{w: d.w}, 64<<10)}
	d.liner = view.Liner{Over: true}
	frame, err := log.Fetch(ref)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.w, "session %s  frame %d\n", term.Escape(s.ID), seq)
	about := d.about(seq)
	if len(about) == 0 {
		err = d.alone(frame)
	} else {
		err = d.story(about, seq)
	}
	if err != nil {
		return err
	}
	return d.w.Flush()
}

// shown is one frame being written.
type shown struct {
	w      *bufio.Writer
	log    Log
	s      *session.Snapshot
	liner  view.Liner
	pretty indenter
}

// about returns the messages of the frame.
func (d *shown) about(seq uint64) (list []session.Message) {
	for _, m := range d.s.Messages.All() {
		if m.Ref.Seq == seq {
			list = append(list, m)
		}
	}
	return list
}

// alone writes a frame that is no message.
func (d *shown) alone(f *capture.Frame) error {
	for _, line := range d.liner.Lines(f, &session.Step{}) {
		fmt.Fprintln(d.w, line.String())
	}
	return d.payload(f)
}

// story writes the calls that the messages of a frame belong to.
func (d *shown) story(about []session.Message, seq uint64) error {
	told := map[int32]bool{}
	for _, m := range about {
		if m.Call < 0 {
			if err := d.frame(m, nil); err != nil {
				return err
			}
			continue
		}
		if told[m.Call] {
			continue
		}
		told[m.Call] = true
		if err := d.call(m.Call, seq); err != nil {
			return err
		}
	}
	if len(about) == 1 && about[0].Call >= 0 {
		return nil
	}
	f, err := d.log.Fetch(about[0].Ref)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.w, "\nframe %d\n", seq)
	return d.payload(f)
}

// frame writes the line of a message.
func (d *shown) frame(m session.Message, c *session.Call) error {
	f, err := d.log.Fetch(m.Ref)
	if err != nil {
		return err
	}
	for _, line := range d.liner.Lines(f, &session.Step{Messages: []session.Message{m}, Calls: []*session.Call{c}}) {
		fmt.Fprintf(d.w, "  #%-5d %s\n", line.Seq, line.String())
	}
	return nil
}

// call writes the frames of a call and the JSON of its two halves.
func (d *shown) call(index int32, seq uint64) error {
	c := d.s.Calls.At(int(index))
	fmt.Fprintf(d.w, "%s\n", view.Call(&c))
	listed := false
	for _, m := range d.s.Messages.All() {
		if m.Call != index {
			continue
		}
		if err := d.frame(m, &c); err != nil {
			return err
		}
		listed = listed || m.Ref.Seq == seq
	}
	if why, ok := view.WhyOf(&c, view.SceneOf(&d.s.Header), view.EvidenceOf(d.s, &c)); ok {
		d.why(&why)
	}
	if err := d.half("request", c.Request); err != nil {
		return err
	}
	if seq != c.Request.Seq && seq != c.Response.Seq && listed {
		for _, m := range d.about(seq) {
			if err := d.half("this frame", m.Ref); err != nil {
				return err
			}
		}
	}
	if !c.Answered() {
		fmt.Fprintln(d.w, "\nno answer")
		return nil
	}
	return d.half("answer", c.Response)
}

// why writes who had a call that hung, was late or was slow.
func (d *shown) why(why *view.Why) {
	fmt.Fprintf(d.w, "\nwhy  %s\n", why.First)
	for _, b := range why.Bullets {
		fmt.Fprintf(d.w, "  • %s\n", b)
	}
	if why.Try != "" {
		fmt.Fprintf(d.w, "  try: %s\n", why.Try)
	}
}

func (d *shown) half(name string, ref capture.Ref) error {
	f, err := d.log.Fetch(ref)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.w, "\n%s  seq %d  %s\n", name, ref.Seq, view.Size(int64(len(f.Payload))))
	return d.payload(f)
}

// payload writes what a frame holds: JSON set off by lines, anything else as text.
func (d *shown) payload(f *capture.Frame) error {
	if f.Form == capture.Raw {
		d.pretty.write(f.Payload)
		d.pretty.w.WriteByte('\n')
		return d.pretty.w.Flush()
	}
	if len(f.Payload) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(d.w, "  %s\n", term.Escape(string(f.Payload)))
	return err
}
