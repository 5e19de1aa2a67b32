package session

import (
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/mcp"
)

// Instant is when a frame passed: wall time for labels, monotonic time for
// durations (capture.NoMono where the recorder wrote none).
type Instant struct {
	Wall time.Time
	Mono time.Duration
}

// Sub returns i - j by the monotonic clock where both have it, else by the wall
// clock; never less than 0.
func (i Instant) Sub(j Instant) time.Duration {
	if i.Mono != capture.NoMono && j.Mono != capture.NoMono {
		return max(0, i.Mono-j.Mono)
	}
	return max(0, i.Wall.Sub(j.Wall))
}

// Outcome is what a frame brought about. It stands on that one frame; a request
// shows its call's state only while nothing has settled it.
type Outcome uint8

// The outcomes.
const (
	NoOutcome         Outcome = iota
	OutcomeOK                 // answer with a result
	OutcomeError              // answer with a JSON-RPC error, or HTTP status from 400 without a message
	OutcomeToolError          // result with isError
	OutcomeExpected           // refusal that belongs to probing: server/discover refused, 405 to GET or DELETE
	OutcomeCancelled          // a notifications/cancelled that ended a call
	OutcomeLate               // answer after its call was cancelled
	OutcomeDuplicate          // second answer to a settled call
	OutcomeUnmatched          // answer to no request seen
	OutcomeSuperseded         // request that reuses the id of an open one: the older call ends here
	OutcomeInput              // input_required: the call goes on with a retry
	OutcomeStream             // request that stays open by design
	OutcomeBad                // no MCP message where one must be
	OutcomeTask               // answer with a task's handle: the call goes on as that task
	OutcomeEarly              // answer whose request may still come, see capture.NoMono; never the last word
	OutcomeStale              // progress for a call that has ended
)

// Message is one frame, or one element of a batch, as part of the conversation:
// facts only, the payload is fetched by Ref.
type Message struct {
	Ref       capture.Ref
	At        Instant
	Dir       capture.Dir
	Transport capture.Transport
	Frame     capture.Kind
	Flags     capture.Flags
	Kind      jsonrpc.Kind
	Defects   jsonrpc.Defects
	Outcome   Outcome
	Revision  mcp.Revision // in force for this message
	Status    int16        // HTTP status, 0 if none
	Element   int32        // position in a batch, -1 outside
	Call      int32        // index of the call it belongs to in its session, -1 if none
	Leg       int16        // n for the nth retry of its call and what followed it, else 0
	ID        string       // exact JSON text, "" if none; cut at 1024 bytes
	Method    string
	Target    string // tool, prompt or resource it names; cut at 512 bytes
	Size      int64  // on the wire, else of the payload; 0 on elements of a batch but the first
}
