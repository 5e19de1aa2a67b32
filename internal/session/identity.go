package session

import (
	"bytes"

	"mcpsnoop/internal/jsontree"
)

// peers is what client and server say of themselves: in the handshake, in the
// client's _meta of every request, in the server's answer to server/discover, in the
// _meta of any result.
type peers struct {
	r              *Reducer
	client, server self
	instructions   string
}

// self is one side. The texts it was read from are kept to tell at a glance that
// nothing new is said.
type self struct {
	Peer
	info []byte
	by   source
}

// source is where a name comes from; a better one is not overwritten.
type source uint8

const (
	byNobody source = iota
	byBody          // a member of the message itself, where _meta should say it
	byMeta
	byHandshake
)

// named takes what a side calls itself.
func (p *self) named(node jsontree.Node, by source) {
	if by < p.by || node.Kind() != jsontree.Object || bytes.Equal(node.Text(), p.info) {
		return
	}
	if len(node.Text()) > maxSelf {
		return
	}
	p.by = by
	p.info = append(p.info[:0], node.Text()...)
	p.Name, p.Title, p.Version = word(node, "name"), word(node, "title"), word(node, "version")
}

func word(node jsontree.Node, name string) string {
	text, _ := node.Get(name).StrBytes()
	return string(cut(text, maxTarget))
}

// able takes what a side says it can do.
func (p *self) able(r *Reducer, node jsontree.Node) {
	text := node.Text()
	if node.Kind() != jsontree.Object || len(text) > maxCapability || string(text) == p.Capabilities {
		return
	}
	p.Capabilities = r.share(text)
}

// legacyClient takes an initialize request.
func (p *peers) legacyClient(q *params) {
	p.client.named(q.client, byHandshake)
	p.client.able(p.r, q.capabilities)
}

// modernClient takes the _meta of a client's message.
func (p *peers) modernClient(m *meta) {
	if m.client.Exists() {
		p.client.named(m.client, byMeta)
	}
	if m.capabilities.Exists() && p.client.by != byHandshake {
		p.client.able(p.r, m.capabilities)
	}
}

// initialized takes the result of initialize.
func (p *peers) initialized(r *result) {
	p.server.named(r.server, byHandshake)
	p.server.able(p.r, r.capabilities)
	p.instruct(r.instructions)
}

// discovered takes the result of server/discover.
func (p *peers) discovered(r *result) {
	p.server.named(r.server, byBody)
	if p.server.by != byHandshake {
		p.server.able(p.r, r.capabilities)
	}
	p.instruct(r.instructions)
}

// serverInfo takes the serverInfo in the _meta of a result.
func (p *peers) serverInfo(info jsontree.Node) {
	if info.Exists() {
		p.server.named(info, byMeta)
	}
}

func (p *peers) instruct(node jsontree.Node) {
	if text, ok := node.StrBytes(); ok {
		p.instructions = p.r.share(cut(text, maxSelf))
	}
}
