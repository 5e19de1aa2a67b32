package checks

import (
	"strconv"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var transportClientAcceptHeader = &judge.Check{
	ID:       "transport.client-accept-header",
	Title:    "what the client accepts",
	Why:      "Servers choose between JSON and an event stream by Accept, and some refuse (406) a client that does not list both.",
	Fix:      "Send Accept: application/json, text/event-stream with each POST, and Accept: text/event-stream with a GET.",
	Convicts: "a POST whose Accept lacks one of the two types or gives it no weight, a GET whose Accept lacks text/event-stream",
	Exempts:  "DELETE; types that only a wildcard covers; HTTP+SSE of 2024-11-05; requests to other places than where messages are posted",
	On: []judge.On{{Kind: judge.Head | judge.Message, From: judge.Client, Do: func(e *judge.Event) {
		w := judge.Of[*wireState](e, wire)
		switch {
		case w.kind != wireStreamable:
		case e.Kind == judge.Head:
			if w.request != nil && w.request.Verb == "GET" && mcp.HasSessionIDs(e.Revision) {
				judgeAccept(e, w.request, mimeStream)
			}
		case w.posted != nil && (w.posted.Verb == "POST" || w.posted.Verb == ""):
			judgeAccept(e, w.posted, mimeJSON, mimeStream)
		}
	}}},
}

func judgeAccept(e *judge.Event, p *judge.Post, types ...string) {
	value, sent := p.Head(headAccept)
	if !sent {
		if p.Complete {
			e.BadAt(p.Seq, "no Accept, which must list "+strings.Join(types, " and "))
		}
		return
	}
	for _, want := range types {
		switch accepts(value, want) {
		case acceptsNot:
			e.BadAtf(p.Seq, "Accept %s does not list %s", quote(value), want)
			return
		case acceptsAny:
			e.Notef("Accept %s covers %s by a wildcard only, and the types are to be listed", quote(value), want)
			return
		}
	}
	e.OK()
}

type acceptance uint8

const (
	acceptsNot acceptance = iota
	acceptsAny            // by a wildcard
	acceptsIt
)

// accepts says how a value of Accept names a media type.
func accepts(value, want string) (how acceptance) {
	group, _, _ := strings.Cut(want, "/")
	for part := range strings.SplitSeq(value, ",") {
		switch name := mediaType(part); {
		case name == want && weightless(part):
			return acceptsNot
		case name == want:
			how = acceptsIt
		case (name == "*/*" || name == group+"/*") && !weightless(part) && how == acceptsNot:
			how = acceptsAny
		}
	}
	return how
}

// weightless reports whether a part of Accept excludes what it names: q=0.
func weightless(part string) bool {
	_, rest, _ := strings.Cut(part, ";")
	for param := range strings.SplitSeq(rest, ";") {
		if name, value, ok := strings.Cut(param, "="); ok && strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}

var transportHTTPPostSingleMessage = &judge.Check{
	ID:       "transport.http-post-single-message",
	Title:    "bodies of POST requests",
	Why:      "A server reads one message from a body. Of an array it may answer the first only, or refuse all.",
	Fix:      "Post each message on its own.",
	Convicts: "a body that is an array, or is no message; at 2025-03-26, where arrays are fine, an empty one, or one that mixes answers with requests or notifications",
	Exempts:  "bodies that only look like JSON of an authorization server, and HTTP+SSE of 2024-11-05",
	New:      func() any { return new(mixedBody) },
	On: []judge.On{{Kind: judge.Message, From: judge.Client, Do: func(e *judge.Event) {
		switch {
		case e.Transport != capture.HTTP || !streamable(e):
		case e.Kind == judge.Malformed:
			e.Bad(malformed(e))
		case e.Msg.Element >= 0 && judge.State[*mixedBody](e).mixes(e):
			e.Bad("an array that holds answers beside requests or notifications")
		default:
			e.OK()
		}
	}}},
}

// mixedBody is what the array held of which messages came last.
type mixedBody struct {
	seq            uint64
	answers, other bool
}

// mixes reports whether an element of an array is the first that does not fit the others.
func (b *mixedBody) mixes(e *judge.Event) bool {
	if b.seq != e.Seq {
		*b = mixedBody{seq: e.Seq}
	}
	was := b.answers && b.other
	if e.Kind&judge.Answer != 0 {
		b.answers = true
	} else {
		b.other = true
	}
	return !was && b.answers && b.other
}

var transportSuccessContentType = &judge.Check{
	ID:       "transport.success-content-type",
	Title:    "types of answers over HTTP",
	Why:      "Clients decide by Content-Type whether to read one message or a stream; they drop what says neither.",
	Fix:      "Answer a request with application/json or text/event-stream, and a GET with text/event-stream or status 405.",
	Convicts: "a success that answers a request without one of the two types, a success that answers a GET without text/event-stream",
	Exempts:  "answers to DELETE and to notifications, refusals, HTTP+SSE of 2024-11-05, and answers of which it is unknown what they answer",
	On: []judge.On{{Kind: judge.Status, From: judge.Server, Do: func(e *judge.Event) {
		w, p, r := judge.Of[*wireState](e, wire), e.Post, e.Reply
		value, sent := r.Header[headContentType]
		got := mediaType(value)
		if w.kind != wireStreamable || !success(r.Status) || !sent && !r.Complete {
			return
		}
		get := p != nil && p.Verb == "GET" && w.endpoint(p)
		asked := p != nil && len(p.Requests) > 0
		switch {
		case get && got == mimeStream, !get && (got == mimeJSON || got == mimeStream) && (asked || p == nil || p.Verb == ""):
			e.OK()
		case !get && !asked, r.Status == 202 && e.Facts.SessionID == "" && e.Frame.Flags&capture.Sparse == 0: // it may be HTTP+SSE after all
		case !sent:
			e.Badf("status %d with no Content-Type", r.Status)
		case get:
			e.Badf("a GET is answered as %s, not as %s", quote(value), mimeStream)
		default:
			e.Badf("a request is answered as %s, neither %s nor %s", quote(value), mimeJSON, mimeStream)
		}
	}}},
}

var transportAccelBufferingHeader = &judge.Check{
	ID:       "transport.accel-buffering-header",
	Title:    "X-Accel-Buffering of event streams",
	Why:      "Reverse proxies hold event streams back until the server asks them not to; progress then arrives all at once at the end.",
	Fix:      "Send X-Accel-Buffering: no with each event stream.",
	Convicts: "an event stream without X-Accel-Buffering: no, in captures of which the user says how they are to be judged",
	Exempts:  "elsewhere it is a note: a reverse proxy before the server takes the header away",
	New:      func() any { return new(bool) },
	On: []judge.On{{Kind: judge.Status, From: judge.Server, Do: func(e *judge.Event) {
		value, sent := e.Reply.Header["x-accel-buffering"]
		switch {
		case !isStream(e.Reply) || !sent && !e.Reply.Complete:
		case value == "no":
			e.OK()
		case e.Pinned() && !sent:
			e.Bad("an event stream without X-Accel-Buffering")
		case e.Pinned():
			e.Badf("an event stream with X-Accel-Buffering %s instead of no", quote(value))
		case !*judge.State[*bool](e): // once is enough
			*judge.State[*bool](e) = true
			e.Note("an event stream without X-Accel-Buffering: no, unless something between took it away")
		}
	}}},
}
