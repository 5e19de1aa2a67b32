package checks

import (
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var transportMessageByPost = &judge.Check{
	ID:       "transport.message-by-post",
	Title:    "verbs that carry messages",
	Why:      "Servers read messages from the body of a POST only.",
	Fix:      "Send each message by POST.",
	Convicts: "a JSON-RPC message in the body of a request with another verb",
	Exempts:  "HTTP+SSE of 2024-11-05",
	On: []judge.On{{Kind: judge.Asking | judge.Answer, From: judge.Client, Do: func(e *judge.Event) {
		switch {
		case e.Post == nil || e.Post.Verb == "" || !streamable(e):
		case e.Post.Verb != "POST":
			e.Badf("a message in the body of %s", quote(e.Post.Verb))
		default:
			e.OK()
		}
	}}},
}

var transportAcceptedStatus = &judge.Check{
	ID:       "transport.accepted-status",
	Title:    "status of POSTs that ask for no answer",
	Why:      "Clients take another success for an answer and try to read it; some wait on the empty stream.",
	Fix:      "Answer a POST of notifications or answers with 202 and no body, or refuse it with an error status.",
	Convicts: "a POST of notifications or answers that is answered with another success than 202, or by 202 with a body",
	Exempts:  "HTTP+SSE of 2024-11-05, and answers that came before the body had been read",
	On: []judge.On{{Kind: judge.Status, From: judge.Server, Do: func(e *judge.Event) {
		w := judge.Of[*wireState](e, wire)
		if e.Post == nil || w.bodies[e.Post] != bodyOther || w.kind != wireStreamable || !success(e.Reply.Status) {
			return
		}
		switch {
		case e.Reply.Status != 202:
			e.Badf("a POST that asks for no answer is answered %d instead of 202", e.Reply.Status)
		case e.Frame.Kind == capture.Line && len(e.Frame.Payload) > 0:
			e.Bad("the 202 to a POST that asks for no answer has a body")
		default:
			e.OK()
		}
	}}},
}

var transportStreamEndsWithAnswer = &judge.Check{
	ID:       "transport.stream-ends-with-answer",
	Title:    "what follows the answer on its stream",
	Why:      "Clients close the stream once they have the answer; what comes behind it is lost.",
	Fix:      "Send what belongs to a request before its answer, and end the stream then.",
	Convicts: "a notification or request on the stream of a POST all of whose requests were answered",
	Exempts:  "HTTP+SSE of 2024-11-05",
	On: []judge.On{{Kind: judge.Asking, From: judge.Server, Do: func(e *judge.Event) {
		p := e.Post
		if p == nil || !p.Stream || len(p.Requests) == 0 || !streamable(e) {
			return
		}
		for _, r := range p.Requests {
			if r.Answered == 0 {
				e.OK()
				return
			}
		}
		e.Badf("%s comes on a stream after the answer to id %s", quote(e.Method), p.Requests[0].ID)
	}}},
}

var transportProgressOfOwnRequest = &judge.Check{
	ID:       "transport.progress-of-own-request",
	Title:    "progress on the stream of a request",
	Why:      "A client reads progress from the stream of the request that it is about, and takes other for a mistake.",
	Fix:      "Send progress on the stream of the request whose token it has.",
	Convicts: "progress on the stream of a request of this revision, with a token that the request did not give",
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) { noteToken(e) }},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{methodProgress}, Do: func(e *judge.Event) {
			if e.Post == nil || e.Post.Exchange == 0 || len(e.Post.Requests) != 1 {
				return
			}
			token := hashToken(e.Msg.Params.Get("progressToken"))
			if given, ok := tokenOf.Get(e.Post.Requests[0]); ok && given == token {
				e.OK()
				return
			}
			e.Badf("progress with a token that the request of this stream, id %s, did not give", e.Post.Requests[0].ID)
		}},
	},
}

var transportNoAnswerOnListening = &judge.Check{
	ID:       "transport.no-answer-on-listening",
	Title:    "answers on streams opened by GET",
	Why:      "A client waits for an answer where it sent the request; on the listening stream it may go unseen.",
	Fix:      "Answer in the response to the POST; use a GET stream only to go on with one that broke off.",
	Convicts: "an answer on a GET stream that was opened without Last-Event-ID",
	Exempts:  "HTTP+SSE of 2024-11-05",
	On: []judge.On{{Kind: judge.Message, From: judge.Server, Do: func(e *judge.Event) {
		w := judge.Of[*wireState](e, wire)
		resumes, get := w.gets[e.Frame.Exchange]
		switch {
		case !get || w.kind != wireStreamable:
		case !resumes && e.Kind&judge.Answer != 0:
			e.Badf("an answer to id %s on a listening stream", quoteJSON(e.Msg.ID))
		default:
			e.OK()
		}
	}}},
}

