package view

import (
	"strconv"
	"strings"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// Line is one frame, one element of a batch or one gap in the record, on one
// line: what tail prints and the text export heads its payloads with.
type Line struct {
	Seq   uint64
	Time  string
	Label string // of the server
	Arrow string
	Text  string
	Signs []Sign // words and marks of Text that have a role, in order
}

// Sign is a stretch of a text that says how something stands, and so has a colour.
type Sign struct {
	From, To int // in bytes
	Role     term.Role
}

// String joins the line as tail prints it.
func (l Line) String() string {
	return strings.Join([]string{l.Time, l.Label, l.Arrow, l.Text}, " ")
}

// Paint is String with its signs in their colours.
func (l Line) Paint(p term.Palette) string {
	if p.Depth == term.Plain || len(l.Signs) == 0 {
		return l.String()
	}
	var b strings.Builder
	at := 0
	for _, s := range l.Signs {
		b.WriteString(l.Text[at:s.From])
		b.WriteString(p.Paint(s.Role, l.Text[s.From:s.To]))
		at = s.To
	}
	b.WriteString(l.Text[at:])
	l.Text = b.String()
	return l.String()
}

// Liner words the frames of a log one by one, in log order.
type Liner struct {
	ASCII   bool
	Over    bool // nothing more will come: open calls were never answered
	Preview int  // columns of payload to show, 0 for the usual
	bare    bool // no preview of JSON, other text in full
	pieces  Pieces
}

// previewWidth is how much of a payload a line shows where nothing else is asked for.
const previewWidth = 400

// Lines words what a frame brought, as tail prints it: gaps before it first, then
// each message; or the tap's own note that the frame is.
func (l *Liner) Lines(f *capture.Frame, st *session.Step) []Line {
	var lines []Line
	base := lineOf(f)
	own := MarkOwn.In(l.ASCII)
	for i := range st.Gaps {
		note := base
		note.Arrow = own
		note.say(l.gap(&st.Gaps[i]))
		lines = append(lines, note)
	}
	if len(st.Messages) == 0 {
		if base.Arrow, base.Text = own, ownText(f, len(st.Gaps) > 0); base.Text != "" {
			lines = append(lines, base)
		}
		return lines
	}
	l.pieces.Look(f)
	for i := range st.Messages {
		m := &st.Messages[i]
		line := base
		line.Arrow = Arrow(m.Dir).In(l.ASCII)
		line.say(l.message(f, m, callOf(st, i), l.piece(f, m.Element)))
		lines = append(lines, line)
	}
	return lines
}

// lineOf begins the line of a frame.
func lineOf(f *capture.Frame) Line { return Line{Seq: f.Seq, Time: Time(f.Time), Label: cut(f.Label)} }

func (l *Line) say(w *words) { l.Text, l.Signs = w.String(), w.signs }

// Event words one message of a frame, or with -1 a frame that is none, where the
// JSON it carries stands below: no preview, and other text in full. The text is ""
// where the step's gaps say it all.
func (l *Liner) Event(f *capture.Frame, st *session.Step, i int) (arrow Mark, text string) {
	if i < 0 {
		return MarkOwn, ownText(f, len(st.Gaps) > 0)
	}
	l.bare = true
	defer func() { l.bare = false }()
	m := &st.Messages[i]
	return Arrow(m.Dir), l.message(f, m, callOf(st, i), jsontree.Node{}).String()
}

func callOf(st *session.Step, i int) *session.Call {
	if i < len(st.Calls) {
		return st.Calls[i]
	}
	return nil
}

// Gap words a gap with its mark.
func (l *Liner) Gap(g *session.GapNote) string { return l.gap(g).String() }

func (l *Liner) gap(g *session.GapNote) *words {
	w := &words{}
	w.add(Gap(g))
	if g.Kind != session.Stepped {
		w.sign(MarkLost.In(l.ASCII), RoleLost)
	}
	return w
}

// piece gives a message of the frame for its preview; an absent node where there is
// none. Payloads of many megabytes show no preview rather than be parsed for it.
func (l *Liner) piece(f *capture.Frame, place int32) jsontree.Node {
	if len(f.Payload) > 1<<20 {
		return jsontree.Node{}
	}
	return l.pieces.At(place)
}

func (l *Liner) message(f *capture.Frame, m *session.Message, c *session.Call, node jsontree.Node) *words {
	w := &words{}
	switch {
	case m.Dir == capture.Stderr:
		w.add("stderr", l.text(f.Payload))
	case m.Defects.Has(jsonrpc.RestOfBatch):
		w.add(RestOfBatch())
		w.sign(MarkLost.In(l.ASCII), RoleLost)
	case m.Frame == capture.HTTPHead, m.Kind == jsonrpc.Invalid && m.Status != 0 && m.Outcome != session.OutcomeBad:
		w.add(httpText(f))
		w.status(StatusOf(m, c, l.Over))
		if len(f.Payload) > 0 {
			w.add(sizeText(m), l.quoted(f))
		}
	case m.Kind == jsonrpc.Request:
		w.add(Operation(m.Method, m.Target), retryText(m), idText(m.ID))
		w.status(StatusOf(m, nil, l.Over))
		w.add(l.params(m, node))
	case m.Kind == jsonrpc.Notification:
		l.notification(w, m, c, node)
		w.status(bad(m))
	case m.Kind == jsonrpc.Response:
		l.answer(w, f, m, c)
	default:
		l.other(w, f, m)
	}
	if m.Flags&capture.Truncated != 0 {
		w.add("cut: " + Size(int64(len(f.Payload))) + " kept of " + Size(m.Size))
	}
	if m.Flags&capture.Redacted != 0 {
		w.add("redacted")
	}
	return w
}

// other words what is no request, notification or answer.
func (l *Liner) other(w *words, f *capture.Frame, m *session.Message) {
	switch {
	case m.Outcome == session.OutcomeBad:
		w.add("not MCP")
		w.status(StatusBad)
		w.add(sizeText(m), l.quoted(f))
	case m.Kind == jsonrpc.Odd:
		w.add("message of no kind", idText(m.ID), sizeText(m), l.quoted(f))
	case len(f.Payload) == 0:
		w.add("blank line")
	default: // cut beyond recognition, or a body that need be no message
		w.add("body", sizeText(m), l.quoted(f))
	}
}

// bad is the one word a notification may carry.
func bad(m *session.Message) Status {
	if m.Outcome == session.OutcomeBad {
		return StatusBad
	}
	return ""
}

// answer words a response: what it answers, how that came out, how long it took.
func (l *Liner) answer(w *words, f *capture.Frame, m *session.Message, c *session.Call) {
	word := "result"
	switch {
	case m.Outcome == session.OutcomeInput:
		word = "input_required"
	case m.Outcome == session.OutcomeError, m.Outcome == session.OutcomeExpected, m.Outcome == session.NoOutcome && m.Status >= 400,
		m.Outcome == session.OutcomeLate && c != nil && c.Errored && !c.ToolError:
		word = "error"
	}
	method, target := m.Method, m.Target
	if c != nil {
		method, target = c.Method, c.Target
	}
	w.add(word)
	if method != "" || target != "" {
		w.add(Subject(method, target))
	}
	w.add(idText(m.ID))
	w.status(StatusOf(m, c, l.Over))
	if d, ok := Took(m, c); ok {
		w.add("dur=" + Duration(d))
	}
	w.add(sizeText(m))
	if settles(m) && c != nil {
		w.add(ErrorText(c))
	}
	if m.Status >= 400 {
		w.add("HTTP " + strconv.Itoa(int(m.Status)))
	}
}

// settles reports whether an answer had the last word on its call.
func settles(m *session.Message) bool {
	switch m.Outcome {
	case session.OutcomeOK, session.OutcomeError, session.OutcomeToolError, session.OutcomeExpected, session.OutcomeLate:
		return true
	}
	return false
}

// Took is the time a message ends: from its call's first request to an answer, to
// a question back, or to the cancellation.
func Took(m *session.Message, c *session.Call) (time.Duration, bool) {
	if c == nil {
		return 0, false
	}
	if settles(m) || m.Outcome == session.OutcomeInput || m.Outcome == session.OutcomeTask || m.Outcome == session.OutcomeCancelled {
		return m.At.Sub(c.Start), true
	}
	return 0, false
}

// ErrorText says what a failed call was told: `-32601 "Method not found"`, or the
// first text of a tool's error.
func ErrorText(c *session.Call) string {
	switch {
	case c.ToolError:
		return text(c.ErrorText, maxText)
	case c.State != session.StateFailed && c.ErrorCode == 0:
		return ""
	case c.ErrorText == "":
		return strconv.FormatInt(c.ErrorCode, 10)
	}
	return strconv.FormatInt(c.ErrorCode, 10) + " " + Quote(c.ErrorText)
}

// notification words the notifications that concern a call by what they say of
// it, any other by its name and payload.
func (l *Liner) notification(w *words, m *session.Message, c *session.Call, node jsontree.Node) {
	name := cut(strings.TrimPrefix(m.Method, "notifications/"))
	if name == "" {
		name = Nothing
	}
	if m.Outcome == session.OutcomeCancelled {
		w.sign(name, StatusCancel.Role())
	} else {
		w.add(name)
	}
	switch {
	case m.Method == "notifications/cancelled" && c != nil && c.Cancel != nil && m.Outcome == session.OutcomeCancelled:
		w.add(idText(c.ID), "after="+Duration(c.Cancel.At.Sub(c.Start)))
		if c.Cancel.Reason != "" {
			w.add("reason=" + Quote(c.Cancel.Reason))
		}
	case m.Method == "notifications/progress" && c != nil && c.Progress != nil && c.Progress.Seq == m.Ref.Seq:
		w.add(Subject(c.Method, c.Target), idText(c.ID), Progress(c.Progress))
		if c.Progress.Text != "" {
			w.add(Quote(c.Progress.Text))
		}
	default:
		w.add(l.params(m, node))
	}
}

// Progress shows how far a call says it is: "31/50", or "31" without a total.
func Progress(p *session.Progress) string {
	value := strconv.FormatFloat(p.Value, 'g', 6, 64)
	if p.Total == 0 {
		return value
	}
	return value + "/" + strconv.FormatFloat(p.Total, 'g', 6, 64)
}

func retryText(m *session.Message) string {
	if m.Leg == 0 {
		return ""
	}
	return "retry=" + strconv.Itoa(int(m.Leg))
}

func idText(id string) string {
	if id == "" {
		return ""
	}
	return "id=" + ID(id)
}

// sizeText is what a message took; elements of a batch share the first one's.
func sizeText(m *session.Message) string {
	if m.Size == 0 && m.Element > 0 {
		return ""
	}
	return Size(m.Size)
}
