// Package export writes a recorded log in other formats.
//
// A log is read twice and never held: the first pass learns what became of every
// session and call and spools the calls, the second writes the frames with what
// they brought. Memory grows with open work and a few bytes a call, not with frames.
package export

import (
	"encoding/json"
	"time"
)

// FormatVersion is the "version" of the JSON this package writes. Within a version
// members are added only.
const FormatVersion = 1

// Document is the JSON of one session. Times are RFC 3339 in UTC, durations
// milliseconds, sizes bytes, ids of messages their exact JSON text.
type Document struct {
	Version     int       `json:"version"`
	GeneratedAt time.Time `json:"generated_at"`
	SessionPart
	Events []Event `json:"events"`
}

// Collection is the JSON of several sessions, or of a run: their events merged by time,
// each naming its session. Of a session that several runs share, the calls and events of
// other runs are left out; summary and counts of a session are always of all of it.
type Collection struct {
	Version     int           `json:"version"`
	GeneratedAt time.Time     `json:"generated_at"`
	Run         *Run          `json:"run"` // null: no run was asked for
	Sessions    []SessionPart `json:"sessions"`
	Events      []Event       `json:"events"`
}

// SessionPart is all of a session but its events.
type SessionPart struct {
	Session      Session       `json:"session"`
	Summary      Summary       `json:"summary"`
	Capabilities *Capabilities `json:"capabilities,omitempty"`
	Gaps         []Gap         `json:"gaps"`                // what the record lacks, in order
	MoreGaps     int           `json:"more_gaps,omitempty"` // beyond those listed
	Calls        []Call        `json:"calls"`
}

// Session says which session it is, who took part and how many of each thing passed.
type Session struct {
	ID            string         `json:"id"`            // "<tap id>.<n>" where the tap held several sessions
	Tap           string         `json:"tap,omitempty"` // where it held several
	Label         string         `json:"label"`
	Transport     string         `json:"transport"`
	State         string         `json:"state"` // as in the list of sessions: "exit 0", "torn", …
	First         *time.Time     `json:"first"`
	Last          *time.Time     `json:"last"`
	DurationMS    float64        `json:"duration_ms"`
	Revision      string         `json:"revision,omitempty"`
	Frames        int            `json:"frames"`
	Requests      int            `json:"requests"`
	Responses     int            `json:"responses"`
	Notifications int            `json:"notifications"`
	Calls         int            `json:"calls"`
	Retries       int            `json:"retries"`
	Errors        int            `json:"errors"`
	Invalid       int            `json:"invalid"`
	Pending       int            `json:"pending"`
	LateResults   int            `json:"late_results"`
	MissingFrames int            `json:"missing_frames"`
	Unreadable    int            `json:"unreadable_lines"`
	Torn          bool           `json:"torn"`
	Unread        int            `json:"unread_batches,omitempty"` // whose elements were not all looked at, see session.Counts
	Truncated     int            `json:"truncated"`
	Bytes         int64          `json:"bytes"`
	LetGo         int            `json:"let_go,omitempty"` // calls too many to be followed, see session.Counts
	Recorder      *Recorder      `json:"recorder,omitempty"`
	ClientProcess *ClientProcess `json:"client_process,omitempty"`
	Exit          *Exit          `json:"exit,omitempty"`
	Runs          []RunPart      `json:"runs"` // that the session is part of
}

// Recorder is the tap that wrote the log, and what it was put in front of.
type Recorder struct {
	Tool      string   `json:"tool,omitempty"`
	Format    int      `json:"format,omitempty"`
	PID       int      `json:"pid,omitempty"`
	Host      string   `json:"host,omitempty"`
	Command   []string `json:"command,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	ServerPID int      `json:"server_pid,omitempty"`
	Listen    string   `json:"listen,omitempty"`
	Target    string   `json:"target,omitempty"`
}

// ClientProcess is the process that started the tap. Weak says why it must not be
// used to tie sessions together.
type ClientProcess struct {
	Host      string    `json:"host,omitempty"`
	PID       int       `json:"pid"`
	Start     string    `json:"start,omitempty"`
	Name      string    `json:"name,omitempty"`
	Weak      string    `json:"weak,omitempty"`
	Ancestors []Process `json:"ancestors,omitempty"`
}

// Process is an ancestor of a tap.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"`
	Name  string `json:"name,omitempty"`
}

// Exit is how a recording ended.
type Exit struct {
	Code    *int   `json:"exit_code"`
	Signal  string `json:"signal,omitempty"`
	Frames  uint64 `json:"frames"`
	Dropped uint64 `json:"dropped"`
}

// Summary sums up the tool calls of a session.
type Summary struct {
	Definitions  *Definitions  `json:"definitions,omitempty"` // absent if tools were never listed
	Answered     int           `json:"answered"`
	P50MS        float64       `json:"p50_ms"`
	P95MS        float64       `json:"p95_ms"`
	P99MS        float64       `json:"p99_ms"`
	Tools        []Tool        `json:"tools"`
	SlowestCalls []SlowestCall `json:"slowest_calls"`
}

