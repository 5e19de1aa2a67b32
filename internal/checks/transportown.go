package checks

import (
	"fmt"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
)

const (
	sendingLegacy = "basic/transports#sending-messages-to-the-server"
	sendingModern = "basic/transports/streamable-http#sending-messages"
	managing      = "basic/transports#session-management"
	listening     = "basic/transports#listening-for-messages-from-the-server"
	resuming      = "basic/transports#resumability-and-redelivery"
)

// ownTransport are clauses beyond the conformance rows.
var ownTransport = []*judge.Clause{
	{ID: "TRAN-518", In: since2025Mar, Level: judge.Must, Actor: judge.Client, Section: sendingLegacy, Own: true,
		Rule: "Messages are sent by POST alone.", Checks: by(transportMessageByPost)},
	{ID: "TRAN-518", In: in2026, Level: judge.Must, Actor: judge.Client, Section: sendingModern, Own: true,
		Rule: "Messages are sent by POST alone.", Checks: by(transportMessageByPost)},
	{ID: "TRAN-524", In: since2025Mar, Level: judge.Must, Actor: judge.Server, Section: sendingLegacy, Own: true,
		Rule: "What asks for no answer and is accepted is answered 202 without a body.", Checks: by(transportAcceptedStatus)},
	{ID: "TRAN-525", In: in2026, Level: judge.Must, Actor: judge.Server, Section: sendingModern, Own: true,
		Rule: "A notification that is accepted is answered 202 without a body.", Checks: by(transportAcceptedStatus)},
	{ID: "TRAN-529", In: since2025Mar &^ in2025Nov, Level: judge.ShouldNot, Actor: judge.Server, Signal: judge.Advice, Section: sendingLegacy, Own: true,
		Rule: "The stream of a request is not closed before its answer.", Checks: by(transportStreamOpenUntilAnswer)},
	{ID: "TRAN-530", In: since2025Mar, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: sendingLegacy, Own: true,
		Rule: "The stream of a request ends with its answer.", Checks: by(transportStreamEndsWithAnswer)},
	{ID: "TRAN-530", In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "basic/transports/streamable-http#receiving-messages", Own: true,
		Rule: "The stream of a request ends with its answer.", Checks: by(transportStreamEndsWithAnswer)},
	{ID: "TRAN-536", In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/transports/streamable-http#receiving-messages", Own: true,
		Rule: "The stream of a request carries its own progress only.", Checks: by(transportProgressOfOwnRequest)},
	{ID: "TRAN-542", In: since2025Mar, Level: judge.MustNot, Actor: judge.Server, Section: listening, Own: true,
		Rule: "A listening stream that resumes no other carries no answers.", Checks: by(transportNoAnswerOnListening)},
	{ID: "TRAN-544", In: since2025Mar, Level: judge.Must, Actor: judge.Server, Section: resuming, Own: true,
		Rule: "Ids of events are unique among all streams of a session.", Checks: by(transportEventIDUnique)},
	{ID: "TRAN-546", In: since2025Mar, Level: judge.MustNot, Actor: judge.Server, Section: resuming, Own: true,
		Rule: "A stream that is resumed replays its own messages only.", Checks: by(transportReplayOfOwnStream)},
	{ID: "TRAN-551", In: since2025Mar, Level: judge.Must, Actor: judge.Server, Section: managing, Own: true,
		Rule: "Requests of a session that was ended are answered 404.", Checks: by(transportEndedSession404)},
	{ID: "TRAN-552", In: since2025Mar, Level: judge.Must, Actor: judge.Client, Section: managing, Own: true,
		Rule: "A client that gets 404 begins a new session, without the old id.", Checks: by(transportNewSessionAfter404)},
	{ID: "TRAN-556", In: since2025Jun, Level: judge.Must, Actor: judge.Server, Section: "basic/transports#protocol-version-header", Own: true,
		Rule: "An MCP-Protocol-Version that is no version is answered 400.", Checks: by(transportInvalidVersionRejected)},
}

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
			e.Bad(fmt.Sprintf("a message in the body of a %s", cutText([]byte(e.Post.Verb), shownText)))
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
			e.Bad(fmt.Sprintf("a POST that asks for no answer is answered %d instead of 202", e.Reply.Status))
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
		e.Bad(fmt.Sprintf("\"%s\" comes on a stream after the answer to id %s", e.Method, p.Requests[0].ID))
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
			e.Bad(fmt.Sprintf("progress with a token that the request of this stream, id %s, did not give", e.Post.Requests[0].ID))
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
			e.Bad(fmt.Sprintf("an answer to id %s on a listening stream", cutText(e.Msg.ID, shownText)))
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
			id, named := p.Head(headSession)
			s := judge.Of[*wireState](e, wire).session(id)
			switch {
			case !named || s == nil:
			case s.gone.seq == 0 || s.gone.seq == e.Seq || s.by404 || p.Seq < s.gone.seq || s.gone.at.Sub(p.At) > 0 || !e.Ordered() && e.At.Sub(s.gone.at) < unorderedGap:
				e.OK()
			default:
				e.Bad(fmt.Sprintf("status %d for a request of a session that was deleted, where 404 is due", e.Reply.Status))
			}
		}},
		{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
			p := e.Post
			if p == nil || e.Reply == nil || e.Reply.Status != 400 {
				return
			}
			id, named := p.Head(headSession)
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
		id, named := p.Head(headSession)
		s := judge.Of[*wireState](e, wire).session(id)
		switch {
		case !named && e.Method == "initialize":
			e.OK()
		case !named || s == nil:
		case s.by404 && p.Seq > s.gone.seq && p.At.Sub(s.gone.at) >= unorderedGap:
			e.BadAt(p.Seq, fmt.Sprintf("\"%s\" names a session for which 404 came", e.Method))
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
		switch value, sent := p.Head(headVersion); {
		case !sent:
		case judge.IsDate(value), strings.Contains(strings.ToLower(value), "draft"), strings.Contains(value, ","):
			e.OK()
		default:
			e.Bad(fmt.Sprintf("status %d for a request with MCP-Protocol-Version \"%s\", where 400 is due", e.Reply.Status, cutText([]byte(value), shownText)))
		}
	}}},
}
