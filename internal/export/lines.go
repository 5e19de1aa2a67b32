package export

import (
	"bytes"
	"fmt"
	"io"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/view"
)

// EventWriter writes frames as they come, as NDJSON: a line {"version":1}, then an
// [Event] a line. What is not known yet when a frame comes is not in its line.
type EventWriter struct {
	w      io.Writer
	begun  bool
	line   bytes.Buffer
	pieces view.Pieces
}

// NewEventWriter returns an EventWriter; each frame is one call of w.Write.
func NewEventWriter(w io.Writer) *EventWriter { return &EventWriter{w: w} }

// Begin writes the first line, which [EventWriter.Frame] does otherwise.
func (w *EventWriter) Begin() error {
	w.begun = true
	_, err := fmt.Fprintf(w.w, "{\"version\":%d}\n", FormatVersion)
	return err
}

// Frame writes a frame of that session, what it did and what was found at it so far.
func (w *EventWriter) Frame(id string, f *capture.Frame, st session.Step, found []judge.Group) error {
	w.line.Reset()
	w.pieces.Look(f)
	if !w.begun {
		w.begun = true
		fmt.Fprintf(&w.line, "{\"version\":%d}\n", FormatVersion)
	}
	if st.Guess {
		id = "" // not known yet
	}
	if len(st.Messages) == 0 {
		if err := w.event(id, f, nil, found); err != nil {
			return err
		}
	}
	for i := range st.Messages {
		if err := w.event(id, f, &st.Messages[i], found); err != nil {
			return err
		}
		found = nil // told with the first
	}
	_, err := w.w.Write(w.line.Bytes())
	return err
}

func (w *EventWriter) event(id string, f *capture.Frame, m *session.Message, found []judge.Group) error {
	e := newEvent(f, m)
	e.Session, e.Findings = id, newFindings(found)
	if err := encode(&w.line, e); err != nil {
		return err
	}
	element := int32(-1)
	if m != nil {
		element = m.Element
	}
	if raw := rawOf(&w.pieces, f, element); raw != nil {
		w.line.Truncate(w.line.Len() - 1) // the brace
		w.line.WriteString(`,"raw":`)
		w.line.Write(raw)
		w.line.WriteByte('}')
	}
	w.line.WriteByte('\n')
	return nil
}
