package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
)

// tokens ties progress to the open call whose request carried its token. Numbers
// and texts are different tokens, and each side has its own.
type tokens struct{ open map[uint64]*call }

// tokenHash hashes a token as sent by the side that asked; 0 for null, which is no token.
func (s *conversation) tokenHash(token jsontree.Node, asked capture.Dir) uint64 {
	if !present(token) {
		return 0
	}
	return s.r.hash(jsonrpc.IDKey(token.Text())) ^ sideOf(asked) ^ ofToken
}

// tokenScope is within what a token means the same: without a session, clients that
// share a connection are told apart by the exchange.
func (w who) tokenScope() uint64 {
	if w.session == 0 && w.exchange != 0 {
		return w.exchange
	}
	return w.peer()
}

// openToken opens the token of a request. A retry opens its call's token anew.
func (s *conversation) openToken(c *call, token jsontree.Node) {
	hash := s.tokenHash(token, c.Dir)
	if hash == 0 {
		return
	}
	s.closeToken(c)
	c.HasToken = true
	c.tokenIsID = hash == c.id^ofToken
	c.token = under(hash, c.who.tokenScope())
	if other := s.progress.open[c.token]; other != nil {
		other.token = 0 // two open calls of one token: the younger has it
	}
	s.progress.open[c.token] = c
}

// closeToken ends the token of a call, and remembers that it was one.
func (s *conversation) closeToken(c *call) {
	if c.token == 0 {
		return
	}
	delete(s.progress.open, c.token)
	if !c.tokenIsID {
		s.calls.seen.put(c.token, fateClosed, c.Index)
	}
	c.token = 0
}

// progressed takes a notifications/progress.
func (s *conversation) progressed(e *event, p *params) {
	asked := answering(e.f.Dir)
	hash := s.tokenHash(p.token, asked)
	if hash == 0 {
		return
	}
	c := s.tokenOwner(hash, e.who)
	if c == nil {
		s.staleProgress(e, hash)
		return
	}
	e.call = c
	if c.Call.Progress == nil {
		c.Call.Progress = &c.progress
	}
	text, _ := p.message.StrBytes()
	g := &c.progress
	g.Seq, g.At, g.Text = e.f.Seq, e.at, s.r.texts.of(cut(text, maxProgress))
	g.Value, _ = p.progress.Float()
	g.Total, _ = p.total.Float()
	g.Count++
}

func (s *conversation) tokenOwner(hash uint64, w who) *call {
	if s.transport != capture.HTTP {
		return s.progress.open[hash]
	}
	for _, scope := range w.scopes() {
		if c := s.progress.open[under(hash, scope)]; c != nil {
			return c
		}
	}
	return nil
}

// staleProgress takes progress whose token is not open: its call may have ended.
func (s *conversation) staleProgress(e *event, hash uint64) {
	_, f, index := s.fateOf(hash, e.who)
	if f == fateNone {
		f, index = s.tokenFate(hash^ofToken, e.who)
	}
	if f == fateNone {
		return
	}
	e.msg.Outcome = OutcomeStale
	e.msg.Call = index
}

// tokenFate returns the fate of an id that was its request's token too.
func (s *conversation) tokenFate(id uint64, w who) (fate, int32) {
	if c := s.find(id, w); c != nil && c.tokenIsID { // cancelled, no answer so far
		return fateCancelled, c.Index
	}
	for _, scope := range w.scopes() {
		if f, index := s.calls.seen.get(under(id, scope)); f&fateToken != 0 {
			return f & fateMask, index
		}
	}
	return fateNone, -1
}
