package session

import (
	"bytes"
	"cmp"
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
)

// parties tells the sessions of an HTTP tap apart: whose conversation a frame belongs
// to. All frames of an exchange belong to one session, which is decided where the
// exchange first says something: by its MCP session id, without one by the initialize
// that begins a session, then by the client that a message declares and by connection.
//
// The head of a POST without a session id decides nothing yet; it is given to a session
// by guess.
type parties struct {
	r          *Reducer
	exchanges  exchanges
	bySession  bounded[*conversation] // by MCP session id
	byConn     bounded[*conversation] // by connection: whose it was last
	byEndpoint bounded[*conversation] // HTTP+SSE: by where a client was told to post
	paths      []uint64               // to which messages were posted
	recent     *conversation          // the last one; those before it follow in order

	info   []byte // of the client that was declared last, and
	client uint64 // its hash
}

// Limits of what is kept of a tap.
const (
	maxSessions = 4096 // that are told apart; what would begin a further one joins the last
	maxConns    = 8192
	maxPaths    = 8
	maxKnown    = 32 // connections of a session
)

// party is what the sessions of a tap are told apart by.
type party struct {
	newer, older *conversation // by when they last said something
	sid          uint64        // hash of its MCP session id, 0 if it has none
	client       uint64        // hash of the client that it declared, 0 if it did not
	conns        []uint64      // connections it used, the last ones
	oneID        uint64        // the id of its requests, if
	manyIDs      bool          // is not set: it used others
	next         int64         // what follows its last id, if that is a number
	accepted     bool          // a request was answered with a result
	greeted      bool          // initialize was answered, initialized has not come
	listens      bool          // it began with a stream of HTTP+SSE
}

// of returns the session that a frame belongs to and its exchange, nil if that is unknown.
func (p *parties) of(t *tap, f *capture.Frame, w who, ref capture.Ref, at Instant) (*conversation, *exchange) {
	if w == (who{}) { // the tap's own, or nothing to tell anybody by
		return p.heard(p.latest(t)), nil
	}
	if w.exchange == 0 {
		s, _ := p.choose(t, f, w, nil)
		p.bind(s, w)
		return p.heard(s), nil
	}
	x := p.exchanges.at(f.Exchange)
	x.see(p.r, f, at)
	switch {
	case x.s == nil || x.guess && (f.Kind == capture.Line || w.session != 0):
		was := x.s
		x.s, x.guess = p.choose(t, f, w, x)
		if x.guess {
			x.headRef = ref
		} else {
			p.bind(x.s, w)
			x.s.span(x.head)
			if was != nil && was != x.s && p.r.options.Moved != nil {
				p.r.options.Moved(x.headRef, was.index, x.s.index)
			}
		}
	case x.guess:
		x.guess = false
		p.bind(x.s, w)
		x.s.span(x.head)
	case w.session != 0 && w.session != x.s.party.sid:
		p.bind(x.s, w)
	}
	if h := f.HTTP; h != nil && h.SSE != nil && h.SSE.Event == "endpoint" {
		url := cmp.Or(h.SSE.Rewritten, h.SSE.Data)
		p.byEndpoint.put(p.endpoint([]byte(url)), x.s, maxConns)
	}
	return p.heard(x.s), x
}

// latest returns the session that said something last, a first one if there is none.
func (p *parties) latest(t *tap) *conversation {
	if p.recent == nil {
		return p.begin(t)
	}
	return p.recent
}

// begin begins a session, unless one has been begun and nothing was said in it.
func (p *parties) begin(t *tap) *conversation {
	if s := p.recent; s != nil && (s.blank() || len(t.sessions) >= maxSessions) {
		return s
	}
	s := p.r.begin(t)
	p.push(s)
	return s
}

func (p *parties) push(s *conversation) {
	if s.party.older = p.recent; p.recent != nil {
		p.recent.party.newer = s
	}
	p.recent = s
}

// heard makes a session the latest.
func (p *parties) heard(s *conversation) *conversation {
	if s == p.recent {
		return s
	}
	q := &s.party
	q.newer.party.older = q.older // it has a newer one, since it is not the latest
	if q.older != nil {
		q.older.party.newer = q.newer
	}
	q.newer = nil
	p.push(s)
	return s
}

