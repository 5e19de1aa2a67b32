package export

import (
	"encoding/json"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/catalog"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/view"
)

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// moment is a time to write, nil (null) where the recorder wrote none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func newSession(h *session.Header, live bool) Session {
	c := &h.Counts
	s := Session{
		ID: h.ID, Label: h.Label, Transport: transports[h.Transport&3], State: view.State(h, live),
		First: moment(h.First.Wall), Last: moment(h.Last.Wall), DurationMS: millis(h.Last.Sub(h.First)),
		Revision: h.RevisionText, Runs: []RunPart{},
		Frames: c.Frames, Requests: c.Requests, Responses: c.Responses, Notifications: c.Notifications,
		Calls: c.Calls, Retries: c.Retries,
		Errors: c.Errors, Invalid: c.Invalid, Pending: c.Pending, LateResults: c.Late,
		MissingFrames: c.Missing, Unreadable: c.Unreadable, Torn: c.Torn > 0, Truncated: c.Truncated, Bytes: c.Bytes, LetGo: c.Let, Unread: c.Unread,
	}
	if h.ID != h.Tap {
		s.Tap = h.Tap
	}
	st := &h.Start
	recorder := Recorder{st.Tool, st.Format, st.PID, st.Host, st.Command, st.Cwd, st.ServerPID, st.Listen, st.Target}
	if st.Format != 0 || len(st.Command) > 0 || st.Cwd != "" || st.Listen != "" || st.Target != "" {
		s.Recorder = &recorder
	}
	s.ClientProcess = newClientProcess(h)
	if e := h.End; e != nil {
		s.Exit = &Exit{e.ExitCode, e.Signal, e.Frames, e.Dropped}
	}
	return s
}

func newCapabilities(h *session.Header) *Capabilities {
	c := Capabilities{
		ProtocolVersion: h.RevisionText, Instructions: h.Instructions,
		ClientInfo: newInfo(h.Client), ServerInfo: newInfo(h.Server),
		Client: rawOrNil(h.Client.Capabilities), Server: rawOrNil(h.Server.Capabilities),
	}
	if c.ProtocolVersion == "" && c.ClientInfo == nil && c.ServerInfo == nil && c.Client == nil && c.Server == nil && c.Instructions == "" {
		return nil
	}
	return &c
}

func newInfo(p session.Peer) *Info {
	if p.Name == "" && p.Version == "" && p.Title == "" {
		return nil
	}
	return &Info{p.Name, p.Title, p.Version}
}

