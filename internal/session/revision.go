package session

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/mcp"
)

// revisions follows which revision of the specification is in force. It is judged
// message by message: what the message declares itself, else what was negotiated,
// else what the client proposed, else what was declared last.
type revisions struct {
	proposed   mcp.Revision
	negotiated mcp.Revision
	text       string // negotiated, as sent
	settled    bool   // an initialize was answered
	asked      string // proposed, as sent

	last       mcp.Revision // declared last
	unknown    string       // declared last of those we do not know, as sent
	declaredBy [mcp.Latest + 1]fatesOfRevision
	offered    mcp.Revision // newest that the server's answer to server/discover names
}

// fatesOfRevision says what became of a revision that requests declared.
type fatesOfRevision struct{ declared, accepted, refused bool }

const versionHeader = "mcp-protocol-version"

// of returns the revision in force for a message that declares own in its _meta.
func (v *revisions) of(f *capture.Frame, own jsontree.Node) mcp.Revision {
	if name := declaration(f, own); name != nil {
		if r := mcp.ParseRevision(string(name)); r != mcp.NoRevision {
			return r
		}
	}
	switch {
	case v.settled:
		return v.negotiated
	case v.proposed != mcp.NoRevision:
		return v.proposed
	}
	return v.last
}

// declaration returns what a message says of its revision, nil if nothing.
func declaration(f *capture.Frame, own jsontree.Node) []byte {
	if name, ok := own.StrBytes(); ok {
		return name
	}
	if f.HTTP != nil && f.Dir == capture.C2S {
		if name := f.HTTP.Request[versionHeader]; name != "" {
			return []byte(name)
		}
	}
	return nil
}

// declared notes what a message of the client says of its revision.
func (v *revisions) declared(f *capture.Frame, own jsontree.Node) {
	name := declaration(f, own)
	if name == nil {
		return
	}
	r := mcp.ParseRevision(string(name))
	if r == mcp.NoRevision {
		if string(name) != v.unknown {
			v.unknown = string(cut(name, maxTarget))
		}
		return
	}
	v.last = r
	v.declaredBy[r].declared = true
}

// proposed takes an initialize request: what it proposes is in force until the answer.
func (s *conversation) proposed(e *event, p *params) {
	v := &s.revisions
	if name, ok := p.protocol.StrBytes(); ok {
		v.proposed, v.asked = mcp.ParseRevision(string(name)), string(cut(name, maxTarget))
		e.msg.Revision = v.proposed
		v.settled = false
	}
	s.peers.legacyClient(p)
}

// initialized takes what the server chose.
func (v *revisions) initialized(r *result) {
	name, ok := r.protocol.StrBytes()
	if !ok {
		return
	}
	v.negotiated, v.text, v.settled = mcp.ParseRevision(string(name)), string(cut(name, maxTarget)), true
}

// discovered takes which revisions the server says it speaks.
func (v *revisions) discovered(r *result) {
	v.offered = mcp.NoRevision
	for name := range r.supported.Elements() {
		if text, ok := name.StrBytes(); ok {
			v.offered = max(v.offered, mcp.ParseRevision(string(text)))
		}
	}
}

// accepted notes that a request was answered with a result.
func (v *revisions) accepted(c *call) { v.declaredBy[c.Revision].accepted = true }

// refused notes that a request was answered with an error that may be about its revision.
func (v *revisions) refused(c *call) {
	if c.Method == methodDiscover || c.ErrorCode == mcp.UnsupportedVersion {
		v.declaredBy[c.Revision].refused = true
	}
}

// header returns the revision of the session: the negotiated one, else the newest
// that was declared and not refused, else what was proposed or declared without our
// knowing it. Only where nothing was said it is what the server offers.
func (v *revisions) header() (mcp.Revision, string) {
	if v.settled {
		return v.negotiated, v.text
	}
	for r := mcp.Latest; r > mcp.NoRevision; r-- {
		if d := v.declaredBy[r]; d.declared && (d.accepted || !d.refused) {
			return r, r.String()
		}
	}
	if v.asked != "" {
		return v.proposed, v.asked
	}
	if v.unknown == "" {
		return v.offered, v.offered.String()
	}
	return mcp.NoRevision, v.unknown
}
