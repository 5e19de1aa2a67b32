package session

import (
	"iter"
	"math"
	"slices"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/tracectx"
)

// keeper keeps every message and call of a session in little space: a message is
// 88 bytes without pointers, a call 80.
type keeper struct {
	names    *names
	ids      vector[string]
	messages vector[packedMessage]
	calls    vector[packedCall]
	traces   vector[tracectx.TraceID] // of calls; one that follows its like is not repeated
}

func newKeeper(n *names) *keeper {
	k := &keeper{names: n}
	k.ids.add("")
	return k
}

type packedMessage struct {
	seq, offset, wall, mono, size uint64
	len, line, file               int32
	call, element                 int32
	id, method, target            uint32
	status, leg                   int16
	defects                       jsonrpc.Defects
	dir                           capture.Dir
	transport                     capture.Transport
	frame                         capture.Kind
	flags                         capture.Flags
	kind                          jsonrpc.Kind
	outcome                       Outcome
	revision                      mcp.Revision
}

// noWall stands for a time that was not recorded.
const noWall = math.MinInt64

func packWall(t time.Time) uint64 {
	wall := int64(noWall)
	// UnixNano holds the years 1678 to 2262.
	if y := t.Year(); y > 1678 && y < 2262 {
		wall = t.UnixNano()
	}
	return uint64(wall)
}

func unpackInstant(wall, mono uint64) Instant {
	at := Instant{Mono: time.Duration(mono)}
	if int64(wall) != noWall {
		at.Wall = time.Unix(0, int64(wall)).UTC()
	}
	return at
}

func packMessage(m *Message, id, method, target uint32) packedMessage {
	return packedMessage{
		seq: m.Ref.Seq, offset: uint64(m.Ref.Offset), wall: packWall(m.At.Wall), mono: uint64(m.At.Mono), size: uint64(m.Size),
		len: m.Ref.Len, line: m.Ref.Line, file: m.Ref.File,
		call: m.Call, element: m.Element, id: id, method: method, target: target, status: m.Status, leg: m.Leg,
		defects: m.Defects, dir: m.Dir, transport: m.Transport, frame: m.Frame, flags: m.Flags, kind: m.Kind,
		outcome: m.Outcome, revision: m.Revision,
	}
}

func (p *packedMessage) ref() capture.Ref {
	return capture.Ref{Seq: p.seq, Offset: int64(p.offset), Len: p.len, Line: p.line, File: p.file}
}

func (p *packedMessage) at() Instant { return unpackInstant(p.wall, p.mono) }

// MessageList is the messages of a session, in the order they passed. It does not
// change.
type MessageList struct {
	messages frozen[packedMessage]
	ids      frozen[string]
	names    []string
}

// Len returns the number of messages.
func (l *MessageList) Len() int { return l.messages.n }

// At returns message i, from 0.
func (l *MessageList) At(i int) Message {
	p := l.messages.at(i)
	return Message{
		Ref: p.ref(), At: p.at(), Dir: p.dir, Transport: p.transport, Frame: p.frame, Flags: p.flags,
		Kind: p.kind, Defects: p.defects, Outcome: p.outcome, Revision: p.revision, Status: p.status,
		Element: p.element, Call: p.call, Leg: p.leg, ID: *l.ids.at(int(p.id)),
		Method: l.names[p.method], Target: l.names[p.target], Size: int64(p.size),
	}
}

