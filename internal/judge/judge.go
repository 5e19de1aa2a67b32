package judge

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// Options of a Judge.
type Options struct {
	Registry *Registry
	// Revision is that of sessions that show none themselves; of traces, which are judged as a
	// whole, it is the revision in any case. NoRevision means that nobody said.
	Revision mcp.Revision
	// Found, if set, is given each finding once, at the moment it is certain. It comes
	// before the Step returns.
	Found func(session int, f *Finding)
	// Broken, if set, is told of a check that panicked; it is not run again in the session.
	Broken func(session int, check string, reason any)
}

// Judge judges the sessions of one log.
type Judge struct {
	options Options
	convs   []*conv
	// anonymous is how many sessions have an initialize and no session id.
	anonymous int
	heads     map[exchangeKey]*Post // of which nobody knows yet whose they are
	event     Event
	parser    jsonrpc.Parser // of answers that were held back
	taps      map[string]*gaps
	gaps      gaps // lines that could not be read
	found     int  // findings that are kept
}

// gaps counts where frames of a tap are missing, or lines of a log, of whatever session
// they were.
type gaps struct{ n int }

// New returns a judge of a log.
func New(o Options) *Judge {
	return &Judge{options: o, heads: map[exchangeKey]*Post{}, taps: map[string]*gaps{}}
}

// conv is one session being judged.
type conv struct {
	j         *Judge
	index     int
	begun     bool
	trace     bool // a trace: judged as a whole
	unordered bool // its recorder numbered frames after they had gone on
	fromStart bool // the log holds the beginning
	tap       *gaps
	before    struct{ tap, log gaps } // what was missing when it began
	gap       bool                    // something of it is missing
	partial   bool                    // a message was there and could not be read in full
	pinned    mcp.Revision            // at which all is judged, whatever messages say
	settled   mcp.Revision            // of the handshake
	facts     Facts
	eras      eras
	requests  requests
	posts     posts
	clients   clients
	held      []held
	frames    uint64
	batch     batchMark
	states    []any
	off       []bool // checks that panicked, by slot
	results   [mcp.Latest + 1]result
	waiting   []waiting
	notes     []Note
}

// batchMark is the array that the last frame was an element of.
type batchMark struct {
	dir      capture.Dir
	exchange uint64
	on       bool
}

// Len returns the number of sessions seen so far.
func (j *Judge) Len() int { return len(j.convs) }

// at returns session i.
func (j *Judge) at(i int) *conv {
	for len(j.convs) <= i {
		s := &conv{j: j, index: len(j.convs)}
		s.facts.ClientCaps, s.facts.ServerCaps, s.facts.DiscoverCaps = noCaps, noCaps, noCaps
		s.states = make([]any, j.options.Registry.states)
		j.convs = append(j.convs, s)
	}
	return j.convs[i]
}

// Skip notes that a line of the log could not be read: something is missing from here on.
func (j *Judge) Skip() { j.gaps.n++ }

// gapped reports whether something of the session, or of others beside it, is missing since
// it began.
func (s *conv) gapped() bool {
	return s.gap || s.before.log != s.j.gaps || s.tap != nil && s.before.tap != *s.tap
}

// Step takes what the reducer made of a frame. The frame and the step are not kept.
func (j *Judge) Step(f *capture.Frame, st session.Step) {
	s := j.at(st.Session)
	if !s.begun {
		s.begin(f)
	}
	for i := range st.Gaps {
		if st.Gaps[i].Kind != session.Stepped {
			s.tap.n++
		}
	}
	switch {
	case f.Dir == capture.Stderr:
		return
	case f.Transport == capture.HTTP && f.Kind == capture.HTTPHead && isAsking(f):
		j.headOf(s, f, st.Guess)
		return
	case f.Kind == capture.Close, f.Kind == capture.End && f.Dir == capture.Meta:
		s.closed(f)
		return
	case f.Dir == capture.Meta && f.Kind != capture.Open:
		return
	}
	s.frames++
	var p *Post
	var reply *Reply
	if f.Transport == capture.HTTP {
		p, reply = s.carry(f, st.Parsed...)
	}
	if f.Kind != capture.Line {
		return
	}
	s.expire(f)
	if len(st.Messages) == 1 && st.Messages[0].Element < 0 && len(st.Parsed) > 0 && st.Parsed[0].Element >= 0 {
		for i := range st.Parsed { // an array that the reducer did not take apart
			one := st.Messages[0]
			one.Element = int32(st.Parsed[i].Element)
			s.message(f, &one, &st.Parsed[i], p, reply)
		}
		return
	}
	for i := range st.Messages {
		s.message(f, &st.Messages[i], element(st.Parsed, st.Messages[i].Element), p, reply)
	}
}

// element returns the parsed message of that place, nil if there is none.
func element(parsed []jsonrpc.Message, place int32) *jsonrpc.Message {
	if place >= 0 && int(place) < len(parsed) && int32(parsed[place].Element) == place {
		return &parsed[place]
	}
	for i := range parsed {
		if int32(parsed[i].Element) == place {
			return &parsed[i]
		}
	}
	return nil
}

// begin notes what the first frame of a session says of its log.
func (s *conv) begin(f *capture.Frame) {
	s.begun = true
	if s.tap = s.j.taps[f.Tap]; s.tap == nil {
		s.tap = &gaps{}
		s.j.taps[f.Tap] = s.tap
	}
	s.before.tap = *s.tap
	if s.index > 0 { // else what could not be read may have been its beginning
		s.before.log = s.j.gaps
	}
	s.trace = f.Flags&capture.Sparse != 0
	s.unordered = f.Mono == capture.NoMono && !s.trace
	s.fromStart = s.trace || f.Transport == capture.Stdio
	if s.trace {
		s.pinned = s.j.options.Revision
	}
}
