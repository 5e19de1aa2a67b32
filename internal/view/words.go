package view

import (
	"bytes"
	"fmt"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/term"
)

// Status is the word for how a call or frame came out. "" means that nothing is
// to be said here: an outcome stands once, on the frame that brought it.
type Status string

// The words. They are also the values of the filter's status token, blanks and
// short forms apart.
const (
	StatusOK         Status = "ok"
	StatusError      Status = "err"
	StatusToolError  Status = "tool err"
	StatusRefused    Status = "refused" // an error that belongs to probing
	StatusPending    Status = "pending"
	StatusStream     Status = "stream"
	StatusNoAnswer   Status = "no answer"
	StatusAbandoned  Status = "abandoned"
	StatusCancel     Status = "cancel"
	StatusLate       Status = "late"
	StatusDuplicate  Status = "dup"
	StatusUnmatched  Status = "unmatched"
	StatusSuperseded Status = "super"
	StatusInput      Status = "input"
	StatusBad        Status = "bad"
	StatusStale      Status = "stale" // progress for a call that has ended
	StatusWorking    Status = "working"
	StatusDone       Status = "done"
	StatusFailed     Status = "failed"
	StatusStopped    Status = "stopped"
)

// StatusOf returns the word for a message. c is its call or nil; over says that
// the session has ended, so that what is open stays unanswered.
func StatusOf(m *session.Message, c *session.Call, over bool) Status {
	if m.Kind == jsonrpc.Request && c != nil {
		if s := openStatus(c, over); s != "" {
			return s
		}
	}
	switch m.Outcome {
	case session.OutcomeOK:
		return StatusOK
	case session.OutcomeError:
		return StatusError
	case session.OutcomeToolError:
		return StatusToolError
	case session.OutcomeExpected:
		return StatusRefused
	case session.OutcomeCancelled:
		return StatusCancel
	case session.OutcomeLate:
		return StatusLate
	case session.OutcomeDuplicate:
		return StatusDuplicate
	case session.OutcomeUnmatched:
		return StatusUnmatched
	case session.OutcomeSuperseded:
		return StatusSuperseded
	case session.OutcomeInput:
		return StatusInput
	case session.OutcomeStream:
		return StatusStream
	case session.OutcomeBad:
		return StatusBad
	case session.OutcomeStale:
		return StatusStale
	case session.OutcomeTask:
		if c != nil && c.Task != nil {
			return TaskStatus(c.Task.Status)
		}
		return StatusWorking
	}
	return ""
}

// TaskStatus returns the word for the state of a task as the protocol names it.
func TaskStatus(status string) Status {
	switch status {
	case "", "working":
		return StatusWorking
	case "completed":
		return StatusDone
	case "failed":
		return StatusFailed
	case "cancelled":
		return StatusStopped
	case "input_required":
		return StatusInput
	}
	return Status(cut(status))
}

func openStatus(c *session.Call, over bool) Status {
	switch c.State {
	case session.StatePending:
		if over {
			return StatusNoAnswer
		}
		return StatusPending
	case session.StateStreaming:
		return StatusStream
	case session.StateAbandoned:
		return StatusAbandoned
	}
	return ""
}

// Call names a call as a reader looks for it: "tools/call read_file (id 4)".
func Call(c *session.Call) string {
	name := Operation(c.Method, c.Target)
	if c.ID == "" {
		return name
	}
	return name + " (id " + ID(c.ID) + ")"
}

// Operation is a method with what it names: "tools/call read_file".
func Operation(method, target string) string {
	if method == "" {
		method = Nothing
	}
	if target == "" {
		return cut(method)
	}
	return cut(method) + " " + cut(target)
}

// Subject is the shortest name of a call: what it names, else its method.
func Subject(method, target string) string {
	switch {
	case target != "":
		return cut(target)
	case method != "":
		return cut(method)
	}
	return Nothing
}

// ID shows a JSON-RPC id: its exact JSON text, so that "7" and 7 are told apart.
func ID(text string) string { return term.Cut(term.Escape(head(text, 8*maxID)), maxID) }

// SessionID shows the id of a session.
func SessionID(id string) string { return term.Cut(term.Escape(head(id, 8*maxTap)), maxTap) }

// Limits, in columns, for names that peers choose; people choose short ones.
const (
	maxName = 200
	maxID   = 80
	maxTap  = 400 // session ids: what mcpsnoop makes is never longer
	maxText = 200
)

// cut escapes a name that a peer chose.
func cut(name string) string { return term.Cut(term.Escape(head(name, 8*maxName)), maxName) }

// Quote puts text of a peer between quotation marks, escaped and cut.
func Quote(text string) string {
	return `"` + term.Cut(term.Escape(head(text, 4*maxText)), maxText) + `"`
}

// head cuts text to about n bytes before it is escaped, so that a text of many
// megabytes costs nothing.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}

