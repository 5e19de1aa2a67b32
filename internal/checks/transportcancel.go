package checks

import (
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
)

// tokenOf is the progress token of a request, hashed.
var tokenOf judge.Slot[uint64]

// noteToken keeps the progress token of a request, and returns its hash, 0 if it has none.
func noteToken(e *judge.Event) uint64 {
	hash := hashToken(e.Meta().Get("progressToken"))
	if hash != 0 {
		tokenOf.Put(e.Request, hash)
	}
	return hash
}

func hashToken(token jsontree.Node) uint64 {
	if k := token.Kind(); k != jsontree.String && k != jsontree.Number {
		return 0
	}
	return judge.IDKey(judge.Client, token.Text())
}

var transportCancelNotificationReferencesRequest = &judge.Check{
	ID:       "transport.cancel-notification-references-request",
	Title:    "what a cancellation names",
	Why:      "A cancellation that names nothing cancels nothing: the server goes on working for nobody.",
	Fix:      "Put the id of the request to be cancelled into requestId.",
	Convicts: "a cancellation of the client without requestId, or with null",
	Exempts:  "HTTP, where closing the response is what cancels, unless the user says how the capture is to be judged",
	On: []judge.On{{Kind: judge.Notification, From: judge.Client, Methods: []string{methodCancelled}, Do: func(e *judge.Event) {
		switch id := e.Msg.Params.Get("requestId"); {
		case e.Transport == capture.HTTP && !e.Pinned():
		case !id.Exists() || id.Kind() == jsontree.Null:
			e.Bad("the cancellation has no requestId")
		default:
			e.OK()
		}
	}}},
}

// cancelGrace is how long after a cancellation an answer or progress may still come: the
// server had it on its way, or has not read the cancellation yet.
const cancelGrace = 5 * time.Second

// maxGivenUp is how many progress tokens of cancelled requests are remembered.
const maxGivenUp = 1024

var transportNoMessagesAfterCancelNotification = &judge.Check{
	ID:       "transport.no-messages-after-cancel-notification",
	Title:    "messages for cancelled requests over stdio",
	Why:      "The client has forgotten the request; what still comes for it is read and thrown away, and shows that the server worked on.",
	Fix:      "Stop the work when a cancellation comes, and send neither its result nor its progress.",
	Convicts: "an answer to or progress of a request that comes more than 5 seconds after its cancellation",
	Exempts:  "what comes sooner or at a time unknown, which is a note: it may have been on its way; HTTP; subscriptions/listen",
	New:      func() any { return &cancelState{tokens: map[uint64]session.Instant{}} },
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Do: cancelAsked},
		{Kind: judge.Notification, From: judge.Client, Methods: []string{methodCancelled}, Do: cancelSent},
		{Kind: judge.Message, From: judge.Server, Do: cancelAnswered},
	},
}

type cancelState struct {
	any    bool
	tokens map[uint64]session.Instant // of cancelled requests
}

// cancelledAt is when a request was cancelled.
var cancelledAt judge.Slot[session.Instant]

func cancelAsked(e *judge.Event) {
	if e.Transport != capture.Stdio {
		return
	}
	delete(judge.State[*cancelState](e).tokens, noteToken(e)) // in use again
}

func cancelSent(e *judge.Event) {
	id := e.Msg.Params.Get("requestId")
	if e.Transport != capture.Stdio || !id.Exists() || id.Kind() == jsontree.Null {
		return
	}
	s := judge.State[*cancelState](e)
	s.any = true
	r := e.Open(judge.Client, id.Text())
	if r == nil || r.Method == "subscriptions/listen" {
		return
	}
	cancelledAt.Put(r, e.At)
	if token, ok := tokenOf.Get(r); ok {
		makeRoom(s.tokens, maxGivenUp)
		s.tokens[token] = e.At
	}
}

func cancelAnswered(e *judge.Event) {
	s := judge.State[*cancelState](e)
	if !s.any || e.Transport != capture.Stdio {
		return
	}
	at, ok := cancelledAt.Get(e.Request)
	what := "an answer"
	if e.Kind == judge.Notification && e.Method == methodProgress {
		at, ok = s.tokens[hashToken(e.Msg.Params.Get("progressToken"))]
		what = "progress"
	}
	if !ok {
		e.OK()
		return
	}
	late := e.At.Sub(at)
	if late < cancelGrace || !e.Follows(judge.Client, at) {
		e.Note(what + " for a request that was cancelled; it may have been on its way")
		return
	}
	e.Badf("%s for a request %s after it was cancelled", what, late.Round(100*time.Millisecond))
}

var transportNoMessagesAfterCancellation = &judge.Check{
	ID:       "transport.no-messages-after-cancellation",
	Title:    "messages for requests whose response the client closed",
	Why:      "Closing the response is how a request is cancelled over HTTP; nobody waits for what still comes for it elsewhere.",
	Fix:      "Drop the request when its response is closed, and send nothing of it on another stream.",
	Convicts: "an answer to such a request, or progress with its token, on another stream of that client",
	Exempts:  "what comes on the same stream, and streams that the server or the network ended",
	New:      func() any { return &closedState{tokens: map[uint64]session.Instant{}} },
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Do: closedAsked},
		{Kind: judge.Closed, Do: closedStream},
		{Kind: judge.Answer | judge.Notification, From: judge.Server, Do: closedAnswered},
	},
}

type closedState struct {
	any    bool
	tokens map[uint64]session.Instant // of requests whose response was closed
}

// gaveUp is when the client closed the response of a request that was not answered.
var gaveUp judge.Slot[session.Instant]

func closedAsked(e *judge.Event) {
	if e.Transport != capture.HTTP {
		return
	}
	delete(judge.State[*closedState](e).tokens, noteToken(e)) // in use again
}

func closedStream(e *judge.Event) {
	if e.ClosedBy != judge.Client || e.Post == nil || e.Post.Exchange == 0 {
		return
	}
	s := judge.State[*closedState](e)
	for _, r := range e.Post.Requests {
		if r.Answered != 0 {
			continue
		}
		s.any = true
		gaveUp.Put(r, e.At)
		if token, ok := tokenOf.Get(r); ok {
			makeRoom(s.tokens, maxGivenUp)
			s.tokens[token] = e.At
		}
	}
}

func closedAnswered(e *judge.Event) {
	s := judge.State[*closedState](e)
	if !s.any || e.Transport != capture.HTTP || e.Frame.Exchange == 0 || !e.OneClient() {
		return
	}
	at, gone := gaveUp.Get(e.Request)
	what := "an answer"
	if e.Kind == judge.Notification && e.Method == methodProgress {
		at, gone = s.tokens[hashToken(e.Msg.Params.Get("progressToken"))]
		what = "progress"
	}
	switch {
	case !gone:
		e.OK()
	case e.Request != nil && e.Request.Post.Exchange == e.Frame.Exchange, !e.Follows(judge.Client, at):
	default:
		e.Bad(what + " for a request whose response the client had closed, on another stream")
	}
}
