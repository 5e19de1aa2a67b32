// Package judge runs checks over sessions as they grow. A [Check] is a value that
// carries its own documentation; a [Clause] says what revisions of the specification
// demand and which checks decide it; a [Registry] is all of them, ready to be run.
//
// [Judge.Step] is called with what one frame did, in log order, and [Judge.End] gives
// the [Report] of a session as it stands. Live and offline make the same calls and
// cannot disagree. A finding appears at the first moment it is certain and is never
// taken back; what follows from absence alone waits for End.
//
// # What is certain
//
// A message is judged by its own revision. While that is open (before the answer to
// initialize; a modern request that nobody has shown to understand yet) the checks of
// all revisions that it may turn out to be are run, and what they find waits. What was
// told stays, if under the rows of another revision than the session comes to have.
// Evidence that the capture lacks convicts nobody: see [Event] for what a check can
// ask about the capture.
//
// # Memory
//
// A session keeps open requests and what trackers and checks remember, hashes mostly.
// Messages are read during Step and never kept. Whatever a log holds, lists have limits:
// beyond, something is forgotten, and what follows from its absence convicts nobody.
package judge

import "mcpsnoop/internal/mcp"

// Actor says whom a clause binds, and which side sent an event.
type Actor uint8

// The actors.
const (
	Client Actor = 1 << iota
	Server
	Both = Client | Server
)

// String returns "client", "server" or "both".
func (a Actor) String() string {
	switch a {
	case Client:
		return "client"
	case Server:
		return "server"
	case Both:
		return "both"
	}
	return ""
}

// Level is how strongly the specification words a clause.
type Level uint8

// The levels.
const (
	Must Level = iota + 1
	MustNot
	Should
	ShouldNot
)

var levelNames = [...]string{Must: "MUST", MustNot: "MUST NOT", Should: "SHOULD", ShouldNot: "SHOULD NOT"}

// String returns the level as the specification spells it.
func (l Level) String() string { return levelNames[l] }

// Binds reports whether breaking the clause fails a session; else it is a warning.
func (l Level) Binds() bool { return l == Must || l == MustNot }

// Signal is the class under which findings of a clause gate CI.
type Signal uint8

// The signals of clauses. What counts as mismatch counts as warn too.
const (
	Warn     Signal = iota // a MUST or MUST NOT
	Invalid                // what is no message at all
	Mismatch               // HTTP headers and body disagree
	Advice                 // "should": a SHOULD or SHOULD NOT
)

var signalNames = [...]string{Warn: "warn", Invalid: "invalid", Mismatch: "mismatch", Advice: "should"}

// String returns the signal as flags and reports spell it.
func (s Signal) String() string { return signalNames[s] }

// Clause is what revisions of the specification demand. Several may share an id where
// level or section differ between revisions; no two are in force at one.
type Clause struct {
	ID      string // such as "TOOL-006"
	In      mcp.Revisions
	Level   Level
	Actor   Actor
	Gate    string // capability without which it does not apply, such as "server.tools"; "" for none
	Signal  Signal
	Section string // page and anchor, such as "server/tools#tool-names"
	Rule    string // in our words, one line
	// Checks decide it; without any, Unjudged says why a capture cannot.
	Checks   []*Check
	Unjudged string
	// Own marks a clause beyond the registry of conformance rows: it stands in a report only
	// where somebody broke it.
	Own bool
}

const site = "https://modelcontextprotocol.io/specification/"

// moved says where a revision has what clauses call by the section of a later one.
var moved = map[mcp.Revision]map[string]string{
	mcp.V2024_11_05: {
		"basic#messages": "basic/messages", "basic#requests": "basic/messages#requests", "basic#notifications": "basic/messages#notifications",
		"basic#result-responses": "basic/messages#responses", "basic#error-responses": "basic/messages#responses",
	},
	mcp.V2025_03_26: {"basic#result-responses": "basic#responses", "basic#error-responses": "basic#responses"},
	mcp.V2025_06_18: {"basic#result-responses": "basic#responses", "basic#error-responses": "basic#responses", "basic#_meta": "basic#meta"},
	mcp.V2025_11_25: {"basic#_meta": "basic#meta"}, // the site's name for the heading
}

// URL returns the link to the section as of a revision in which the clause is in force.
func (c *Clause) URL(r mcp.Revision) string {
	section := c.Section
	if there, ok := moved[r][section]; ok {
		section = there
	}
	return site + r.String() + "/" + section
}

// Newest returns the newest revision that has the clause.
func (c *Clause) Newest() mcp.Revision { return c.In.Newest() }

// Check is one judgement, as code, with its documentation. Its texts are one line
// each, or a short paragraph.
type Check struct {
	ID       string // area and name, such as "tools.name-charset"
	Title    string // what is looked at, a noun phrase
	Why      string // why it matters to whoever runs into it
	Fix      string // what its author does about a finding
	Convicts string // the evidence that convicts
	Exempts  string // what is not judged, or "" if nothing is exempt
	On       []On
	New      func() any // its state in one session, nil if it needs none

	registry *Registry // that has it, nil if none
	slot     int       // there
	state    int       // of its state in a session
}

// Tracker keeps facts about a session that several checks need. It is told of events
// like a check, judges nothing, and sees all revisions. Checks see what it knew before
// an event, unless it comes Before.
type Tracker struct {
	New    func() any
	On     []On
	Before bool // it is told of an event before the checks are

	registry    *Registry
	slot, state int
}

// On binds a function to events. A check or tracker is never called for others.
type On struct {
	Kind    Kind     // one or several
	From    Actor    // who sent it; 0 means either
	Methods []string // of the request or notification, or that is answered; nil means any
	Do      func(*Event)
}

// Kind is a set of kinds of events.
type Kind uint16

// The kinds of events. Every message is one of the first five, by its members alone:
// a method makes it a request (with an id, null included) or a notification; without
// one, a result or an error makes it an answer, and anything else is invalid, as are
// a method that is no string, a result beside an error, and an array where batches are
// not part of the protocol. Over HTTP there is JSON that is nobody's message, such as pages of
// gateways: it is no event.
const (
	Request Kind = 1 << iota
	Notification
	Result
	Error
	Malformed     // no message
	Head          // head of an HTTP request
	Status        // head of an HTTP answer
	Closed        // an HTTP answer ended, or a transport did
	End           // the log or session ends here: only what follows from absence
	kinds     = 9 // how many there are
	Message   = Request | Notification | Result | Error | Malformed
	Answer    = Result | Error
	Asking    = Request | Notification
)
