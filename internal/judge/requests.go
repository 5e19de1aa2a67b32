package judge

import (
	"hash/maphash"
	"strconv"

	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
)

// requests pairs answers with requests: by exchange where that is known, else the
// oldest open one of the same id.
type requests struct {
	open  map[uint64]*Req // by side and id, the oldest
	n     int
	epoch uint32 // counts how often open ones were forgotten, since there were too many
	caps  declarations
	texts texts
}

// Limits of what is remembered of requests.
const (
	maxOpen   = 1 << 14 // open ones of a session: beyond, all are forgotten, and answers to nothing convict nobody any more
	maxLook   = 64      // those under one id that are looked at for the one of an exchange
	maxIDText = 256     // bytes
	maxTarget = 512     // bytes
)

// texts are strings that were made lately: targets and versions come again and again.
type texts struct {
	list [8]string
	next int
}

// of returns text, cut, as a string.
func (t *texts) of(text []byte, most int) string {
	text = text[:min(len(text), most)]
	for _, known := range t.list {
		if known == string(text) {
			return known
		}
	}
	made := string(text)
	t.list[t.next] = made
	t.next = (t.next + 1) % len(t.list)
	return made
}

var idSeed = maphash.MakeSeed()

// IDKey hashes an id together with the side that gave it to a request. Numbers are
// compared by value, so that 1 and 1.0 are one id.
func IDKey(from Actor, id []byte) uint64 {
	if isOddNumber(id) {
		var t jsontree.Tree
		if t.Parse(id) == nil {
			if n, ok := t.Root().Int(); ok {
				id = strconv.AppendInt(nil, n, 10)
			}
		}
	}
	return maphash.Bytes(idSeed, jsonrpc.IDKey(id)) ^ uint64(from)*0x9e3779b97f4a7c15
}

// isOddNumber reports whether an id may be an integer that is not spelt in digits alone.
func isOddNumber(id []byte) bool {
	if len(id) == 0 || id[0] == '"' {
		return false
	}
	for _, c := range id {
		if c == '.' || c == 'e' || c == 'E' {
			return true
		}
	}
	return false
}

// Hash hashes text, the same for the same text as long as the program runs.
func Hash(text []byte) uint64 { return maphash.Bytes(idSeed, text) }

func (a Actor) other() Actor { return a ^ Both }

// ask makes a request of an event.
func (s *conv) ask(e *Event) *Req {
	id := e.Msg.ID
	r := &Req{
		Seq: e.Seq, At: e.At, From: e.From, ID: string(id[:min(len(id), maxIDText)]), Method: e.Method, Post: e.Post, Caps: noCaps,
		key: IDKey(e.From, id),
	}
	if param := mcp.TargetParam(e.Method); param != "" {
		text, _ := e.Msg.Params.Get(param).StrBytes()
		r.Target = s.requests.texts.of(text, maxTarget)
	}
	for name, value := range e.Meta().Members() {
		switch {
		case name.Is(mcp.MetaProtocolVersion):
			r.Versions = true
			text, _ := value.StrBytes()
			r.Version = s.requests.texts.of(text, maxTarget)
		case name.Is(mcp.MetaClientCapabilities):
			r.Declares = true
			r.Caps = s.requests.caps.of(value)
		}
	}
	return r
}

// opened keeps a request that waits for an answer. One with the id null cannot be
// answered.
func (s *conv) opened(r *Req) {
	if r.ID == "null" {
		return
	}
	q := &s.requests
	if q.n >= maxOpen {
		q.open, q.n = nil, 0
		q.epoch++
	}
	if q.open == nil {
		q.open = map[uint64]*Req{}
	}
	q.n++
	r.epoch, r.last = q.epoch, r
	if p := r.Post; p != nil && r.From == Client && len(p.Requests) < jsonrpc.MaxBatch {
		if p.Requests == nil {
			p.Requests = p.one[:0]
		}
		p.Requests = append(p.Requests, r)
	}
	first := q.open[r.key]
	if first == nil {
		q.open[r.key] = r
		return
	}
	r.prev, first.last.next, first.last, r.last = first.last, r, r, nil
}

// answered returns the request that an answer is for and closes it; nil if there is none.
func (s *conv) answered(from Actor, id []byte, post *Post, seq uint64) *Req {
	q := &s.requests
	found := q.open[IDKey(from.other(), id)]
	if found == nil {
		return nil
	}
	if post != nil && found.Post != post {
		if own := q.ofPost(found, post); own != nil {
			found = own
		}
	}
	q.close(found)
	found.Answered = seq
	return found
}

// ofPost returns the request of an exchange that is open under the same id as another,
// nil if there is none.
func (q *requests) ofPost(first *Req, post *Post) *Req {
	looked := 0
	for r := first.next; r != nil && looked < maxLook; r = r.next {
		if r.Post == post {
			return r
		}
		looked++
	}
	for _, r := range post.Requests[:min(len(post.Requests), maxLook)] {
		if r.key == first.key && r.Answered == 0 && r.epoch == q.epoch {
			return r
		}
	}
	return nil
}

// close takes a request from the open ones.
func (q *requests) close(r *Req) {
	q.n--
	switch first := q.open[r.key]; {
	case r != first:
		r.prev.next = r.next
		if r.next != nil {
			r.next.prev = r.prev
		} else {
			first.last = r.prev
		}
	case r.next != nil:
		r.next.prev, r.next.last = nil, r.last
		q.open[r.key] = r.next
	default:
		delete(q.open, r.key)
	}
	r.prev, r.next, r.last = nil, nil, nil
}

// Open returns the oldest request of a side that waits for an answer under an id, nil if
// there is none.
func (e *Event) Open(from Actor, id []byte) *Req { return e.s.requests.open[IDKey(from, id)] }

// Forgot reports whether open requests were forgotten because there were too many.
func (e *Event) Forgot() bool { return e.s.requests.epoch > 0 }
