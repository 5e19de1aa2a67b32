// Package capture is the format: what a tap saw, as a [Frame], and how frames
// stand in a log, one JSON object a line (docs/format.md, field by field).
//
// It encodes and decodes; it understands no message. A frame's payload is kept
// as it passed: JSON verbatim, other text as text, anything else as bytes.
package capture

import (
	"maps"
	"time"
)

// Dir says who sent a frame.
type Dir uint8

// The directions of a frame. A Meta frame was sent by nobody: the tap wrote it
// about itself or about what is no message.
const (
	C2S    Dir = iota + 1 // client to server
	S2C                   // server to client
	Stderr                // a line of the server's standard error
	Meta
)

// Transport is what carried a frame.
type Transport uint8

// The transports.
const (
	Stdio Transport = iota + 1
	HTTP
)

// Kind says what a frame is, beside its direction.
type Kind uint8

// The kinds of frames. Only Line frames carry what client and server wrote.
const (
	Line     Kind = iota // a protocol line, HTTP body or SSE message, or a stderr line; has no "kind" in the log
	Start                // first frame of a tap
	HTTPHead             // an HTTP request or response without a body, or an SSE event without a message
	Open                 // an event stream opened
	Close                // an event stream closed, or a response ended early, see HTTPFacts.ClosedBy
	Gap                  // frames were dropped here
	Clock                // wall clock and monotonic clock parted
	End                  // last frame of a tap
	Other                // a kind this version does not know
)

// Form says how a payload was written down.
type Form uint8

// The forms of a payload. Raw is one JSON value, valid UTF-8, no deeper than
// jsontree.MaxDepth; Text is other valid UTF-8; Bytes is the rest. Unjudged lets
// the encoder decide, which is how taps hand frames over.
const (
	NoPayload Form = iota
	Unjudged
	Raw
	Text
	Bytes
)

// EOL says how a line ended on the wire.
type EOL uint8

// The line ends. LF is the rule and has no field in the log.
const (
	LF EOL = iota
	CRLF
	NoEOL // the stream ended inside the line
)

// Flags of a frame.
type Flags uint8

// Truncated: the recorded copy was cut, the wire was not. Redacted: a value was
// replaced by us. Batch: one element of a batch, as other recorders split them.
// Sparse: the recorder leaves holes in its numbering, so a hole is no loss.
const (
	Truncated Flags = 1 << iota
	Redacted
	Batch
	Sparse
)

// Redaction stands in the place of a value that was removed from a [Redacted] frame.
const Redaction = "[REDACTED]"

// NoMono is the Mono of a frame whose recorder wrote no monotonic time. Such
// recorders (upstream mcpsnoop) also number a frame after forwarding it, so an
// answer can stand before its request.
const NoMono time.Duration = -1

// Frame is one thing the tap saw. Payload and HTTP of a decoded frame are memory
// of its reader and hold until the next read; [Frame.Clone] keeps a frame. Strings
// may be kept as they are.
type Frame struct {
	Tap        string        // id of the tap that wrote it: "session_id" in the log
	Label      string        // "server_label"
	Seq        uint64        // counts from 1 in each tap, in the order things passed
	Time       time.Time     // wall clock, UTC, never earlier than the frame before; zero if unknown
	Mono       time.Duration // since the tap started, in whole microseconds in the log; or NoMono
	Dir        Dir
	Transport  Transport
	Kind       Kind
	Form       Form
	Payload    []byte // without its line end; of a Meta frame the tap's note, see Notes
	Size       int64  // bytes on the wire, line end included; 0 if the recorder did not say
	EOL        EOL
	Flags      Flags
	Conn       string // client's TCP address, HTTP only
	Exchange   uint64 // number of the HTTP request/response pair, 0 if unknown
	MCPSession string // Mcp-Session-Id in force
	HTTP       *HTTPFacts
}

// HTTPFacts is what HTTP adds to a frame. Header names are lower case.
type HTTPFacts struct {
	Verb, Path, Query string
	Status            int               // of the response that carried the frame; 0 on requests
	Request, Response map[string]string // allow-listed headers, repeated lines joined by ", "
	SSE               *SSEEvent
	ClosedBy          string // on Close: "client", "server" or "upstream" (not known which)
	Error             string // why the tap answered itself (502), or what broke a response off
}

// SSEEvent is what an event-stream event says beside its message.
type SSEEvent struct {
	ID, Event, Data string
	Retry           int64  // milliseconds, 0 if absent
	Comment         string // lines that begin with a colon, joined by \n
	Rewritten       string // the data that the tap sent on in the place of Data, if it did
}

// Clone returns a frame that owns all its memory.
func (f *Frame) Clone() *Frame {
	c := *f
	c.Payload = append([]byte(nil), f.Payload...)
	if f.HTTP != nil {
		h := *f.HTTP
		h.Request, h.Response = maps.Clone(h.Request), maps.Clone(h.Response)
		if h.SSE != nil {
			e := *h.SSE
			h.SSE = &e
		}
		c.HTTP = &h
	}
	return &c
}

// Passed reports whether the frame is something client or server sent, not a
// note of the tap's own: what the word "frames" counts in every view.
func (f *Frame) Passed() bool { return f.Dir != Meta }

// Status returns the HTTP status that came with the frame, or 0.
func (f *Frame) Status() int {
	if f.HTTP == nil {
		return 0
	}
	return f.HTTP.Status
}

// Ref says where a frame lies in its log, so that payloads can stay on disk.
type Ref struct {
	Seq    uint64
	Offset int64 // of the line in its file
	Len    int32 // of the line, without its newline
	Line   int32 // number of the line in its file, from 1
	File   int32 // which of the files of the log, from 0
}
