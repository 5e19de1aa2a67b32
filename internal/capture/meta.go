package capture

import (
	"strconv"
	"time"
)

// FormatVersion is the version of the log format that this package writes.
const FormatVersion = 1

// StartInfo is the payload of a [Start] frame: what is known of a tap when it begins.
type StartInfo struct {
	Format    int      // 0 in logs of recorders that do not say
	Tool      string   // "mcpsnoop 1.2.3"
	PID       int      // of the tap
	Host      string   // hash of the host's boot identity, see proc
	Command   []string // stdio: the server's command line
	Cwd       string
	ServerPID int
	Client    *Client
	Listen    string // http
	Target    string // http: without userinfo and query
}

// Client identifies the process that started a tap, as the kernel names it. Start
// is compared as text and means nothing else; Weak says why the identity must not
// be used to tie sessions together ("" if it may).
type Client struct {
	Host      string
	PID       int
	Start     string // the kernel's own start value
	Name      string
	Weak      string
	Ancestors []Process // up to four, nearest first: facts, no keys
}

// Process is one process among the ancestors of a tap.
type Process struct {
	PID   int
	Start string
	Name  string
}

// GapInfo is the payload of a [Gap] frame: frames First to Last, Lost of them,
// passed and were not recorded.
type GapInfo struct {
	Lost, First, Last uint64
	Bytes             int64 // on the wire
	Reason            string
}

// ClockInfo is the payload of a [Clock] frame. Between two frames the wall clock
// moved Wall, the monotonic clock Mono; whole microseconds in the log.
type ClockInfo struct {
	Wall, Mono time.Duration
}

// EndInfo is the payload of an [End] frame. ExitCode is nil when the server ended by
// a signal, or has not ended.
type EndInfo struct {
	ExitCode *int
	Signal   string // "SIGKILL"
	Frames   uint64 // written, this one included
	Dropped  uint64
}

// Notes makes a tap's own frames: all that were sent by nobody and so have direction
// Meta. Upstream's reader takes the command from whichever of them came last, so the
// payload of each begins with command and cwd.
//
// Its methods set direction, kind and payload of a frame and leave the rest alone.
type Notes struct {
	start StartInfo
	head  []byte // of every payload: an object, not yet closed
	mark  []byte
}

// NewNotes returns the Notes of a tap that begins as start says.
func NewNotes(start StartInfo) *Notes {
	head := append([]byte(nil), `{"command":[`...)
	for i, arg := range start.Command {
		if i > 0 {
			head = append(head, ',')
		}
		head = appendString(head, arg)
	}
	head = appendString(append(head, `],"cwd":`...), start.Cwd)
	return &Notes{start, head, append(head[:len(head):len(head)], '}')}
}

// begin returns a new payload, not yet closed.
func (n *Notes) begin() []byte { return append(make([]byte, 0, len(n.head)+512), n.head...) }

func note(f *Frame, kind Kind, payload []byte) {
	f.Dir, f.Kind, f.Form, f.Payload = Meta, kind, Raw, payload
}

// Mark makes f a frame that says all it has to say outside of its payload: the head
// of a request without a body or an event without a message (HTTPHead), a stream
// opened or closed. The payload is shared and must not be changed.
func (n *Notes) Mark(f *Frame, kind Kind) { note(f, kind, n.mark) }

// Start makes f a [Start] frame.
func (n *Notes) Start(f *Frame) {
	s := &n.start
	b := appendInt(n.begin(), `,"format":`, int64(s.Format))
	b = appendNonEmpty(b, `,"tool":`, s.Tool)
	b = appendInt(b, `,"pid":`, int64(s.PID))
	b = appendNonEmpty(b, `,"host":`, s.Host)
	b = appendInt(b, `,"server_pid":`, int64(s.ServerPID))
	if s.Client != nil {
		b = appendClient(b, s.Client)
	}
	b = appendNonEmpty(b, `,"listen":`, s.Listen)
	b = appendNonEmpty(b, `,"target":`, s.Target)
	note(f, Start, append(b, '}'))
}

func appendClient(b []byte, c *Client) []byte {
	b = append(b, `,"client":{`...)
	at := len(b)
	b = appendNonEmpty(b, `,"host":`, c.Host)
	b = appendProcess(b, c.PID, c.Start, c.Name)
	b = appendNonEmpty(b, `,"weak":`, c.Weak)
	if len(c.Ancestors) > 0 {
		b = append(b, `,"ancestors":[`...)
		list := len(b)
		for _, p := range c.Ancestors {
			b = append(b, `,{`...)
			object := len(b)
			b = append(dropComma(appendProcess(b, p.PID, p.Start, p.Name), object), '}')
		}
		b = append(dropComma(b, list), ']')
	}
	return append(dropComma(b, at), '}')
}

func appendProcess(b []byte, pid int, start, name string) []byte {
	b = appendInt(b, `,"pid":`, int64(pid))
	b = appendNonEmpty(b, `,"start":`, start)
	return appendNonEmpty(b, `,"name":`, name)
}

// appendInt writes a member unless its value is 0, which is what an absent one is read as.
func appendInt(b []byte, member string, value int64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendInt(append(b, member...), value, 10)
}

// Gap makes f a [Gap] frame.
func (n *Notes) Gap(f *Frame, g GapInfo) {
	b := strconv.AppendUint(append(n.begin(), `,"lost":`...), g.Lost, 10)
	b = strconv.AppendUint(append(b, `,"first":`...), g.First, 10)
	b = strconv.AppendUint(append(b, `,"last":`...), g.Last, 10)
	b = appendInt(b, `,"bytes":`, g.Bytes)
	note(f, Gap, append(appendNonEmpty(b, `,"reason":`, g.Reason), '}'))
}

// Clock makes f a [Clock] frame.
func (n *Notes) Clock(f *Frame, c ClockInfo) {
	b := strconv.AppendInt(append(n.begin(), `,"wall_us":`...), c.Wall.Microseconds(), 10)
	b = strconv.AppendInt(append(b, `,"mono_us":`...), c.Mono.Microseconds(), 10)
	note(f, Clock, append(b, '}'))
}

// End makes f an [End] frame.
func (n *Notes) End(f *Frame, e EndInfo) {
	b := append(n.begin(), `,"exit_code":`...)
	if e.ExitCode == nil {
		b = append(b, `null`...)
	} else {
		b = strconv.AppendInt(b, int64(*e.ExitCode), 10)
	}
	b = appendNonEmpty(b, `,"signal":`, e.Signal)
	b = strconv.AppendUint(append(b, `,"frames":`...), e.Frames, 10)
	b = strconv.AppendUint(append(b, `,"dropped":`...), e.Dropped, 10)
	note(f, End, append(b, '}'))
}