// Definitions is what the tools a server lists cost to know, heaviest first.
type Definitions struct {
	Tools    int          `json:"tools"`
	Bytes    int          `json:"bytes"`
	Complete bool         `json:"complete"`
	Stale    bool         `json:"stale,omitempty"`   // the server has said since that the list changed
	Omitted  int          `json:"omitted,omitempty"` // definitions left out because there are too many
	PerTool  []Definition `json:"per_tool"`
}

// Definition is what one tool's definition costs. Bytes are those of its JSON
// without blanks between tokens.
type Definition struct {
	Name             string `json:"name"`
	Bytes            int    `json:"bytes"`
	DescriptionBytes int    `json:"description_bytes"`
	SchemaBytes      int    `json:"schema_bytes"`
}

// Tool sums up the calls of one tool. Percentiles are nearest rank.
type Tool struct {
	Name           string  `json:"name"`
	Calls          int     `json:"calls"`
	Errors         int     `json:"errors"`
	Pending        int     `json:"pending"`
	P50MS          float64 `json:"p50_ms"`
	P95MS          float64 `json:"p95_ms"`
	P99MS          float64 `json:"p99_ms"`
	ResultBytes    int64   `json:"result_bytes"`
	MaxResultBytes int64   `json:"max_result_bytes"`
}

// SlowestCall is one of the up to five slowest tool calls.
type SlowestCall struct {
	CallIndex  int32   `json:"call_index"`
	ID         string  `json:"id"`
	ToolName   string  `json:"tool_name"`
	DurationMS float64 `json:"duration_ms"`
	IsError    bool    `json:"is_error"`
}

// Capabilities is what the two sides said of themselves, capabilities verbatim.
type Capabilities struct {
	ProtocolVersion string          `json:"protocol_version,omitempty"`
	ClientInfo      *Info           `json:"client_info,omitempty"`
	ServerInfo      *Info           `json:"server_info,omitempty"`
	Client          json.RawMessage `json:"client,omitempty"`
	Server          json.RawMessage `json:"server,omitempty"`
	Instructions    string          `json:"instructions,omitempty"`
}

// Info names one side.
type Info struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// Gap is one place where the record lacks something, or where time jumped.
type Gap struct {
	Kind   string  `json:"kind"` // lost, hole, skipped, torn, clock
	Seq    uint64  `json:"seq,omitempty"`
	Line   int     `json:"line,omitempty"`
	Lost   uint64  `json:"lost,omitempty"`
	First  uint64  `json:"first,omitempty"`
	Last   uint64  `json:"last,omitempty"`
	Bytes  int64   `json:"bytes,omitempty"`
	Reason string  `json:"reason,omitempty"`
	WallMS float64 `json:"wall_ms,omitempty"` // clock: what the wall clock moved,
	MonoMS float64 `json:"mono_ms,omitempty"` // and what really passed
}

// Call is a request and everything that became of it. A request that was asked for
// input and its retries are one call.
type Call struct {
	Index         int32           `json:"index"`
	ID            string          `json:"id"`
	Method        string          `json:"method"`
	Direction     string          `json:"direction"`
	State         string          `json:"state"`
	Status        string          `json:"status"`
	IsTool        bool            `json:"is_tool"`
	ToolName      string          `json:"tool_name,omitempty"`
	Target        string          `json:"target,omitempty"`
	IsError       bool            `json:"is_error"`
	ToolError     bool            `json:"tool_error"`
	Expected      bool            `json:"expected,omitempty"`    // a refusal that belongs to probing
	TraceID       string          `json:"trace_id,omitempty"`    // of its traceparent in _meta,
	ParentSpan    string          `json:"parent_span,omitempty"` // and the span that named
	TaskID        string          `json:"task_id,omitempty"`
	TaskStatus    string          `json:"task_status,omitempty"`
	RequestSeq    uint64          `json:"request_seq"`
	ResponseSeq   uint64          `json:"response_seq,omitempty"`
	StartedAt     *time.Time      `json:"started_at"`
	EndedAt       *time.Time      `json:"ended_at,omitempty"`
	CancelledAt   *time.Time      `json:"cancelled_at,omitempty"`
	CancelReason  string          `json:"cancel_reason,omitempty"`
	CancelClosed  bool            `json:"cancel_by_close,omitempty"` // not by a notification: the client closed the HTTP response
	Cut           *Cut            `json:"cut,omitempty"`
	LateResult    bool            `json:"late_result,omitempty"`
	DurationMS    *float64        `json:"duration_ms,omitempty"`
	AnsweringMS   *float64        `json:"answering_ms,omitempty"` // of duration_ms: the answering side had it,
	AskingMS      *float64        `json:"asking_ms,omitempty"`    // and the asking side, to give input
	ResultBytes   int             `json:"result_bytes,omitempty"`
	HTTPStatus    int16           `json:"http_status,omitempty"` // that refused it
	Repeats       int32           `json:"repeats,omitempty"`     // further answers after the one that settled it
	ProgressToken bool            `json:"progress_token,omitempty"`
	Progress      *Progress       `json:"progress,omitempty"`
	Retries       int32           `json:"retries,omitempty"` // requests after the first
	Legs          []Leg           `json:"legs,omitempty"`
	TaskOf        *int32          `json:"task_of,omitempty"` // index of the call that became the task this one is about
	Within        *int32          `json:"within,omitempty"`  // index of the other side's call in which this was asked
	Why           *Why            `json:"why,omitempty"`
	LetGo         bool            `json:"let_go,omitempty"` // too much was open at once: what came later is told in the counts alone
	ErrorName     string          `json:"error_name,omitempty"`
	Params        json.RawMessage `json:"params,omitempty"`
	Result        json.RawMessage `json:"result,omitempty"`
	Error         json.RawMessage `json:"error,omitempty"`
}

