package checks

import (
	"maps"
	"strings"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// Headers that checks read, beside those of package mcp.
const (
	headAccept      = "accept"
	headContentType = "content-type"
	headLastEvent   = "last-event-id"
)

// mime types of answers.
const (
	mimeJSON   = "application/json"
	mimeStream = "text/event-stream"
)

// Limits of what is remembered of a session's HTTP. Beyond, it is forgotten, and what follows
// from it convicts nobody any more.
const (
	maxPaths    = 16
	maxSessions = 64
	maxBodies   = 256
	maxStreams  = 4096
)

// wire follows the HTTP of a session: which of the two transports it is, at which paths
// messages are posted, which session ids there were, and what the bodies and streams are.
var wire = &judge.Tracker{New: func() any { return &wireState{bodies: map[*judge.Post]bodyHolds{}} }, Before: true, On: []judge.On{
	{Kind: judge.Head, From: judge.Client, Do: wireHead},
	{Kind: judge.Message, From: judge.Client, Do: wireAsked},
	{Kind: judge.Status, From: judge.Server, Do: wireStatus},
}}

// wireState is what wire knows.
type wireState struct {
	kind     wireKind
	paths    []uint64 // hashes of where messages were posted
	sessions []httpSession
	overflow bool // sessions or streams were forgotten
	again    bool // initialize was sent again after it had been answered
	bodies   map[*judge.Post]bodyHolds
	gets     map[uint64]bool // GET streams by exchange: whether they resume another
	early    uint64          // seq of the last head that was handed out before its body

	// Of the event that is being judged:
	request *judge.Post // a request that is no initialize, once for each
	posted  *judge.Post // the POST of which this is the first message
}

type wireKind uint8

const (
	wireUnknown wireKind = iota
	wireSSE              // it may be HTTP+SSE of 2024-11-05, which later revisions are still spoken over
	wireStreamable
)

// httpSession is a session id that the server gave out.
type httpSession struct {
	id    uint64 // hash
	first moment
	gone  moment // 404 came for it, or a success for its DELETE
	by404 bool
}

// moment is a place in a log.
type moment struct {
	seq uint64
	at  session.Instant
}

// bodyHolds is a set of what a POST held.
type bodyHolds uint8

const (
	bodyRequest bodyHolds = 1 << iota
	bodyOther             // notifications and answers
	bodyBad
)

func wireHead(e *judge.Event) {
	w := judge.State[*wireState](e)
	w.request, w.posted = nil, nil
	p := e.Post
	w.sparse(e)
	switch p.Verb {
	case "GET", "DELETE":
		if w.endpoint(p) {
			w.request = p
		}
	case "":
		_, session := p.Head(mcp.SessionHeader)
		_, version := p.Head(mcp.VersionHeader)
		if session || version || e.Facts.Phase == judge.Initialized { // no initialize
			w.request, w.early = p, p.Seq
		}
	}
}

// sparse notes that a trace speaks: those know Streamable HTTP only.
func (w *wireState) sparse(e *judge.Event) {
	if e.Frame.Flags&capture.Sparse != 0 || e.Frame.MCPSession != "" {
		w.kind = wireStreamable
	}
}

func wireAsked(e *judge.Event) {
	w := judge.State[*wireState](e)
	w.request, w.posted = nil, nil
	if e.Transport != capture.HTTP {
		return
	}
	w.sparse(e)
	w.again = w.again || e.Kind == judge.Request && e.Method == "initialize" && e.Facts.Result != 0
	p := e.Post
	if p == nil {
		return
	}
	w.hold(e)
	if p.Exchange != 0 && e.Kind != judge.Malformed {
		w.learn(p)
		if w.kind == wireUnknown {
			w.kind = wireStreamable // HTTP+SSE begins with a stream, which would be here
		}
	}
	if e.Msg != nil && e.Msg.Element > 0 || p.Exchange != 0 && e.Seq != p.Seq {
		return
	}
	w.posted = p
	if e.Method != "initialize" && p.Seq != w.early && p.Verb != "GET" && p.Verb != "DELETE" {
		w.request = p
	}
}

// hold notes what a body has.
func (w *wireState) hold(e *judge.Event) {
	if len(w.bodies) >= maxBodies {
		maps.DeleteFunc(w.bodies, func(p *judge.Post, _ bodyHolds) bool { return p != e.Post && (p.Over || p.Reply != nil) })
	}
	makeRoom(w.bodies, maxBodies)
	switch {
	case e.Kind == judge.Request:
		w.bodies[e.Post] |= bodyRequest
	case e.Kind == judge.Malformed:
		w.bodies[e.Post] |= bodyBad
	default:
		w.bodies[e.Post] |= bodyOther
	}
}

func (w *wireState) learn(p *judge.Post) {
	if p.Path == "" || len(w.paths) >= maxPaths {
		return
	}
	path := judge.Hash([]byte(p.Path))
	for _, known := range w.paths {
		if known == path {
			return
		}
	}
	w.paths = append(w.paths, path)
}

// endpoint reports whether a request without body is one of MCP for certain: it shows it, and
// goes where messages are posted, and not to a document about authorization.
func (w *wireState) endpoint(p *judge.Post) bool {
	_, session := p.Head(mcp.SessionHeader)
	_, resumes := p.Head(headLastEvent)
	_, version := p.Head(mcp.VersionHeader)
	switch {
	case strings.Contains(p.Path, "/.well-known/"):
		return false
	case session, resumes, version && p.Path == "":
		return true
	case !version:
		return false
	}
	path := judge.Hash([]byte(p.Path))
	for _, known := range w.paths {
		if known == path {
			return true
		}
	}
	return false
}

func wireStatus(e *judge.Event) {
	w := judge.State[*wireState](e)
	w.sparse(e)
	here := moment{e.Seq, e.At}
	if id, ok := e.Reply.Header[mcp.SessionHeader]; ok {
		w.kind = wireStreamable
		if w.session(id) == nil {
			if len(w.sessions) >= maxSessions {
				w.sessions, w.overflow = nil, true
			}
			w.sessions = append(w.sessions, httpSession{id: judge.Hash([]byte(id)), first: here})
		}
	}
	p := e.Post
	if p == nil {
		return
	}
	id, named := p.Head(mcp.SessionHeader)
	if named {
		gone := e.Reply.Status == 404 && p.Verb == "POST"
		if s := w.session(id); s != nil && s.gone.seq == 0 && (gone || p.Verb == "DELETE" && success(e.Reply.Status)) {
			s.gone, s.by404 = here, gone
		}
	}
	if p.Verb != "GET" || !success(e.Reply.Status) || !isStream(e.Reply) {
		return
	}
	if w.kind == wireUnknown && !named {
		w.kind = wireSSE
	}
	if p.Exchange != 0 {
		if w.gets == nil || len(w.gets) >= maxStreams {
			w.overflow, w.gets = w.gets != nil, map[uint64]bool{}
		}
		_, w.gets[p.Exchange] = p.Head(headLastEvent)
	}
}

// session returns what is known of a session id, nil if it was not given out here.
func (w *wireState) session(id string) *httpSession {
	hash := judge.Hash([]byte(id))
	for i := range w.sessions {
		if w.sessions[i].id == hash {
			return &w.sessions[i]
		}
	}
	return nil
}

// streamable reports whether the session is one of Streamable HTTP for certain.
func streamable(e *judge.Event) bool {
	return judge.Of[*wireState](e, wire).kind == wireStreamable
}

func success(status int) bool { return status >= 200 && status < 300 }

// mediaType returns the type that a Content-Type names.
func mediaType(value string) string {
	value, _, _ = strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(value))
}

func isStream(r *judge.Reply) bool { return mediaType(r.Header[headContentType]) == mimeStream }

// after reports whether the client sent a request after it had got what came at m: by the order
// of the log, or because it had already said that it is ready, or names what came with it.
func after(e *judge.Event, p *judge.Post, m moment, knows bool) bool {
	switch {
	case p.Seq < m.seq || m.at.Sub(p.At) > 0:
		return false
	case knows || e.Facts.Phase == judge.Ready:
		return true
	}
	return e.Follows(judge.Server, m.at)
}

// unorderedGap is how far apart frames of different connections must be for their order to
// count where the log was numbered as they went on.
const unorderedGap = time.Second
