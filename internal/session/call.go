package session

import (
	"slices"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/tracectx"
)

// State is the state of a call.
type State uint8

// The states of a call. Open states are StatePending and StateStreaming.
const (
	StatePending    State = iota
	StateStreaming        // open by design: subscriptions/listen
	StateCompleted        // answered with a result (ToolError tells a failed tool)
	StateFailed           // answered with an error, refused by an HTTP status, or a task that failed or was cancelled
	StateCancelled        // given up by the requester; Late says whether an answer came all the same
	StateSuperseded       // its id was used again while it was open
	StateAbandoned        // a server's request, or input a server had asked for, still open when the client left
)

// Call is a request and everything that became of it. A request that was answered
// with input_required and its retries are one call: Request is the first of them,
// Response the last answer, and Legs holds each.
type Call struct {
	Index     int32       // in its session, in order of requests
	Dir       capture.Dir // who asked
	ID        string      // exact JSON text, of the first request; cut at 1024 bytes
	Method    string
	Target    string
	Revision  mcp.Revision
	State     State
	ToolError bool
	Expected  bool // a refusal that belongs to probing: no error
	Errored   bool // counts as an error, once
	Request   capture.Ref
	Response  capture.Ref // what settled it; Seq 0 while there is none
	Start     Instant
	End       Instant // of the answer, else of what ended it; zero while open
	Cancel    *Cancel
	Cut       *Cut // nil unless the response that was to bring the answer ended before it
	Late      bool
	ErrorCode int64
	ErrorText string  // message of the error, or first text of a tool's error; cut at 300 bytes
	Status    int16   // HTTP status that refused it, 0 if none did
	ResultLen int     // bytes of the result's JSON text
	LastSign  Instant // last frame of the answering side while it was open, zero if none
	HasToken  bool    // the request carried a progressToken
	Progress  *Progress
	Repeats   int32         // further answers after the one that settled it
	Retries   int32         // requests after the first
	Legs      []Leg         // each request and its answer; nil for a call that was never asked for input; see MaxLegs
	Asking    time.Duration // what the asking side has taken so far to give the input it was asked for
	Task      *Task         // a task the call became, or, for tasks/get and the like, is about
	TaskOf    int32         // the call that became the task this one is about, -1 if none is known
	Within    int32         // the other side's call in which this was asked, -1 unless that is certain
	Stream    *Stream
	Trace     tracectx.TraceID   // that the first of its requests with a valid traceparent carried, zero if none did
	Span      tracectx.SpanID    // the parent that it named
	Also      []tracectx.TraceID // further ones that retries carried
	Let       bool               // let go of before it was settled, because too much was open at once: see [Counts.Let]
}

// Cancel is how a call was given up.
type Cancel struct {
	Seq    uint64
	At     Instant
	Reason string // as sent, cut at 200 bytes
	Closed bool   // not by a notification: the client closed the HTTP response
}

// Cut is the end of the HTTP response on which an answer was to come, before it came.
// The answer may still come on another.
type Cut struct {
	Seq    uint64
	At     Instant
	Silent time.Duration // since the last byte before
	By     Closer
}

// Closer is who ended an HTTP response.
type Closer uint8

// Who did.
const (
	ByUnknown Closer = iota
	ByClient
	ByServer
	ByUpstream // something on the server's side
)

// Progress is the last progress a call reported.
type Progress struct {
	Seq          uint64
	At           Instant
	Value, Total float64 // Total 0 if none was given
	Text         string  // cut at 200 bytes
	Count        int32   // of progress notifications
}

// MaxLegs is how many legs of a call are kept. Beyond, the last place goes to the
// newest; Retries and Asking count all.
const MaxLegs = 256

// Leg is one request of a call and what answered it.
type Leg struct {
	ID       string
	Request  capture.Ref
	Asked    Instant
	Response capture.Ref // Seq 0 while there is none
	Answered Instant     // zero while there is none
	Input    bool        // the answer asks for input
	Link     Link        // how a retry was tied to its call
	Echo     Echo        // what the retry did with the requestState it had been given
}

// Link is what ties a retry to its call.
type Link uint8

// The ties. A request that fits no waiting call, or several, is a call of its own.
const (
	NoLink  Link = iota // the first leg
	ByState             // the requestState of exactly one waiting call
	ByInput             // method, target and the names of the answered inputs fit exactly one waiting call
)

// Echo is what became of a requestState, which must come back as it was given.
type Echo uint8

// What became of it.
const (
	NoEcho       Echo = iota // none given, none sent
	EchoSame                 // came back as given
	EchoChanged              // another came back
	EchoMissing              // one was given, none came back
	EchoInvented             // none was given, one came
)

// Task is a task as it was last told of.
type Task struct {
	ID      string      // cut at 512 bytes
	Status  string      // working, input_required, completed, failed, cancelled, or another word; "" if never told
	Handle  capture.Ref // the answer that made the call a task
	ToldSeq uint64      // frame that told the status
	ToldAt  Instant
}

// Over reports whether the task has come to an end.
func (t *Task) Over() bool { return terminal(t.Status) }

// Stream is what came of a subscription.
type Stream struct {
	Acknowledged capture.Ref // Seq 0 if it never was
	Notes        int32       // notifications that named it
}

// Open reports whether the call still waits.
func (c *Call) Open() bool { return c.State == StatePending || c.State == StateStreaming }

// Unknown reports whether nobody knows what became of the call: it was let go of while
// it was open. An answer that came later is told in the counts and, where calls are kept,
// in the list.
func (c *Call) Unknown() bool { return c.Let && c.Open() }

// Answered reports whether the call came to an answer, a late one included.
func (c *Call) Answered() bool { return c.Response.Seq != 0 }

// Duration returns how long an answered call took, first request to last answer.
// A call that has no answer has no duration.
func (c *Call) Duration() (d time.Duration, ok bool) {
	if !c.Answered() || c.Open() {
		return 0, false
	}
	return c.End.Sub(c.Start), true
}

// Shares splits the time of a call into what its answering side took and what its
// asking side took to give the input it was asked for. now ends what is open.
func (c *Call) Shares(now Instant) (answering, asking time.Duration) {
	end := c.End
	if c.Open() {
		end = now
	}
	asking = c.Asking
	if c.parked() {
		asking += end.Sub(c.Legs[len(c.Legs)-1].Answered)
	}
	return max(0, end.Sub(c.Start)-asking), asking
}

// parked reports whether input was asked for last, and has not been given.
func (c *Call) parked() bool {
	return len(c.Legs) > 0 && c.Legs[len(c.Legs)-1].Input
}

// Asked reports whether the call waits for input that it was asked for.
func (c *Call) Asked() bool {
	return c.State == StatePending && c.parked()
}

// Clone returns a copy that shares nothing with c.
func (c *Call) Clone() Call {
	own := *c
	own.Cancel, own.Cut, own.Progress, own.Task, own.Stream = clone(c.Cancel), clone(c.Cut), clone(c.Progress), clone(c.Task), clone(c.Stream)
	own.Legs = slices.Clone(c.Legs)
	return own
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
