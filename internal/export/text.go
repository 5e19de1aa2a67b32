package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

// Text writes a log for reading: what the sessions are, then a line for each frame,
// worded as tail words it, and its JSON set off below.
func Text(w io.Writer, log Log, o Options) error {
	p, err := fold(log, o)
	if err != nil {
		return err
	}
	defer p.close()
	t := &textual{folded: p, w: bufio.NewWriterSize(w, 64<<10)}
	t.liner = view.Liner{Over: true}
	t.pretty = indenter{w: bufio.NewWriterSize(&block{w: t.w}, 64<<10)}
	if r := o.Run; r != nil {
		fmt.Fprintf(t.w, "run %s  %s: %s\n\n", r.ID, r.Label, view.Plural(len(r.Sessions), "session", "sessions"))
	}
	for _, i := range p.chosen {
		h := p.reducer.Header(i)
		t.liner.Over = t.liner.Over && !o.live(&h)
		t.header(&h)
		t.names = append(t.names, h.Label+strings.TrimPrefix(h.ID, h.Tap))
	}
	p.release()
	if err := p.events(t); err != nil {
		return err
	}
	return t.w.Flush()
}

// textual writes events as text.
type textual struct {
	*folded
	w      *bufio.Writer
	liner  view.Liner
	pretty indenter
	head   bytes.Buffer
	names  []string // of the chosen sessions: label, and number if the tap held several
}

func (t *textual) header(h *session.Header) {
	c := &h.Counts
	fmt.Fprintf(t.w, "session %s\n", term.Escape(h.ID))
	line := func(name, value string) {
		if value != "" && value != view.Nothing {
			fmt.Fprintf(t.w, "  %-9s %s\n", name, value)
		}
	}
	line("label", term.Escape(h.Label))
	line("client", view.Peer(h.Client))
	line("server", view.Peer(h.Server))
	line("revision", term.Escape(h.RevisionText))
	line("command", term.Escape(strings.Join(h.Start.Command, " ")))
	line("cwd", term.Escape(h.Start.Cwd))
	line("target", term.Escape(h.Start.Target))
	line("state", view.State(h, t.o.live(h)))
	line("counts", fmt.Sprintf("%s  %s  %s  %s  %d invalid  %d pending  %d late  %s missing",
		view.Plural(int64(c.Frames), "frame", "frames"), view.Plural(int64(c.Calls), "call", "calls"),
		view.Plural(int64(c.Notifications), "notification", "notifications"), view.Plural(int64(c.Errors), "error", "errors"),
		c.Invalid, c.Pending, c.Late, view.Plural(int64(c.Missing), "frame", "frames")))
	if c.Unreadable > 0 || c.Torn > 0 {
		line("log", fmt.Sprintf("%s unreadable, %s torn", view.Plural(int64(c.Unreadable), "line", "lines"), view.Plural(int64(c.Torn), "line", "lines")))
	}
	if c.Let > 0 {
		line("calls", view.Plural(int64(c.Let), "call", "calls")+" let go of, too many were open at once: what became of them is in the counts alone")
	}
	if c.Unread > 0 {
		line("batches", fmt.Sprintf("%d with elements that were not looked at one by one", c.Unread))
	}
	t.w.WriteByte('\n')
}

// render is the line of an event, after the gaps before it.
func (t *textual) render(e *event) ([]byte, error) {
	t.head.Reset()
	line := func(mark view.Mark, text string) {
		fmt.Fprintf(&t.head, "#%d %s ", e.frame.Seq, view.DateTime(e.frame.Time))
		if len(t.chosen) > 1 {
			name := t.names[e.place]
			if e.frame.Exchange == 0 && !e.frame.Passed() {
				name = e.frame.Label // the tap's own
			}
			t.head.WriteString(term.Escape(name) + " ")
		}
		t.head.WriteString(mark.Glyph + " " + text + "\n")
	}
	if e.first {
		for i := range e.step.Gaps {
			line(view.MarkOwn, t.liner.Gap(&e.step.Gaps[i]))
		}
	}
	mark, text := t.liner.Event(e.frame, e.step, e.at)
	n, ok := t.noteAt(e)
	if ok && n.status != "" {
		text += " " + string(n.status)
	}
	if e.wide && text != "" {
		text += " (session-wide)"
	}
	if text != "" {
		line(mark, text)
	}
	if ok {
		fmt.Fprintf(&t.head, "  why: %s\n", n.why)
	}
	for _, g := range t.foundAt(e) {
		fmt.Fprintf(&t.head, "  %s\n", view.Finding(&g, t.liner.ASCII))
	}
	return t.head.Bytes(), nil
}

// noteAt is what is to be said of an event's call there.
func (t *textual) noteAt(e *event) (note, bool) {
	m := e.message()
	if m == nil || m.Call < 0 {
		return note{}, false
	}
	n, ok := t.notes[callKey{e.step.Session, m.Call}]
	if n.atAnswer {
		return n, ok && m.Outcome == session.OutcomeLate
	}
	return n, ok && m.Kind == jsonrpc.Request && m.Leg == 0
}

// emit writes the line and the JSON below it.
func (t *textual) emit(head, raw []byte) error {
	t.w.Write(head)
	if raw != nil {
		t.pretty.write(raw)
		t.pretty.w.WriteByte('\n')
		t.pretty.w.Flush()
	}
	_, err := t.w.Write(nil)
	return err
}

// block sets lines off and makes what a peer sent inert. JSON holds line feeds only
// between its tokens, where they are ours.
type block struct {
	w    *bufio.Writer
	line []byte // not yet ended
}

func (b *block) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			b.line = append(b.line, p...)
			return n, nil
		}
		b.line = append(b.line, p[:i]...)
		b.w.WriteString("  ")
		b.w.WriteString(term.Escape(string(b.line)))
		if err := b.w.WriteByte('\n'); err != nil {
			return 0, err
		}
		b.line, p = b.line[:0], p[i+1:]
	}
}
