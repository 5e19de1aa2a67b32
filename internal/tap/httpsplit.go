package tap

import (
	"fmt"
	"time"

	"mcpsnoop/internal/capture"
)

// sessionLogs writes a log for each MCP session. Each is a tap of its own: it has
// its own id, its own numbers, its own beginning and end.
type sessionLogs struct {
	logFor func(mcpSession string) (Log, string, error)
	start  capture.StartInfo
	byID   map[string]*writer
	all    []*writer
}

// heldFrame is a frame of an exchange of which is not known yet to which session it
// belongs: the server names one in the answer.
type heldFrame struct {
	frame      *capture.Frame
	wall, mono int64
}

// send puts the frame in root.frame into the log of its session.
func (s *sessionLogs) send(root *writer, rec *record, ex *exchange) {
	c := &ex.copies
	if !c.known {
		c.held = append(c.held, heldFrame{root.frame.Clone(), rec.wall, rec.mono})
		return
	}
	if c.out == nil {
		c.out = s.log(root, c.session)
	}
	if g := root.gap; g.lost > 0 { // it is told where something is written next
		root.gap = gap{}
		c.out.gap.add(g.lost, g.bytes, g.reason)
	}
	for _, h := range c.held {
		h.frame.MCPSession = c.session
		if h.mono < c.out.mono { // others, answered sooner, stand there already
			h.frame.Mono = time.Duration(c.out.mono)
		} else {
			c.out.tick(&record{wall: h.wall, mono: h.mono})
		}
		c.out.emit(h.frame, h.frame.Size)
	}
	c.held = nil
	c.out.tick(rec)
	c.out.emit(&root.frame, root.frame.Size)
}

// log returns the writer of a session's log.
func (s *sessionLogs) log(root *writer, session string) *writer {
	if w := s.byID[session]; w != nil {
		return w
	}
	log, id, err := s.logFor(session)
	if err != nil {
		root.notify(fmt.Sprintf("mcpsnoop: warning: %v; traffic of this session goes on unrecorded", err))
		log = Unwritable(id, err)
	}
	w := newWriter(&Recording{Tap: id, Label: root.label, Log: log, Limits: root.limits, Redact: root.redact, Notify: root.notify})
	w.http.on, w.http.root = true, root
	w.notes = capture.NewNotes(s.start)
	w.said.noWrite = err != nil // it was
	if s.byID == nil {
		s.byID = make(map[string]*writer)
	}
	s.byID[session] = w
	s.all = append(s.all, w)
	return w
}

// logs returns the writers of all logs of the tap.
func (w *writer) logs() []*writer {
	if s := w.http.sessions; s != nil {
		return s.all
	}
	return []*writer{w}
}

// sumUp counts what became of the frames of all logs.
func (w *writer) sumUp() {
	s := w.http.sessions
	if s == nil {
		return
	}
	for _, log := range s.all {
		t := log.totals
		w.totals.frames += t.frames
		w.totals.removed += t.removed
		for _, l := range t.why {
			w.totals.lose(l.frames, l.reason)
		}
	}
	s.all = nil // counted
}
