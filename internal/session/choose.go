package session

import (
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
)

// choose decides to which session an exchange belongs of which f is the first frame
// that may tell, or the next after a guess; x is nil where exchanges have no number.
func (p *parties) choose(t *tap, f *capture.Frame, w who, x *exchange) (s *conversation, guess bool) {
	switch {
	case w.session != 0:
		return p.ofSession(t, f, w, x), false
	case !isRequest(f):
		if x != nil && x.s != nil {
			return x.s, false
		}
		return p.near(t, w), false
	}
	if s := p.posted(f); s != nil {
		p.hearBody(f, s)
		return s, false
	}
	switch {
	case f.Kind == capture.Line:
		b := p.hear(f)
		s := p.ofBody(t, w, &b)
		p.note(s, &b, x)
		return s, false
	case f.HTTP == nil || f.HTTP.Verb == "" || f.HTTP.Verb == "POST":
		return p.near(t, w), true
	}
	return p.ofHead(t, f, w), false
}

// ofSession returns the session of an MCP session id. A server that sets one with its
// answer names the session in which that was asked.
func (p *parties) ofSession(t *tap, f *capture.Frame, w who, x *exchange) *conversation {
	if s := p.bySession.get(w.session); s != nil {
		return s
	}
	if f.Dir == capture.S2C {
		s := p.byConn.get(w.conn)
		if x != nil && x.s != nil {
			s = x.s
		}
		if s != nil && s.party.sid == 0 {
			return s
		}
	}
	return p.begin(t)
}

// near returns the session that a connection was used for last, else the one of which
// something was heard last.
func (p *parties) near(t *tap, w who) *conversation {
	if s := p.byConn.get(w.conn); s != nil {
		return s
	}
	return p.latest(t)
}

// ofHead returns the session of a request that has no body.
func (p *parties) ofHead(t *tap, f *capture.Frame, w who) *conversation {
	if s := p.byConn.get(w.conn); s != nil {
		return s
	}
	h := f.HTTP
	if h.Verb != "GET" {
		return p.latest(t)
	}
	meta := strings.HasPrefix(h.Path, "/.well-known/")
	stream := strings.Contains(h.Request["accept"], "text/event-stream") && h.Request[versionHeader] == ""
	if !meta && (!stream || p.posts(p.r.hashString(h.Path)|1)) {
		return p.latest(t)
	}
	if s := p.first(func(s *conversation) bool { return s.unaccepted() }); s != nil {
		return s
	}
	if stream && !meta {
		s := p.begin(t) // HTTP+SSE: a session begins with its stream
		s.party.listens = true
		return s
	}
	return p.latest(t)
}

// posts reports whether messages were posted to a path.
func (p *parties) posts(path uint64) bool {
	for _, known := range p.paths {
		if known == path {
			return true
		}
	}
	return false
}

// posted returns the session to whose endpoint a request goes, nil if it is none's.
func (p *parties) posted(f *capture.Frame) *conversation {
	if len(p.byEndpoint.m) == 0 || f.HTTP == nil || f.HTTP.Path == "" {
		return nil
	}
	if f.HTTP.Query != "" {
		return p.byEndpoint.get(p.r.hashString(f.HTTP.Query) | 1)
	}
	return p.byEndpoint.get(p.r.hashString(f.HTTP.Path)&^1 | 2)
}

// hearBody notes what a body of a session that is known already says.
func (p *parties) hearBody(f *capture.Frame, s *conversation) {
	if f.Kind == capture.Line && s.party.client == 0 {
		b := p.hear(f)
		p.note(s, &b, nil)
	}
}

// ofBody returns the session of a request that has no session id, by its body.
func (p *parties) ofBody(t *tap, w who, b *said) *conversation {
	switch {
	case b.m == nil:
		return p.ofChain(t, w)
	case b.m.Method == methodInitialize:
		return p.ofInitialize(t, w, b)
	case b.m.Kind == jsonrpc.Request:
		return p.ofRequest(t, w, b)
	}
	return p.ofOther(t, w, b)
}