// Peer names a client or a server as it names itself: "demo-agent 1.0.0".
func Peer(p session.Peer) string {
	if p.Name == "" && p.Version == "" {
		return Nothing
	}
	return cut(strings.TrimSpace(p.Name + " " + p.Version))
}

// Side says who sends in a direction.
func Side(d capture.Dir) string {
	switch d {
	case capture.C2S:
		return "client"
	case capture.S2C, capture.Stderr:
		return "server"
	}
	return "mcpsnoop"
}

// End says how a server process ended: "exited with code 1", "was ended by
// SIGKILL".
func End(e *capture.EndInfo) string {
	switch {
	case e.Signal != "":
		return "was ended by " + cut(e.Signal)
	case e.ExitCode != nil:
		return fmt.Sprintf("exited with code %d", *e.ExitCode)
	}
	return "closed the connection"
}

// State says in one word or two where a session stands. live says that its
// recorder is at work.
func State(h *session.Header, live bool) string {
	switch {
	case live && h.Transport == capture.HTTP:
		return "live http"
	case live:
		return "live"
	case h.End != nil && h.End.Signal != "":
		return cut(h.End.Signal)
	case h.End != nil && h.End.ExitCode != nil:
		return fmt.Sprintf("exit %d", *h.End.ExitCode)
	case h.End != nil:
		return "closed"
	case h.Counts.Torn > 0 || h.Start.Format > 0: // our recorder writes an end unless it is killed
		return "torn"
	}
	return "no end frame"
}

// NotMCP words a frame that is no MCP message: where it stood, what is odd about its
// bytes, and what it says.
func NotMCP(f *capture.Frame) string {
	where := "stdout line"
	switch {
	case f.Transport == capture.HTTP && f.Dir == capture.C2S:
		where = "HTTP request body"
	case f.Transport == capture.HTTP:
		where = "HTTP answer"
	case f.Dir == capture.C2S:
		where = "stdin line"
	}
	where += " is not MCP"
	if odd := oddBytes(f.Payload); odd != "" {
		where += " (" + odd + ")"
	}
	if len(f.Payload) == 0 {
		return where + ": it is blank"
	}
	return where + ": " + Quote(whole(f.Payload[:min(len(f.Payload), 8*maxText)]))
}

// oddBytes names the encodings that break MCP where they are met most: a mark before
// the text, and text of two bytes a letter.
func oddBytes(b []byte) string {
	b = b[:min(len(b), 64)]
	switch {
	case bytes.HasPrefix(b, []byte("\ufeff")) && bytes.IndexByte(b, 0) < 0:
		return "byte-order mark U+FEFF before it"
	case len(b) >= 4 && 3*bytes.Count(b, []byte{0}) > len(b):
		return "zero bytes between the letters, as in UTF-16"
	}
	return ""
}

// Failure says in what way a call failed, as the peer put it: "tool error: …".
func Failure(c *session.Call) string {
	message := text(c.ErrorText, 2*maxText)
	switch {
	case c.ToolError:
		return "tool error: " + orNone(message)
	case c.ErrorCode == 0 && message == "" && c.Status != 0:
		return fmt.Sprintf("HTTP %d without a JSON-RPC answer", c.Status)
	case c.ErrorCode == 0 && c.Status != 0: // the recorder's own words
		return fmt.Sprintf("HTTP %d: %s", c.Status, message)
	case c.ErrorCode == 0 && message == "" && c.Task != nil:
		return "task " + string(TaskStatus(c.Task.Status))
	}
	return fmt.Sprintf("error %d: %s", c.ErrorCode, orNone(message))
}

func orNone(message string) string {
	if message == "" {
		return "no message"
	}
	return message
}

// RestOfBatch words that a batch has more elements than are looked at one by one.
func RestOfBatch() string {
	return "batch of more than " + Number(jsonrpc.MaxBatch) + " elements: the rest was searched for answers only"
}

// LetGo words the answer to a call of which only its id is remembered; node is the
// answer.
func LetGo(m *session.Message, node jsontree.Node) string {
	text := "answer to a call let go of (id " + ID(m.ID) + ")"
	c := session.Call{}
	c.ErrorCode, _ = node.Path("error", "code").Int()
	c.ToolError, _ = node.Path("result", "isError").Bool()
	said := node.Path("error", "message")
	for block := range node.Path("result", "content").Elements() {
		said = block.Get("text")
		break
	}
	c.ErrorText, _ = said.Str()
	if c.ToolError || node.Get("error").Kind() == jsontree.Object {
		text += ": " + Failure(&c)
	}
	return text
}

// Unmatched words an error that answers no request of the record.
func Unmatched(m *session.Message) string {
	text := "error that answers no request seen"
	if m.ID != "" {
		text += " (id " + ID(m.ID) + ")"
	}
	return text
}
