package judge

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
)

// requests pairs answers with requests: by exchange where that is known, else the
// oldest open one of the same id.
type requests struct {
	open map[uint64]*Req // by side and id, oldest first
	n    int
	let  bool  // open ones were forgotten, since there were too many
	caps *Caps // the last that a client declared with a request
}

// maxOpen is how many open requests of a session are remembered. Beyond, all are
// forgotten, and answers to nothing convict nobody any more.
const maxOpen = 1 << 16

// Limits of what is kept of texts.
const (
	maxIDText = 256
	maxTarget = 512
)

var idSeed = maphash.MakeSeed()

// IDKey hashes an id together with the side that gave it to a request. Numbers are
// compared by value, so that 1 and 1.0 are one id.
func IDKey(from Actor, id []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(idSeed)
	h.WriteByte(byte(from))
	if len(id) > 0 && id[0] != '"' && bytes.ContainsAny(id, ".eE") {
		var t jsontree.Tree
		if t.Parse(id) == nil {
			if n, ok := t.Root().Int(); ok {
				id = strconv.AppendInt(nil, n, 10)
			}
		}
	}
	h.Write(jsonrpc.IDKey(id))
	return h.Sum64()
}

// Hash hashes text, the same for the same text as long as the program runs.
func Hash(text []byte) uint64 { return maphash.Bytes(idSeed, text) }

func (a Actor) other() Actor { return a ^ Both }

// ask makes a request of an event.
func (s *conv) ask(e *Event) *Req {
	r := &Req{Seq: e.Seq, At: e.At, From: e.From, ID: clip(e.Msg.ID, maxIDText), Method: e.Method, Post: e.Post, Caps: noCaps}
	r.key = IDKey(e.From, e.Msg.ID)
	if param := mcp.TargetParam(e.Method); param != "" {
		text, _ := e.Msg.Params.Get(param).StrBytes()
		r.Target = clip(text, maxTarget)
	}
	for name, value := range e.Meta().Members() {
		switch {
		case name.Is(mcp.MetaProtocolVersion):
			r.Versions = true
			text, _ := value.StrBytes()
			r.Version = clip(text, maxTarget)
		case name.Is(mcp.MetaClientCapabilities):
			r.Declares = true
			r.Caps = capsOf(value, s.requests.caps)
			s.requests.caps = r.Caps
		}
	}
	return r
}

func clip(text []byte, most int) string { return string(text[:min(len(text), most)]) }

// opened keeps a request that waits for an answer.
func (s *conv) opened(r *Req) {
	q := &s.requests
	if q.n >= maxOpen {
		q.open, q.n, q.let = nil, 0, true
	}
	if q.open == nil {
		q.open = map[uint64]*Req{}
	}
	q.n++
	if r.Post != nil && r.From == Client {
		r.Post.Requests = append(r.Post.Requests, r)
	}
	first := q.open[r.key]
	if first == nil {
		q.open[r.key] = r
		return
	}
	for first.next != nil {
		first = first.next
	}
	first.next = r
}

// answered returns the request that an answer is for and closes it; nil if there is none.
func (s *conv) answered(from Actor, id []byte, post *Post, seq uint64) *Req {
	q := &s.requests
	key := IDKey(from.other(), id)
	first := q.open[key]
	if first == nil {
		return nil
	}
	found := first
	if post != nil {
		for r := first; r != nil; r = r.next {
			if r.Post == post {
				found = r
				break
			}
		}
	}
	switch {
	case found != first:
		for r := first; r != nil; r = r.next {
			if r.next == found {
				r.next = found.next
			}
		}
	case first.next != nil:
		q.open[key] = first.next
	default:
		delete(q.open, key)
	}
	found.next, found.Answered = nil, seq
	q.n--
	return found
}

// Open returns the oldest request of a side that waits for an answer under an id, nil if
// there is none.
func (e *Event) Open(from Actor, id []byte) *Req { return e.s.requests.open[IDKey(from, id)] }

// Forgot reports whether open requests were forgotten because there were too many.
func (e *Event) Forgot() bool { return e.s.requests.let }