// ofChain returns the session of a body that is no message, such as what a client
// sends to be authorized.
func (p *parties) ofChain(t *tap, w who) *conversation {
	if s := p.byConn.get(w.conn); s != nil {
		return s
	}
	if s := p.first(func(s *conversation) bool { return s.unaccepted() }); s != nil {
		return s
	}
	return p.latest(t)
}

// ofInitialize returns a new session, or the one of its client that was refused all
// it has asked for.
func (p *parties) ofInitialize(t *tap, w who, b *said) *conversation {
	same := func(s *conversation) bool {
		return s.unaccepted() && (s.party.client == b.client || s.party.client == 0 || b.client == 0)
	}
	if s := p.byConn.get(w.conn); s != nil && (same(s) || s.blank()) {
		return s
	}
	if s := p.first(func(s *conversation) bool { return b.client != 0 && same(s) && s.party.client == b.client }); s != nil {
		return s
	}
	return p.begin(t)
}

// ofRequest returns the session of a request: that of its connection, if the client is
// the same, else one of the same client, else one whose client did not say who it is.
// An id that was used before, on another connection, is another client's.
func (p *parties) ofRequest(t *tap, w who, b *said) *conversation {
	if s := p.byConn.get(w.conn); s != nil && (b.client == 0 || s.party.client == b.client || s.party.client == 0 && s.party.sid == 0) {
		return s
	}
	var follows, any *conversation
	reused, looked := false, 0
	for s := p.recent; s != nil && looked < maxLook; s = s.party.older {
		looked++
		switch q := &s.party; {
		case s.blank() && any == nil:
			any = s
			continue
		case q.sid != 0, b.client != 0 && q.client != b.client:
			continue
		case s.knows(w.conn):
			return s
		case b.id != 0 && s.used(b):
			reused = true
			continue
		case b.id != 0 && q.next == b.number && follows == nil:
			follows = s
		}
		if any == nil || any.blank() {
			any = s
		}
	}
	switch {
	case follows != nil:
		return follows
	case any != nil:
		return any
	case b.client == 0 && !reused:
		return p.latest(t)
	}
	return p.begin(t)
}

// ofOther returns the session of an answer or a notification: one in which it makes
// sense, that of its connection first.
func (p *parties) ofOther(t *tap, w who, b *said) *conversation {
	near := p.byConn.get(w.conn)
	if near != nil && b.client != 0 && near.party.client != 0 && near.party.client != b.client {
		near = nil
	}
	fits := func(s *conversation) bool {
		switch {
		case b.client != 0:
			return s.party.client == b.client
		case b.m.Kind == jsonrpc.Response:
			return s.calls.byID[p.r.idHash(b.m, capture.S2C)] != nil
		case b.m.Method == "notifications/initialized":
			return s.party.greeted
		}
		return s.party.sid == 0
	}
	if near != nil && (b.m.Kind != jsonrpc.Response || fits(near)) {
		return near
	}
	if s := p.first(fits); s != nil {
		return s
	}
	if near != nil {
		return near
	}
	return p.latest(t)
}

// first returns the latest session that is as wanted, of those looked at.
func (p *parties) first(wanted func(*conversation) bool) *conversation {
	looked := 0
	for s := p.recent; s != nil && looked < maxLook; s = s.party.older {
		if looked++; wanted(s) {
			return s
		}
	}
	return nil
}

// note notes what a body said of its session.
func (p *parties) note(s *conversation, b *said, x *exchange) {
	if b.m == nil {
		return
	}
	q := &s.party
	if b.client != 0 && (q.client == 0 || b.m.Method == methodInitialize) {
		q.client = b.client
	}
	if b.id != 0 {
		q.manyIDs = q.manyIDs || q.oneID != 0 && q.oneID != b.id
		q.oneID, q.next = b.id, b.number+1
	}
	if x != nil && x.path != 0 && len(p.paths) < maxPaths && !p.posts(x.path) {
		p.paths = append(p.paths, x.path)
	}
}
