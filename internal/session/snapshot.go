package session

import (
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/catalog"
	"mcpsnoop/internal/mcp"
)

// Peer is what one side says of itself.
type Peer struct {
	Name, Title, Version string
	Capabilities         string // exact JSON text, "" if never declared
}

// Header says what a session is, without its messages.
type Header struct {
	ID           string // of the tap; "<tap id>.<n>" where it held several so far
	Tap          string // id of the tap
	Number       int    // of the session in its tap, from 1, in order of first frames
	Label        string
	Transport    capture.Transport
	Start        capture.StartInfo // zero where the recorder wrote none
	End          *capture.EndInfo  // nil without an end frame
	Client       Peer
	Server       Peer
	Instructions string
	Revision     mcp.Revision // negotiated, else the newest declared and not refused; offered by the server if nobody said more
	RevisionText string       // as sent, also where we do not know it
	First, Last  Instant
	Counts       Counts
	Traces       []Trace // that its requests carried, in order of the first of each; at most MaxTraces
	MoreTraced   int     // requests that carried a trace id beyond those
}

// Counts of a session. Frames are those that passed ([capture.Frame.Passed]); the
// counts of signals are those of docs/design.md.
type Counts struct {
	Frames        int
	Requests      int
	Responses     int
	Notifications int
	Calls         int // requests, less retries of one and the same operation
	Retries       int // requests that went on with a call that was asked for input
	Errors        int
	Invalid       int
	Pending       int // client's requests still open, streams apart
	Late          int
	Missing       int // frames of the tap that the numbering says were there: of which of its sessions is unknown
	Unreadable    int // log lines that could not be read
	Torn          int // 1 if the log ends inside a line
	Truncated     int // frames of which the recorded copy was cut
	Unread        int // batches of which the elements beyond jsonrpc.MaxBatch were not looked at one by one
	Let           int // calls let go of because too many were open at once: what became of them is told in these counts alone
	Bytes         int64
}

// Incomplete says how many things the capture lacks.
func (c *Counts) Incomplete() int { return c.Missing + c.Unreadable + c.Torn + c.Unread }

// GapKind is what is missing or odd about the record itself.
type GapKind uint8

// The kinds of gaps.
const (
	Lost    GapKind = iota // a gap frame: dropped by the tap, which said so
	Hole                   // sequence numbers are missing
	Skipped                // a log line is unreadable
	TornEnd                // the log ends inside a line
	Stepped                // a clock frame
)

// GapNote is one place where the record lacks something, or time jumped.
type GapNote struct {
	Kind  GapKind
	Line  int    // in the log, 0 if unknown
	Seq   uint64 // last frame before it
	Gap   capture.GapInfo
	Clock capture.ClockInfo
	Bytes int    // Skipped and TornEnd: of the line
	Why   string // Skipped: what is wrong with the line
}

// ToolStat sums up the calls of one tool.
type ToolStat struct {
	Name            string
	Calls           int
	Errors          int
	Pending         int           // those let go of apart
	P50, P95, P99   time.Duration // nearest rank over answered calls; 0 if none
	Bytes, MaxBytes int64         // of results
}

// Stats of a session. They are over the client's calls, streams and refused probes
// apart; tools and the slowest are those of tools/call.
type Stats struct {
	Answered      int // calls the percentiles are over
	P50, P95, P99 time.Duration
	Tools         []ToolStat // by name
	MoreTools     int        // calls of tools beyond the first 4096 names, which stand in no row
	Slowest       []Call     // up to five, slowest first
}

// Catalog is what a server offers, as it was last listed. It is empty unless
// Options.Keep or Options.Catalog.
type Catalog struct {
	Tools, Prompts, Resources, Templates *catalog.Listing // nil if never listed
}

// Snapshot is a session as it stood at one moment. It does not change and may be
// read while the reducer goes on.
type Snapshot struct {
	Header
	Stats    Stats // zero unless Options.Keep or Options.Stats
	Catalog  Catalog
	Gaps     []GapNote   // the first 1000
	MoreGaps int         // places beyond those
	Messages MessageList // empty unless Options.Keep
	Calls    CallList    // empty unless Options.Keep
}
