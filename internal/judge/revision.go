package judge

import (
	"mcpsnoop/internal/mcp"
)

// Basis is what a session's revision was decided by.
type Basis uint8

// What it is decided by, the first that there is.
const (
	ByHandshake   Basis = iota + 1 // the result of initialize
	ByDeclaration                  // the newest that messages declared and that was not refused
	ByOption                       // the user
	ByProposal                     // the initialize request, which was never answered with a result
	ByDefault                      // nothing: the newest there is
)

var basisNames = [...]string{
	ByHandshake: "negotiated", ByDeclaration: "declared by messages", ByOption: "as told", ByProposal: "proposed, never agreed", ByDefault: "nothing declared: the newest",
}

// String says it in a word or two.
func (b Basis) String() string {
	if int(b) < len(basisNames) {
		return basisNames[b]
	}
	return ""
}

// eras follows which revision a session and its messages belong to.
type eras struct {
	handshake mcp.Revision // result of initialize, if we know it
	answered  bool         // initialize had a result
	proposal  mcp.Revision
	declared  [mcp.Latest + 1]fate
	modern    bool // the server has shown that it speaks a revision without handshake
}

// fate is what became of a revision that requests declared.
type fate struct{ declared, accepted, refused bool }

// proposed takes the version of an initialize request.
func (s *conv) proposed(version string) { s.eras.proposal = mcp.ParseRevision(version) }

// negotiated takes the version of its result.
func (s *conv) negotiated(version string) {
	s.eras.answered = true
	s.eras.handshake = mcp.ParseRevision(version)
	if s.eras.handshake != mcp.NoRevision {
		s.settle()
	}
}

// revisionOf returns the revision of a message: what it declares in a form that its
// revision knows, else that of what it belongs to, else that of the session.
// mcp.NoRevision means that this is open.
func (s *conv) revisionOf(e *Event) mcp.Revision {
	switch {
	case s.pinned != mcp.NoRevision:
		return s.pinned
	case s.trace:
		return s.settled
	case e.Kind&Answer != 0 && e.Request != nil:
		return e.Request.Revision
	}
	if e.Kind&(Request|Notification) != 0 {
		if text, ok := e.Meta().Get(mcp.MetaProtocolVersion).StrBytes(); ok {
			r := mcp.ParseRevision(string(text))
			if !mcp.PerRequest(r) {
				return mcp.Modern.Newest() // asks in its form, if for another
			}
			return r
		}
		if e.From == Client && e.Method == "initialize" {
			return s.settled
		}
		if e.From == Server && e.Meta().Get(mcp.MetaSubscriptionID).Exists() {
			return mcp.Modern.Newest()
		}
	}
	if e.From == Client && e.Post != nil {
		if r := s.headerRevision(e.Post); r != mcp.NoRevision {
			return r
		}
	}
	if e.From == Server && e.Post != nil && len(e.Post.Requests) > 0 {
		return e.Post.Requests[0].Revision
	}
	return s.usual()
}

// headerRevision returns the revision that the head of a request declares. In a session
// with a handshake it is that of the handshake: another one there is a fault, not a choice.
func (s *conv) headerRevision(p *Post) mcp.Revision {
	r := mcp.ParseRevision(p.Header[mcp.VersionHeader])
	if r != mcp.NoRevision && !mcp.PerRequest(r) && (s.settled != mcp.NoRevision || s.facts.Phase != BeforeInitialize) {
		return s.settled
	}
	return r
}

// usual returns the revision of what declares none.
func (s *conv) usual() mcp.Revision {
	if s.settled == mcp.NoRevision && s.eras.modern && s.facts.Phase == BeforeInitialize {
		return mcp.Modern.Newest()
	}
	return s.settled
}

// declares notes what a client's message says of its revision, and what became of it.
func (s *conv) declares(e *Event) {
	switch {
	case e.Kind == Request && e.From == Client:
		r := mcp.ParseRevision(e.Request.Version)
		if !e.Request.Versions && e.Post != nil {
			r = mcp.ParseRevision(e.Post.Header[mcp.VersionHeader])
		}
		if r != mcp.NoRevision {
			s.eras.declared[r].declared = true
			declaredBy.Put(e.Request, r)
		}
	case e.Kind&Answer != 0 && e.From == Server && e.Request != nil:
		r, ok := declaredBy.Get(e.Request)
		if ok && e.Kind == Result {
			s.eras.declared[r].accepted = true
		} else if code, _ := e.Msg.Error.Get("code").Int(); ok && (e.Request.Method == "server/discover" || code == mcp.UnsupportedVersion) {
			s.eras.declared[r].refused = true
		}
	}
	if !s.eras.modern && e.From == Server && e.Kind&Answer != 0 && s.showsModern(e) {
		s.eras.modern = true
		s.release()
	}
}

var declaredBy Slot[mcp.Revision]

// showsModern reports whether an answer can only come from a server that speaks a
// revision without handshake.
func (s *conv) showsModern(e *Event) bool {
	if e.Kind == Error {
		code, _ := e.Msg.Error.Get("code").Int()
		switch code {
		case mcp.HeaderMismatch, mcp.MissingClientCapability, mcp.UnsupportedVersion:
			return true
		}
		return false
	}
	if e.Request == nil || e.Request.From != Client {
		return false
	}
	if e.Method == "server/discover" {
		for v := range e.Msg.Result.Get("supportedVersions").Elements() {
			if text, ok := v.StrBytes(); ok && mcp.PerRequest(mcp.ParseRevision(string(text))) {
				return true
			}
		}
	}
	_, typed := e.Msg.Result.Get("resultType").StrBytes()
	return typed
}

// decide returns the revision of the session as it stands. unsupported says that client
// and server agreed on one that is newer than we know.
func (s *conv) decide() (r mcp.Revision, by Basis, unsupported string) {
	if s.pinned != mcp.NoRevision {
		return s.pinned, ByOption, ""
	}
	if s.eras.handshake != mcp.NoRevision {
		return s.eras.handshake, ByHandshake, ""
	}
	if s.eras.answered && IsDate(s.facts.Version) && s.facts.Version > mcp.Latest.String() {
		return mcp.NoRevision, ByHandshake, s.facts.Version
	}
	for r := mcp.Latest; r > mcp.NoRevision; r-- {
		if d := s.eras.declared[r]; d.declared && (d.accepted || !d.refused) {
			return r, ByDeclaration, ""
		}
	}
	switch {
	case s.j.options.Revision != mcp.NoRevision:
		return s.j.options.Revision, ByOption, ""
	case s.eras.proposal != mcp.NoRevision:
		return s.eras.proposal, ByProposal, ""
	case s.facts.Phase != BeforeInitialize: // of no revision, but there is a handshake
		return mcp.Legacy.Newest(), ByProposal, ""
	}
	return mcp.Latest, ByDefault, ""
}

// IsDate reports whether text is a date as revisions are named: YYYY-MM-DD.
func IsDate(text string) bool {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return false
	}
	n := [3]int{}
	for i, part := range [3]string{text[:4], text[5:7], text[8:]} {
		for _, c := range []byte(part) {
			if c < '0' || c > '9' {
				return false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	return n[0] > 0 && n[1] >= 1 && n[1] <= 12 && n[2] >= 1 && n[2] <= 31
}