// bind notes by what further exchanges of a session will be known.
func (p *parties) bind(s *conversation, w who) {
	q := &s.party
	if w.session != 0 && w.session != q.sid {
		// Servers that start anew give out old ids again: to the newer session.
		if q.sid == 0 || p.bySession.get(w.session) == nil {
			p.bySession.put(w.session, s, maxConns)
		}
		if q.sid == 0 {
			q.sid = w.session
		}
	}
	if w.conn == 0 || p.byConn.get(w.conn) == s {
		return
	}
	p.byConn.put(w.conn, s, maxConns)
	if !slices.Contains(q.conns, w.conn) {
		if len(q.conns) == maxKnown {
			q.conns = append(q.conns[:0], q.conns[1:]...)
		}
		q.conns = append(q.conns, w.conn)
	}
}

// blank reports whether nothing was said in a session so far.
func (s *conversation) blank() bool {
	c := &s.counts
	return s.party.sid == 0 && !s.party.listens && c.Requests+c.Responses+c.Notifications+c.Invalid == 0 && !s.early.waiting()
}

// unaccepted reports whether all that the client asked for was refused: whoever asks
// again, with a token or another version, goes on with the same session.
func (s *conversation) unaccepted() bool {
	return s.party.sid == 0 && s.counts.Requests > 0 && !s.party.accepted && s.counts.Pending == 0
}

// knows reports whether a session has used a connection.
func (s *conversation) knows(conn uint64) bool {
	return conn != 0 && slices.Contains(s.party.conns, conn)
}

// used reports whether an id must be another client's: it is open in a session, or
// was used before, in a request that was not refused, by a client that does not give
// all its requests one id.
func (s *conversation) used(b *said) bool {
	if in := s.calls.byID[b.id]; in != nil {
		for c := in.first; c != nil; c = c.links[byID].next {
			if c.Open() {
				return true
			}
		}
	}
	if b.m.Method != methodDiscover && !s.party.manyIDs {
		return false
	}
	id := b.id
	settled := func(scope uint64) bool {
		f, _ := s.calls.seen.get(under(id, scope))
		return f&fateMask != fateNone && f&fateMask != fateClosed
	}
	return settled(s.party.sid) || slices.ContainsFunc(s.party.conns, settled)
}

// said is what a body of the client says of whose it is.
type said struct {
	m      *jsonrpc.Message // nil if it is no message
	client uint64
	id     uint64 // of a request
	number int64  // the id, if it is a number
}

// hear reads the body of a request without a session id.
func (p *parties) hear(f *capture.Frame) (b said) {
	messages := p.r.peek(f)
	for i := range messages {
		m := &messages[i]
		if m.Kind == jsonrpc.Invalid || b.m != nil && m.Method != methodInitialize {
			continue
		}
		b.m = m
	}
	if b.m == nil {
		return b
	}
	info := b.m.Params.Path("_meta", "io.modelcontextprotocol/clientInfo")
	if b.m.Method == methodInitialize {
		info = b.m.Params.Get("clientInfo")
	}
	b.client = p.named(info)
	if b.m.Kind == jsonrpc.Request {
		b.id = p.r.idHash(b.m, capture.C2S)
		b.number, _ = b.m.Root.Get("id").Int()
	}
	return b
}

// named hashes what a client calls itself; 0 if it does not.
func (p *parties) named(info jsontree.Node) uint64 {
	if info.Kind() != jsontree.Object {
		return 0
	}
	if !bytes.Equal(info.Text(), p.info) || p.client == 0 {
		name, _ := info.Get("name").StrBytes()
		version, _ := info.Get("version").StrBytes()
		p.info = append(p.info[:0], cut(info.Text(), maxSelf)...)
		p.client = scramble(p.r.hash(name)) ^ p.r.hash(version) | 1
	}
	return p.client
}

// endpoint hashes where a client of HTTP+SSE posts: the query, in which such servers
// name the session, else the path.
func (p *parties) endpoint(url []byte) uint64 {
	if path, query, ok := bytes.Cut(url, []byte("?")); ok && len(query) > 0 {
		return p.r.hash(query) | 1
	} else if url = path; bytes.Contains(url, []byte("://")) {
		_, url, _ = bytes.Cut(url, []byte("://"))
		if i := bytes.IndexByte(url, '/'); i >= 0 {
			url = url[i:]
		}
	}
	return p.r.hash(url)&^1 | 2
}