// Progress is the last progress a call reported.
type Progress struct {
	Seq   uint64  `json:"seq"`
	Value float64 `json:"value"`
	Total float64 `json:"total,omitempty"`
	Text  string  `json:"text,omitempty"`
	Count int32   `json:"count"`
}

// Leg is one request of a call that was asked for input, and what answered it.
type Leg struct {
	ID          string   `json:"id"`
	RequestSeq  uint64   `json:"request_seq"`
	ResponseSeq uint64   `json:"response_seq,omitempty"`
	DurationMS  *float64 `json:"duration_ms,omitempty"`
	Input       bool     `json:"input_required,omitempty"` // the answer asks for input
	Link        string   `json:"link,omitempty"`           // state, input: what tied the retry to its call
	Echo        string   `json:"echo,omitempty"`           // same, changed, missing, invented: what became of requestState
}

// Why says why a call hung, was given up or came late, as check and the screens do.
type Why struct {
	First    string   `json:"first"`
	Evidence []string `json:"evidence,omitempty"`
	Try      string   `json:"try,omitempty"`
}

// Event is one frame, or one element of a batch.
type Event struct {
	Session       string          `json:"session,omitempty"` // only among several
	Seq           uint64          `json:"seq"`
	Timestamp     *time.Time      `json:"timestamp"`
	Direction     string          `json:"direction"`
	Kind          string          `json:"kind"`
	Method        string          `json:"method,omitempty"`
	ID            string          `json:"id,omitempty"`
	Target        string          `json:"target,omitempty"`
	Outcome       string          `json:"outcome,omitempty"`
	CallIndex     *int32          `json:"call_index,omitempty"`
	SessionWide   bool            `json:"session_wide,omitempty"` // in a trace: it belongs to no call of one, but to its session
	Retry         int16           `json:"retry,omitempty"`        // number of the retry it is, or answers
	Element       *int32          `json:"element,omitempty"`
	Size          int64           `json:"size,omitempty"`
	HTTPStatus    int             `json:"http_status,omitempty"`
	AuthChallenge string          `json:"auth_challenge,omitempty"`
	Truncated     bool            `json:"truncated,omitempty"`
	Redacted      bool            `json:"redacted,omitempty"`
	Exchange      uint64          `json:"exchange,omitempty"`
	ConnID        string          `json:"conn_id,omitempty"`
	MCPSession    string          `json:"mcp_session,omitempty"`
	HTTP          *HTTP           `json:"http,omitempty"`
	Findings      []Finding       `json:"findings,omitempty"`
	Text          string          `json:"text,omitempty"`
	Bytes         []byte          `json:"bytes,omitempty"` // base64: no valid UTF-8
	Raw           json.RawMessage `json:"raw,omitempty"`   // as it passed, spaces apart
}

// Finding is a requirement that the frame broke.
type Finding struct {
	Rule   string `json:"rule"`                 // id of the clause
	More   int    `json:"more_rules,omitempty"` // further clauses that say the same
	Level  string `json:"level"`
	Signal string `json:"signal"`
	Check  string `json:"check"`
	Detail string `json:"detail"`
}

// HTTP is what HTTP adds to a frame.
type HTTP struct {
	Verb     string            `json:"verb,omitempty"`
	Path     string            `json:"path,omitempty"`
	Query    string            `json:"query,omitempty"`
	Request  map[string]string `json:"request_headers,omitempty"`
	Response map[string]string `json:"response_headers,omitempty"`
	SSE      *SSE              `json:"sse,omitempty"`
	ClosedBy string            `json:"closed_by,omitempty"`
	Error    string            `json:"error,omitempty"` // why the recorder answered itself, or a response broke off
}

// Cut is the end of the HTTP response on which an answer was to come, before it came.
type Cut struct {
	Seq      uint64     `json:"seq"`
	At       *time.Time `json:"at"`
	SilentMS float64    `json:"silent_ms"` // without a byte before that
	By       string     `json:"by,omitempty"`
}

// SSE is what an event of a stream says beside its message.
type SSE struct {
	ID      string `json:"id,omitempty"`
	Event   string `json:"event,omitempty"`
	Retry   int64  `json:"retry_ms,omitempty"`
	Data    string `json:"data,omitempty"`
	Comment string `json:"comment,omitempty"`

	Rewritten string `json:"rewritten,omitempty"` // data that the recorder sent on instead
}