// rawOrNil is JSON text that the reducer kept; it may have been cut.
func rawOrNil(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

func newSummary(snapshot *session.Snapshot) Summary {
	st := &snapshot.Stats
	s := Summary{
		Answered: st.Answered, P50MS: millis(st.P50), P95MS: millis(st.P95), P99MS: millis(st.P99),
		Tools: make([]Tool, 0, len(st.Tools)), SlowestCalls: make([]SlowestCall, 0, len(st.Slowest)),
	}
	for _, t := range st.Tools {
		s.Tools = append(s.Tools, Tool{
			t.Name, t.Calls, t.Errors, t.Pending, millis(t.P50), millis(t.P95), millis(t.P99), t.Bytes, t.MaxBytes,
		})
	}
	for i := range st.Slowest {
		c := &st.Slowest[i]
		d, _ := c.Duration()
		s.SlowestCalls = append(s.SlowestCalls, SlowestCall{c.Index, c.ID, c.Target, millis(d), c.Errored})
	}
	if tools := snapshot.Catalog.Tools; tools != nil {
		s.Definitions = newDefinitions(tools)
	}
	return s
}

func newDefinitions(l *catalog.Listing) *Definitions {
	d := &Definitions{
		Tools: len(l.Items), Bytes: l.Bytes, Complete: l.Complete, Stale: l.Stale, Omitted: l.Omitted,
		PerTool: make([]Definition, 0, len(l.Items)),
	}
	for _, item := range l.Heaviest() {
		d.PerTool = append(d.PerTool, Definition{item.Name, item.Bytes, item.DescriptionBytes, item.SchemaBytes})
	}
	return d
}

var gapKinds = map[session.GapKind]string{
	session.Lost: "lost", session.Hole: "hole", session.Skipped: "skipped", session.TornEnd: "torn", session.Stepped: "clock",
}

func newGaps(notes []session.GapNote) []Gap {
	gaps := make([]Gap, 0, len(notes))
	for i := range notes {
		n := &notes[i]
		g := Gap{
			Kind: gapKinds[n.Kind], Seq: n.Seq, Line: n.Line, Lost: n.Gap.Lost, First: n.Gap.First, Last: n.Gap.Last,
			Bytes: n.Gap.Bytes + int64(n.Bytes), Reason: n.Gap.Reason + n.Why,
			WallMS: millis(n.Clock.Wall), MonoMS: millis(n.Clock.Mono),
		}
		gaps = append(gaps, g)
	}
	return gaps
}

var (
	transports = [4]string{capture.Stdio: "stdio", capture.HTTP: "http"}
	directions = [8]string{capture.C2S: "c2s", capture.S2C: "s2c", capture.Stderr: "stderr", capture.Meta: "meta"}
	states     = map[session.State]string{
		session.StatePending: "pending", session.StateStreaming: "streaming", session.StateCompleted: "completed",
		session.StateFailed: "failed", session.StateCancelled: "cancelled", session.StateSuperseded: "superseded",
		session.StateAbandoned: "abandoned",
	}
	outcomes = map[session.Outcome]string{
		session.OutcomeOK: "ok", session.OutcomeError: "error", session.OutcomeToolError: "tool_error",
		session.OutcomeExpected: "expected", session.OutcomeCancelled: "cancelled", session.OutcomeLate: "late",
		session.OutcomeDuplicate: "duplicate", session.OutcomeUnmatched: "unmatched",
		session.OutcomeSuperseded: "superseded", session.OutcomeInput: "input_required",
		session.OutcomeStream: "stream", session.OutcomeBad: "bad", session.OutcomeTask: "task",
		session.OutcomeEarly: "early", session.OutcomeStale: "stale",
	}
	closers = map[session.Closer]string{session.ByClient: "client", session.ByServer: "server", session.ByUpstream: "upstream"}
	links   = map[session.Link]string{session.ByState: "state", session.ByInput: "input"}
	echoes  = map[session.Echo]string{
		session.EchoSame: "same", session.EchoChanged: "changed", session.EchoMissing: "missing", session.EchoInvented: "invented",
	}
)

// newCall is a call without its payloads.
func newCall(c *session.Call, why *Why) Call {
	out := Call{
		Index: c.Index, ID: c.ID, Method: c.Method, Direction: directions[c.Dir&7], State: states[c.State], Status: callStatus(c),
		IsTool: c.Method == "tools/call", Target: c.Target, IsError: c.Errored, ToolError: c.ToolError, Expected: c.Expected,
		RequestSeq: c.Request.Seq, ResponseSeq: c.Response.Seq, StartedAt: moment(c.Start.Wall), LateResult: c.Late,
		ResultBytes: c.ResultLen, HTTPStatus: c.Status, Repeats: c.Repeats, Retries: c.Retries, ProgressToken: c.HasToken, Why: why, LetGo: c.Let,
	}
	if c.Unknown() {
		out.State, out.Status = "unknown", "unknown"
	}
	if out.IsTool {
		out.ToolName = c.Target
	}
	if c.Traced() {
		out.TraceID, out.ParentSpan = c.Trace.String(), c.Span.String()
	}
	if c.Task != nil {
		out.TaskID, out.TaskStatus = c.Task.ID, c.Task.Status
	}
	if x := c.Cancel; x != nil {
		out.CancelledAt, out.CancelReason, out.CancelClosed = moment(x.At.Wall), x.Reason, x.Closed
	}
	if x := c.Cut; x != nil {
		out.Cut = &Cut{x.Seq, moment(x.At.Wall), millis(x.Silent), closers[x.By]}
	}
	if d, ok := c.Duration(); ok {
		ms := millis(d)
		out.DurationMS, out.EndedAt = &ms, moment(c.End.Wall)
	} else if !c.Open() && c.Cancel == nil {
		out.EndedAt = moment(c.End.Wall)
	}
	if p := c.Progress; p != nil {
		out.Progress = &Progress{p.Seq, p.Value, p.Total, p.Text, p.Count}
	}
	if len(c.Legs) > 0 && !c.Open() {
		answering, asking := c.Shares(c.End)
		a, b := millis(answering), millis(asking)
		out.AnsweringMS, out.AskingMS = &a, &b
	}
	for i := range c.Legs {
		l := &c.Legs[i]
		leg := Leg{ID: l.ID, RequestSeq: l.Request.Seq, ResponseSeq: l.Response.Seq, Input: l.Input, Link: links[l.Link], Echo: echoes[l.Echo]}
		if l.Response.Seq != 0 {
			ms := millis(l.Answered.Sub(l.Asked))
			leg.DurationMS = &ms
		}
		out.Legs = append(out.Legs, leg)
	}
	if c.TaskOf >= 0 {
		of := c.TaskOf
		out.TaskOf = &of
	}
	if c.Within >= 0 {
		within := c.Within
		out.Within = &within
	}
	if c.ErrorCode != 0 {
		out.ErrorName = mcp.CodeName(c.ErrorCode)
	}
	return out
}

// callStatus is the word in which the JSON says how a call stands. A cancelled task
// is "cancelled", a cancelled call "call_cancelled".
func callStatus(c *session.Call) string {
	switch {
	case c.Late:
		return "late_result"
	case c.State == session.StateCancelled:
		return "call_cancelled"
	case c.State == session.StatePending:
		return "pending"
	case c.State == session.StateStreaming:
		return "streaming"
	case c.State == session.StateSuperseded:
		return "superseded"
	case c.State == session.StateAbandoned:
		return "abandoned"
	case c.Task != nil && c.Task.Status == "cancelled" && !c.Errored && c.State == session.StateFailed:
		return "cancelled"
	case c.State == session.StateFailed, c.ToolError:
		return "error"
	}
	return "ok"
}

// newEvent is a message, or a frame that is none (m nil), without raw payload.
func newEvent(f *capture.Frame, m *session.Message) Event {
	e := Event{
		Seq: f.Seq, Timestamp: moment(f.Time), Direction: directions[f.Dir&7], Kind: kind(f, m), Size: f.Size,
		HTTPStatus: f.Status(), Truncated: f.Flags&capture.Truncated != 0, Redacted: f.Flags&capture.Redacted != 0,
		Exchange: f.Exchange, ConnID: f.Conn, MCPSession: f.MCPSession,
	}
	switch f.Form {
	case capture.Text:
		e.Text = string(f.Payload)
	case capture.Bytes:
		e.Bytes = f.Payload
	}
	if h := f.HTTP; h != nil {
		e.AuthChallenge = h.Response["www-authenticate"]
		e.HTTP = newHTTP(h)
	}
	if m == nil {
		return e
	}
	e.Method, e.ID, e.Target, e.Outcome, e.Retry, e.Size = m.Method, m.ID, m.Target, outcomes[m.Outcome], m.Leg, m.Size
	if m.Call >= 0 {
		index := m.Call
		e.CallIndex = &index
	}
	if m.Element >= 0 {
		element := m.Element
		e.Element = &element
	}
	return e
}

func newHTTP(h *capture.HTTPFacts) *HTTP {
	out := HTTP{Verb: h.Verb, Path: h.Path, Query: h.Query, Request: h.Request, Response: h.Response, ClosedBy: h.ClosedBy, Error: h.Error}
	if s := h.SSE; s != nil {
		out.SSE = &SSE{s.ID, s.Event, s.Retry, s.Data, s.Comment, s.Rewritten}
	}
	if out.Verb == "" && out.Path == "" && out.Query == "" && len(out.Request) == 0 && len(out.Response) == 0 && out.SSE == nil && out.ClosedBy+out.Error == "" {
		return nil
	}
	return &out
}

var ownKinds = map[capture.Kind]string{
	capture.Start: "meta", capture.HTTPHead: "transport", capture.Open: "open", capture.Close: "close",
	capture.Gap: "gap", capture.Clock: "clock", capture.End: "end", capture.Other: "other",
}

var messageKinds = map[jsonrpc.Kind]string{
	jsonrpc.Request: "request", jsonrpc.Response: "response", jsonrpc.Notification: "notification",
	jsonrpc.Invalid: "invalid", jsonrpc.Odd: "other",
}

// kind says what an event is.
func kind(f *capture.Frame, m *session.Message) string {
	switch {
	case f.Kind != capture.Line:
		return ownKinds[f.Kind]
	case f.Dir == capture.Stderr:
		return "stderr"
	case f.Dir == capture.Meta:
		return "meta"
	case m == nil:
		return "other"
	case m.Kind == jsonrpc.Invalid && m.Outcome != session.OutcomeBad:
		if f.Status() != 0 && !m.Defects.Has(jsonrpc.RestOfBatch) {
			return "transport" // an HTTP status with a body that is no message
		}
		return "other" // a cut copy, or the rest of a batch: nobody knows what it was
	}
	return messageKinds[m.Kind]
}

func newFindings(list []judge.Group) (out []Finding) {
	for i := range list {
		g := &list[i]
		out = append(out, Finding{g.Clause.ID, g.Rows - 1, g.Clause.Level.String(), g.Clause.Signal.String(), g.Check.ID, g.Detail})
	}
	return out
}
