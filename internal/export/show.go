package export

import (
	"bufio"
	"fmt"
	"io"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

// Show writes one frame for reading: whose it is, every frame of its call in order,
// and then the JSON of the frame and of the other half of its call. A frame of no
// call stands alone; the tap's own notes show what they hold. found is what was found in
// the session: each frame that is shown has its own.
func Show(w io.Writer, log Log, s *session.Snapshot, found []judge.Group, seq uint64, ref capture.Ref) error {
	d := &shown{w: bufio.NewWriterSize(w, 64<<10), read: recent{log: log}, s: s, found: found}
	d.pretty = indenter{w: bufio.NewWriterSize(&block{w: d.w}, 64<<10)}
	d.liner = view.Liner{Over: true}
	frame, err := d.read.fetch(ref)
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
	read   recent
	s      *session.Snapshot
	found  []judge.Group
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
func (d *shown) alone(f *fetched) error {
	for _, line := range d.liner.Lines(f.frame, &session.Step{}) {
		fmt.Fprintln(d.w, line.String())
	}
	d.findings(f.frame.Seq)
	d.http(f.frame)
	if repeats(f.frame) {
		return nil
	}
	return d.payload(f, -1)
}

// repeats reports whether the payload of a frame is only there for readers that know no
// such frame: it repeats what the first one said, and nothing of what this one is about.
func repeats(f *capture.Frame) bool {
	return f.Dir == capture.Meta && (f.Kind == capture.HTTPHead || f.Kind == capture.Open || f.Kind == capture.Close)
}

// mostStories is how many messages of one batch are told of; the frame itself is
// written whole.
const mostStories = 32

// story writes the calls that the messages of a frame belong to.
func (d *shown) story(about []session.Message, seq uint64) error {
	told := map[int32]bool{}
	for i, m := range about {
		if i == mostStories {
			fmt.Fprintf(d.w, "\nand %s in this frame\n", view.Plural(len(about)-i, "more message", "more messages"))
			break
		}
		if m.Call < 0 {
			if err := d.frame(m, nil); err != nil {
				return err
			}
			continue
		}
		if told[m.Call] {
			continue
		}
		if len(told) > 0 {
			fmt.Fprintln(d.w)
		}
		told[m.Call] = true
		if err := d.call(m.Call, seq); err != nil {
			return err
		}
	}
	if len(about) == 1 && about[0].Call >= 0 {
		return nil
	}
	f, err := d.read.fetch(about[0].Ref)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.w, "\nframe %d\n", seq)
	d.http(f.frame)
	return d.payload(f, -1)
}

// frame writes the line of a message.
func (d *shown) frame(m session.Message, c *session.Call) error {
	f, err := d.read.fetch(m.Ref)
	if err != nil {
		return err
	}
	for _, line := range d.liner.Lines(f.frame, &session.Step{Messages: []session.Message{m}, Calls: []*session.Call{c}}) {
		fmt.Fprintf(d.w, "  #%-5d %s\n", line.Seq, line.String())
	}
	if m.Element <= 0 {
		d.findings(m.Ref.Seq)
	}
	return nil
}

// findings writes what was found at a frame, with why it matters and what to do.
func (d *shown) findings(seq uint64) {
	for i := range d.found {
		g := &d.found[i]
		if g.Seq != seq {
			continue
		}
		fmt.Fprintf(d.w, "    %s\n", view.Finding(g, d.liner.ASCII))
		fmt.Fprintf(d.w, "      rule: %s\n      see:  %s\n", g.Clause.Rule, g.Clause.URL(g.Revision))
		if g.Check.Fix != "" {
			fmt.Fprintf(d.w, "      fix:  %s\n", g.Check.Fix)
		}
	}
}

// call writes the frames of a call and the JSON of its two halves.
func (d *shown) call(index int32, seq uint64) error {
	c := d.s.Calls.At(int(index))
	fmt.Fprintf(d.w, "%s\n", view.Call(&c))
	request, answer := int32(-1), int32(-1)
	var here []session.Message // neither of the two, but in the frame asked for
	for _, m := range d.s.Messages.All() {
		if m.Call != index {
			continue
		}
		if err := d.frame(m, &c); err != nil {
			return err
		}
		switch {
		case m.Ref == c.Request && m.Kind == jsonrpc.Request:
			request = m.Element
		case m.Ref == c.Response && m.Kind == jsonrpc.Response:
			answer = m.Element
		case m.Ref.Seq == seq:
			here = append(here, m)
		}
	}
	if why, ok := view.WhyOf(&c, view.SceneOf(&d.s.Header), view.EvidenceOf(d.s, &c)); ok {
		d.why(&why)
	}
	if err := d.half("request", c.Request, request); err != nil {
		return err
	}
	if seq != c.Request.Seq && seq != c.Response.Seq {
		for _, m := range here {
			if err := d.half("this frame", m.Ref, m.Element); err != nil {
				return err
			}
		}
	}
	if !c.Answered() {
		fmt.Fprintln(d.w, "\nno answer")
		return nil
	}
	return d.half("answer", c.Response, answer)
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

// half writes one message of a call.
func (d *shown) half(name string, ref capture.Ref, element int32) error {
	f, err := d.read.fetch(ref)
	if err != nil {
		return err
	}
	size := len(f.frame.Payload)
	if raw := rawOf(&f.pieces, f.frame, element); raw != nil {
		size = len(raw)
	}
	fmt.Fprintf(d.w, "\n%s  seq %d  %s\n", name, ref.Seq, view.Size(int64(size)))
	d.http(f.frame)
	return d.payload(f, element)
}

// http writes what HTTP says of a frame.
func (d *shown) http(f *capture.Frame) {
	for _, line := range view.HTTPFacts(f) {
		fmt.Fprintf(d.w, "  %s\n", line)
	}
}

// payload writes what a frame or an element of it holds: JSON set off by lines,
// anything else as text.
func (d *shown) payload(f *fetched, element int32) error {
	if f.frame.Form == capture.Raw {
		d.pretty.write(rawOf(&f.pieces, f.frame, element))
		d.pretty.w.WriteByte('\n')
		return d.pretty.w.Flush()
	}
	if len(f.frame.Payload) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(d.w, "  %s\n", term.Escape(string(f.frame.Payload)))
	return err
}
