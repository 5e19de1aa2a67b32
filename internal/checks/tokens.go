package checks

import (
	"strconv"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// Limits of what is remembered of tokens and ids.
const (
	maxTokens   = 1 << 10 // beyond, those of answered requests are forgotten, or all
	maxCarriers = 8       // requests of one token
	maxLoose    = 1 << 16 // ids that do not count up; beyond, every id counts as known
	maxClaims   = 256
)

// idSet holds ids, cheaply where they count up by one.
type idSet struct {
	from, to int64 // all of them, if from <= to
	any      bool
	loose    map[uint32]struct{} // halves of keys: with many, one in 100,000 others counts as known too
}

func (s *idSet) add(text []byte, key uint64) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		switch {
		case !s.any:
			s.from, s.to, s.any = n, n, true
			return
		case n >= s.from && n <= s.to:
			return
		case n == s.to+1:
			s.to = n
			return
		}
	}
	if s.loose == nil {
		s.loose = map[uint32]struct{}{}
	}
	if len(s.loose) < maxLoose {
		s.loose[uint32(key)] = struct{}{}
	}
}

func (s *idSet) has(id jsontree.Node, key uint64) bool {
	if n, ok := id.Int(); ok && s.any && n >= s.from && n <= s.to {
		return true
	}
	_, ok := s.loose[uint32(key)]
	return ok || s.full()
}

func (s *idSet) full() bool { return len(s.loose) >= maxLoose }

// side numbers the sides.
func side(a judge.Actor) int { return int(a >> 1) }

// claim is a conviction that waits for the end of the log, since a frame that would
// excuse it may still come.
type claim struct {
	key    uint64
	number int64 // of an id that is one
	isInt  bool
	seq    uint64
	at     session.Instant
	from   judge.Actor
	rev    mcp.Revision
	detail string
}

// claims are those of a check. Of more than 256 the rest is dropped.
type claims struct{ list []claim }

func newClaims() any { return new(claims) }

func (d *claims) add(e *judge.Event, id jsontree.Node, key uint64, detail string) {
	if len(d.list) == maxClaims {
		return
	}
	n, isInt := id.Int()
	d.list = append(d.list, claim{key, n, isInt, e.Seq, e.At, e.From, e.Revision, detail})
}

// drop forgets claims about a token that a request carries which may have passed before.
func (d *claims) drop(e *judge.Event, key uint64) {
	left := d.list[:0]
	for _, was := range d.list {
		if was.key != key || e.Follows(was.from, was.at) {
			left = append(left, was)
		}
	}
	d.list = left
}

// conclude convicts what nothing excused. It changes nothing.
func (d *claims) conclude(e *judge.Event, excused func(*claim) bool) {
	if !e.Whole() {
		return
	}
	from := e.From
	for i := range d.list {
		was := &d.list[i]
		if was.rev != mcp.NoRevision && was.rev != e.Revision || excused(was) {
			continue
		}
		e.From = was.from
		e.BadAt(was.seq, was.detail)
	}
	e.From = from
}

// in reports whether the id of a claim is in a set.
func (d *claim) in(s *idSet) bool {
	if d.isInt && s.any && d.number >= s.from && d.number <= s.to {
		return true
	}
	_, ok := s.loose[uint32(d.key)]
	return ok || s.full()
}

// token is a progress token with the requests that carried it.
type token struct {
	key      uint64
	carriers []*judge.Req // those that were open when the last came, and that
	crowded  bool         // there were more
	ended    uint64       // seq of the last answer to one of them
	endedOn  uint64       // exchange of that answer
	task     bool         // one became a task, for which progress goes on

	told   bool // progress was, since the last request
	value  float64
	exact  int64
	isInt  bool
	spelt  uint64 // hash of the number
	stream uint64 // exchange
}

