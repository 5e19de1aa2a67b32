package checks

import (
	"slices"
	"strings"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// Limits of what is remembered of a session's rounds.
const (
	maxRounds = 256 // the oldest go first; from then on only an echoed state finds one
	maxAsked  = 64  // keys of a round; of one with more, answers are not compared
	maxMethod = 128 // bytes of a method, longer than any that is known
)

// round is a result that asked for input.
type round struct {
	request *judge.Req // that it answers
	seq     uint64
	state   uint64 // hash of its requestState, 0 if it carried none
	asked   []asked
	more    bool // it asked for more than is remembered
	retried bool
}

// asked is one thing that was asked for.
type asked struct {
	key    string // quoted, for details
	hash   uint64
	method string
}

// rounds is the state of roundTracker.
type rounds struct {
	list []*round
	lost bool // some were forgotten
}

// retry is what is known of a request that brings input or a state.
type retry struct {
	round  *round // that it follows; nil if none, or several may be meant
	none   bool   // the session had no round at all so far
	state  uint64 // hash of its requestState, 0 if it has none
	issued bool   // some round carried that state
	scoped bool   // one of this method and target did
	lacks  []string
}

var retrySlot judge.Slot[*retry]

// roundTracker pairs retries with the rounds they follow: by the state they echo, else by
// method, target and the names of the inputs they answer.
var roundTracker = &judge.Tracker{
	New:    func() any { return new(rounds) },
	Before: true,
	On: []judge.On{
		{Kind: judge.Result, From: judge.Server, Do: func(e *judge.Event) {
			if isRound(e) {
				judge.State[*rounds](e).add(e)
			}
		}},
		{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
			if r := judge.State[*rounds](e).pair(e); r != nil {
				retrySlot.Put(e.Request, r)
			}
		}},
	},
}

// isRound reports whether a result asks for input.
func isRound(e *judge.Event) bool {
	kind, _ := e.Msg.Result.Get("resultType").StrBytes()
	return string(kind) == "input_required" && e.Request != nil && e.Request.From == judge.Client
}

func (t *rounds) add(e *judge.Event) {
	r := &round{request: e.Request, seq: e.Seq, state: stateOf(e.Msg.Result)}
	for key, value := range e.Msg.Result.Get("inputRequests").Members() {
		if len(r.asked) == maxAsked {
			r.more = true
			break
		}
		method, _ := value.Get("method").Str()
		r.asked = append(r.asked, asked{quote(key.Bytes()), judge.Hash(key.Bytes()), method[:min(len(method), maxMethod)]})
	}
	if len(t.list) == maxRounds {
		t.list, t.lost = slices.Delete(t.list, 0, 1), true
	}
	t.list = append(t.list, r)
}

// stateOf hashes the requestState of params or of a result, 0 if there is none.
func stateOf(n jsontree.Node) uint64 {
	state := n.Get("requestState")
	if text, ok := state.StrBytes(); ok {
		return judge.Hash(text) | 1
	}
	if !state.Exists() || state.Kind() == jsontree.Null {
		return 0
	}
	return judge.Hash(state.Text()) | 1
}

// pair returns what is known of a request as a retry, nil if it is none or nobody can
// say whose it is.
func (t *rounds) pair(e *judge.Event) *retry {
	responses := e.Msg.Params.Get("inputResponses")
	state := stateOf(e.Msg.Params)
	if state == 0 && responses.Kind() != jsontree.Object || strings.HasPrefix(e.Method, "tasks/") {
		return nil
	}
	r := &retry{state: state, none: len(t.list) == 0 && !t.lost}
	if !e.AsOneClient() {
		return nil
	}
	if r.state != 0 {
		r.byState(t, e)
	}
	if r.round == nil && !r.issued {
		r.byKeys(t, e, responses)
	}
	if r.round == nil {
		return r
	}
	r.round.retried = true
	for _, a := range r.round.asked {
		if !has(responses, a.hash) {
			r.lacks = append(r.lacks, a.key)
		}
	}
	return r
}

// byState finds the round whose state a request echoes.
func (r *retry) byState(t *rounds, e *judge.Event) {
	var same, open []*round
	for _, was := range t.list {
		if was.state != r.state {
			continue
		}
		r.issued = true
		if !was.of(e.Request) {
			continue
		}
		r.scoped = true
		same = append(same, was)
		if !was.retried {
			open = append(open, was)
		}
	}
	switch {
	case len(open) == 1:
		r.round = open[0]
	case len(same) == 1:
		r.round = same[0]
	}
}

// byKeys finds the round whose questions a request answers, if no other may be meant.
func (r *retry) byKeys(t *rounds, e *judge.Event, responses jsontree.Node) {
	if t.lost || !e.Whole() || responses.Len() == 0 && !e.Pinned() {
		return
	}
	for _, was := range t.list {
		if was.retried || !was.of(e.Request) || !was.asksAll(responses) {
			continue
		}
		if r.round != nil {
			r.round = nil
			return
		}
		r.round = was
	}
}

// of reports whether a request is for the same as the one that the round answers.
func (r *round) of(q *judge.Req) bool {
	return r.request.Method == q.Method && r.request.Target == q.Target
}

// asksAll reports whether all that is answered was asked for.
func (r *round) asksAll(responses jsontree.Node) bool {
	for key := range responses.Members() {
		if r.kind(judge.Hash(key.Bytes())) == "" {
			return r.more
		}
	}
	return true
}

// kind returns the method of what was asked for under a key, "" if nothing was.
func (r *round) kind(hash uint64) string {
	for _, a := range r.asked {
		if a.hash == hash {
			return a.method
		}
	}
	return ""
}

func has(responses jsontree.Node, hash uint64) bool {
	for key := range responses.Members() {
		if judge.Hash(key.Bytes()) == hash {
			return true
		}
	}
	return false
}

// asksInput reports whether a request may be answered by asking for input.
func asksInput(method string) bool {
	m := mcp.Lookup(method)
	return m != nil && m.AsksInput
}