// All yields the messages with their indexes.
func (l *MessageList) All() iter.Seq2[int, Message] {
	return func(yield func(int, Message) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// packedCall is a call whose moments are messages of the list.
type packedCall struct {
	rest                 *callRest // what few calls have
	request, response    int32     // messages, -1 if none
	end, sign            int32
	id, method, target   uint32
	result               uint32 // length, at most 4 GiB
	within, taskOf       int32
	trace                uint32 // number of the id, from 1
	span                 tracectx.SpanID
	dir                  capture.Dir
	revision             mcp.Revision
	state                State
	toolError, expected  bool
	errored, late, token bool
	let                  bool
}

// callRest is the part of a call that most calls do not have. It is not changed once
// a call holds it.
type callRest struct {
	cancel    *Cancel
	cut       *Cut
	progress  *Progress
	legs      []Leg
	asking    time.Duration
	also      []tracectx.TraceID
	retries   int32
	task      *Task
	stream    *Stream
	errorCode int64
	errorText string
	status    int16
	repeats   int32
	end       Instant // where no message marks it
}

// CallList is the calls of a session, in the order of their requests. It does not
// change.
type CallList struct {
	calls    frozen[packedCall]
	messages MessageList
	signs    [4]sign // by direction
	traces   frozen[tracectx.TraceID]
}

// Len returns the number of calls.
func (l *CallList) Len() int { return l.calls.n }

// At returns call i, from 0. What its pointers and slices hold must not be changed.
func (l *CallList) At(i int) Call {
	p := l.calls.at(i)
	c := Call{
		Index: int32(i), Dir: p.dir, ID: *l.messages.ids.at(int(p.id)),
		Method: l.messages.names[p.method], Target: l.messages.names[p.target],
		Revision: p.revision, State: p.state, ToolError: p.toolError, Expected: p.expected, Errored: p.errored,
		Late: p.late, ResultLen: int(p.result), HasToken: p.token, TaskOf: p.taskOf, Within: p.within, Let: p.let,
	}
	if p.trace > 0 {
		c.Trace, c.Span = *l.traces.at(int(p.trace - 1)), p.span
	}
	if m := l.message(p.request); m != nil {
		c.Request, c.Start = m.ref(), m.at()
	}
	if m := l.message(p.response); m != nil {
		c.Response = m.ref()
	}
	if m := l.message(p.end); m != nil {
		c.End = m.at()
	}
	last := p.sign
	if c.Open() {
		last = l.signs[answering(p.dir)].message
	}
	if m := l.message(last); m != nil && last > p.request {
		c.LastSign = m.at()
	}
	if r := p.rest; r != nil {
		c.Cancel, c.Cut, c.Progress, c.Legs, c.Task, c.Stream = r.cancel, r.cut, r.progress, r.legs, r.task, r.stream
		c.ErrorCode, c.ErrorText, c.Status, c.Repeats = r.errorCode, r.errorText, r.status, r.repeats
		c.Retries, c.Asking, c.Also = r.retries, r.asking, r.also
		if p.end < 0 {
			c.End = r.end
		}
	}
	return c
}

func (l *CallList) message(i int32) *packedMessage {
	if i < 0 {
		return nil
	}
	return l.messages.messages.at(int(i))
}

// All yields the calls with their indexes.
func (l *CallList) All() iter.Seq2[int, Call] {
	return func(yield func(int, Call) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// lists returns what the keeper holds, frozen.
func (k *keeper) lists(signs [4]sign) (MessageList, CallList) {
	m := MessageList{k.messages.freeze(), k.ids.freeze(), k.names.list[:len(k.names.list):len(k.names.list)]}
	return m, CallList{k.calls.freeze(), m, signs, k.traces.freeze()}
}

// pack writes a call as it stands into the list.
func (k *keeper) pack(c *call) {
	trace, span := k.traceOf(c)
	*k.calls.edit(int(c.Index)) = packedCall{
		rest: c.rest(), request: c.requestAt, response: c.responseAt, end: c.endAt, sign: c.signAt,
		id: c.idText, method: c.methodName, target: c.targetName,
		result: uint32(min(c.ResultLen, math.MaxUint32)), within: c.Within, taskOf: c.TaskOf, trace: trace, span: span,
		dir: c.Dir, revision: c.Revision, state: c.State, toolError: c.ToolError, expected: c.Expected,
		errored: c.Errored, late: c.Late, token: c.HasToken, let: c.Let,
	}
}

// rest copies what only few calls have, nil if this one has none of it.
func (c *call) rest() *callRest {
	ends := c.endAt < 0 && c.End != Instant{} // where no message marks it
	if !ends && len(c.Legs) == 0 && c.ErrorCode == 0 && c.ErrorText == "" && c.Call.Status == 0 && c.Repeats == 0 &&
		c.Call.Cancel == nil && c.Call.Cut == nil && c.Call.Progress == nil && c.Call.Task == nil && c.Call.Stream == nil {
		return nil
	}
	r := &callRest{
		errorCode: c.ErrorCode, errorText: c.ErrorText, status: c.Call.Status, repeats: c.Repeats,
		cancel: clone(c.Call.Cancel), cut: clone(c.Call.Cut), progress: clone(c.Call.Progress), task: clone(c.Call.Task), stream: clone(c.Call.Stream),
		legs: slices.Clone(c.Legs), retries: c.Retries, asking: c.Asking, also: slices.Clone(c.Also),
	}
	if ends {
		r.end = c.End
	}
	return r
}