// open returns how many carriers wait for an answer, and one of them.
func (t *token) open() (n int, one *judge.Req) {
	for _, r := range t.carriers {
		if r.Answered == 0 {
			n++
			one = r
		}
	}
	return n, one
}

// last returns the request that carried it last.
func (t *token) last() *judge.Req { return t.carriers[len(t.carriers)-1] }

// tokens is the state of tokenTracker.
type tokens struct {
	byKey map[uint64]*token
	known [2]idSet // by the side that gave them
}

var tokenSlot judge.Slot[*token]

// tokenTracker follows progress tokens.
var tokenTracker = &judge.Tracker{
	New: func() any { return &tokens{byKey: map[uint64]*token{}} },
	On: []judge.On{
		{Kind: judge.Request, Do: func(e *judge.Event) {
			if id := e.Meta().Get("progressToken"); isToken(id) {
				judge.State[*tokens](e).carried(e, id)
			}
		}},
		{Kind: judge.Answer, Do: func(e *judge.Event) {
			if t, ok := tokenSlot.Get(e.Request); ok {
				t.ended, t.endedOn = e.Seq, e.Frame.Exchange
				t.task = t.task || isTaskResult(e.Msg.Result)
			}
		}},
		{Kind: judge.Notification, Methods: []string{methodProgress}, Do: func(e *judge.Event) {
			id := e.Msg.Params.Get("progressToken")
			if t := judge.State[*tokens](e).byKey[judge.IDKey(e.From^judge.Both, id.Text())]; t != nil && isToken(id) {
				t.progressed(e, e.Msg.Params.Get("progress"))
			}
		}},
	},
}

// isToken reports whether a value may be a progress token.
func isToken(n jsontree.Node) bool { return n.Kind() == jsontree.String || n.IsInt() }

// isTaskResult reports whether a result says that the request goes on as a task.
func isTaskResult(result jsontree.Node) bool {
	kind, _ := result.Get("resultType").StrBytes()
	return string(kind) == "task" || result.Path("task", "taskId").Exists()
}

func (s *tokens) carried(e *judge.Event, id jsontree.Node) {
	key := judge.IDKey(e.From, id.Text())
	s.known[side(e.From)].add(id.Text(), key)
	t := s.byKey[key]
	if t == nil {
		if len(s.byKey) >= maxTokens {
			s.sweep()
		}
		t = &token{key: key}
		s.byKey[key] = t
	}
	left := t.carriers[:0]
	for _, r := range t.carriers {
		if r.Answered == 0 {
			left = append(left, r)
		}
	}
	t.carriers = left
	if len(t.carriers) == maxCarriers {
		t.carriers, t.crowded = t.carriers[1:], true
	}
	t.carriers = append(t.carriers, e.Request)
	t.told = false
	tokenSlot.Put(e.Request, t)
}

// sweep forgets tokens whose requests were answered, or all if none was.
func (s *tokens) sweep() {
	for key, t := range s.byKey {
		if n, _ := t.open(); n == 0 {
			delete(s.byKey, key)
		}
	}
	makeRoom(s.byKey, maxTokens)
}

func (t *token) progressed(e *judge.Event, value jsontree.Node) {
	v, ok := value.Float()
	if n, _ := t.open(); !ok || n > 1 {
		t.told = false // nobody can say whose it is
		return
	}
	t.told, t.value, t.stream, t.spelt = true, v, e.Frame.Exchange, judge.Hash(value.Text())
	t.exact, t.isInt = value.Int()
}

// rises reports whether a value is certainly above the last, and whether it is certain
// that it is not.
func (t *token) rises(value jsontree.Node) (yes, no bool) {
	v, ok := value.Float()
	if !ok {
		return false, false
	}
	if n, isInt := value.Int(); isInt && t.isInt {
		return n > t.exact, n <= t.exact
	}
	if v == t.value { // what a float64 rounds away may tell them apart
		return false, t.spelt == judge.Hash(value.Text())
	}
	return v > t.value, v < t.value
}