var transportEndedSession404 = &judge.Check{
	ID:       "transport.ended-session-404",
	Title:    "requests of a session that was ended",
	Why:      "By 404 a client sees that its session is over and begins a new one; after another refusal it keeps trying.",
	Fix:      "Answer 404 to what names a session that is no more, whether it was deleted, expired or lost in a restart.",
	Convicts: "a success for a request that names a session whose DELETE had succeeded before it was sent",
	Exempts:  "400 with a complaint about the session, which is a note: that the session ended can only be guessed",
	On: []judge.On{
		{Kind: judge.Status, From: judge.Server, Do: func(e *judge.Event) {
			p := e.Post
			if p == nil || !success(e.Reply.Status) {
				return
			}
			id, named := p.Head(mcp.SessionHeader)
			s := judge.Of[*wireState](e, wire).session(id)
			switch {
			case !named || s == nil:
			case s.gone.seq == 0 || s.gone.seq == e.Seq || s.by404 || p.Seq < s.gone.seq || s.gone.at.Sub(p.At) > 0 || !e.Ordered() && e.At.Sub(s.gone.at) < unorderedGap:
				e.OK()
			default:
				e.Badf("status %d for a request of a session that was deleted, where 404 is due", e.Reply.Status)
			}
		}},
		{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
			p := e.Post
			if p == nil || e.Reply == nil || e.Reply.Status != 400 {
				return
			}
			id, named := p.Head(mcp.SessionHeader)
			text, _ := e.Msg.Error.Get("message").Str()
			if named && judge.Of[*wireState](e, wire).session(id) != nil && strings.Contains(strings.ToLower(text), "session") {
				e.Note("status 400 for a session id that this server gave out; if it ended the session, 404 is due")
			}
		}},
	},
}

var transportNewSessionAfter404 = &judge.Check{
	ID:       "transport.new-session-after-404",
	Title:    "what follows a 404 for a session",
	Why:      "The session is over: whatever names it is refused again.",
	Fix:      "Send initialize without Mcp-Session-Id after a 404, and go on with the id that comes with its answer.",
	Convicts: "an initialize, or more than a second later another request, that names a session for which a POST got 404",
	Exempts:  "DELETE, notifications, and answers",
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		p := e.Post
		if p == nil || !p.Complete {
			return
		}
		id, named := p.Head(mcp.SessionHeader)
		s := judge.Of[*wireState](e, wire).session(id)
		switch {
		case !named && e.Method == "initialize":
			e.OK()
		case !named || s == nil:
		case s.by404 && p.Seq > s.gone.seq && p.At.Sub(s.gone.at) >= unorderedGap:
			e.BadAtf(p.Seq, "%s names a session for which 404 came", quote(e.Method))
		case s.by404 && e.Method == "initialize" && p.Seq > s.gone.seq && e.Ordered():
			e.BadAt(p.Seq, "initialize names a session for which 404 came")
		default:
			e.OK()
		}
	}}},
}

var transportInvalidVersionRejected = &judge.Check{
	ID:       "transport.invalid-version-rejected",
	Title:    "answers to a version that is none",
	Why:      "A server that takes any version speaks one that the client did not ask for.",
	Fix:      "Answer 400 to an MCP-Protocol-Version that is no supported version.",
	Convicts: "a success for a request whose MCP-Protocol-Version is no date, and no name of a draft",
	Exempts:  "initialize, dates of versions that the server may know, HTTP+SSE of 2024-11-05",
	On: []judge.On{{Kind: judge.Status, From: judge.Server, Do: func(e *judge.Event) {
		w, p := judge.Of[*wireState](e, wire), e.Post
		if p == nil || w.kind != wireStreamable || !success(e.Reply.Status) {
			return
		}
		get := (p.Verb == "GET" || p.Verb == "DELETE") && w.endpoint(p)
		if !get && (w.bodies[p] == 0 || len(p.Requests) > 0 && p.Requests[0].Method == "initialize") {
			return
		}
		switch value, sent := p.Head(mcp.VersionHeader); {
		case !sent:
		case judge.IsDate(value), strings.Contains(strings.ToLower(value), "draft"), strings.Contains(value, ","):
			e.OK()
		default:
			e.Badf("status %d for a request with MCP-Protocol-Version %s, where 400 is due", e.Reply.Status, quote(value))
		}
	}}},
}
