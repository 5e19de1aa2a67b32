package checks

import (
	"fmt"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// onProgress binds a function to notifications/progress with a token that may be one;
// t is nil if no request carried it, or it was forgotten.
func onProgress(do func(e *judge.Event, id jsontree.Node, t *token)) judge.On {
	return judge.On{Kind: judge.Notification, Methods: []string{methodProgress}, Do: func(e *judge.Event) {
		if id := e.Msg.Params.Get("progressToken"); isToken(id) && (e.From == judge.Server || !mcp.PerRequest(e.Revision)) {
			do(e, id, judge.Of[*tokens](e, tokenTracker).byKey[judge.IDKey(e.From^judge.Both, id.Text())])
		}
	}}
}

// onCarrier drops claims about a token when a request carries it that may have passed
// before them.
var onCarrier = judge.On{Kind: judge.Request, Do: func(e *judge.Event) {
	if d := judge.State[*claims](e); len(d.list) > 0 {
		d.drop(e, judge.IDKey(e.From, e.Meta().Get("progressToken").Text()))
	}
}}

// atEnd convicts what is left of claims.
var atEnd = judge.On{Kind: judge.End, Do: func(e *judge.Event) {
	judge.State[*claims](e).conclude(e, func(*claim) bool { return false })
}}

var progressTokenType = &judge.Check{
	ID:       "progress.token-type",
	Title:    "types of progress tokens",
	Why:      "A token is what progress is matched by. A null or a fraction matches no request, and strict peers refuse the message.",
	Fix:      "Use a string or an integer. If the request gave no token, send no progress for it.",
	Convicts: "a progressToken of a request's _meta or of notifications/progress that is neither a string nor an integer, null included",
	Exempts:  "a notification without progressToken, which no schema lets pass",
	On: []judge.On{
		{Kind: judge.Request, Do: func(e *judge.Event) { tokenType(e, e.Meta().Get("progressToken")) }},
		{Kind: judge.Notification, Methods: []string{methodProgress}, Do: func(e *judge.Event) {
			tokenType(e, e.Msg.Params.Get("progressToken"))
		}},
	},
}

func tokenType(e *judge.Event, id jsontree.Node) {
	switch {
	case !id.Exists():
	case isToken(id):
		e.OK()
	default:
		e.Badf("progressToken of %s is %s, neither a string nor an integer", quote(e.Method), quoteJSON(id.Text()))
	}
}

var progressTokenUnique = &judge.Check{
	ID:       "progress.token-unique",
	Title:    "progress tokens of open requests",
	Why:      "With one token on two open requests nobody can tell whose progress it is that comes.",
	Fix:      "Give each request a token of its own; the id of the request will do.",
	Convicts: "a request with the progress token of another of the same side that is neither answered nor cancelled",
	Exempts:  "captures that are not numbered in the order of the wire, or several clients' own; over HTTP, requests whose stream is not known to be open, and at revisions without handshake all: a note",
	On: []judge.On{{Kind: judge.Request, Do: func(e *judge.Event) {
		id := e.Meta().Get("progressToken")
		if !isToken(id) || !e.AsOneClient() || !e.Ordered() || e.From == judge.Server && mcp.PerRequest(e.Revision) {
			return
		}
		var other *judge.Req
		if t := judge.Of[*tokens](e, tokenTracker).byKey[judge.IDKey(e.From, id.Text())]; t != nil {
			for _, r := range t.carriers {
				if _, given := cancelSlot.Get(r); !given && r.Answered == 0 {
					other = r
				}
			}
		}
		if other == nil {
			e.OK()
			return
		}
		detail := fmt.Sprintf("id %s carries progress token %s, as does id %s, which is still open", e.Request.ID, quoteJSON(id.Text()), other.ID)
		switch {
		case e.Transport != capture.HTTP:
			if e.FromStart() && e.Whole() {
				e.Bad(detail)
			}
		case mcp.PerRequest(e.Revision):
			e.Note(detail)
		case other.Post != nil && other.Post.Stream && !other.Post.Over && e.Whole():
			e.Bad(detail)
		}
	}}},
}

var progressIncreases = &judge.Check{
	ID:       "progress.increases",
	Title:    "values of progress",
	Why:      "Progress that stands still or goes back makes bars jump, and clients that extend timeouts by progress may give up.",
	Fix:      "Send progress only when the value has grown; a new request with the same token starts anew.",
	Convicts: "a value that is not above the last for that token, since the last request that carried it, on one stream",
	Exempts:  "tokens on several open requests, other streams, values that a float64 cannot tell apart",
	New:      newClaims,
	On: []judge.On{
		onProgress(func(e *judge.Event, id jsontree.Node, t *token) {
			if t == nil {
				return
			}
			value := e.Msg.Params.Get("progress")
			if n, _ := t.open(); n > 1 || n == 0 && !t.task || value.Kind() != jsontree.Number {
				return
			}
			if !t.told {
				e.OK()
				return
			}
			if e.Transport == capture.HTTP && (e.Frame.Exchange == 0 || e.Frame.Exchange != t.stream) {
				return
			}
			yes, no := t.rises(value)
			if yes {
				e.OK()
				return
			}
			detail := fmt.Sprintf("progress %s for token %s of id %s is not above the last", quoteJSON(value.Text()), quoteJSON(id.Text()), t.last().ID)
			switch {
			case !no:
			case e.Ordered():
				e.Bad(detail)
			default:
				judge.State[*claims](e).add(e, id, judge.IDKey(e.From^judge.Both, id.Text()), detail)
			}
		}),
		onCarrier, atEnd,
	},
}

var progressAfterAnswer = &judge.Check{
	ID:       "progress.after-answer",
	Title:    "progress after the answer",
	Why:      "Once a request is answered its token means nothing. Some clients take the connection down over it.",
	Fix:      "Send the last progress before the answer, and stop timers that send it when the request is done.",
	Convicts: "progress for a token all of whose requests were answered before, on the same channel: stdio, or one HTTP stream",
	Exempts:  "tasks, for which progress goes on; other streams; captures that may lack a request with that token",
	New:      newClaims,
	On: []judge.On{
		onProgress(func(e *judge.Event, id jsontree.Node, t *token) {
			if t == nil || t.task || t.crowded {
				return
			}
			if n, _ := t.open(); n > 0 {
				e.OK()
				return
			}
			if e.Transport == capture.HTTP {
				if e.Frame.Exchange == 0 || e.Frame.Exchange != t.endedOn {
					return
				}
			} else if !e.FromStart() || !e.Whole() {
				return
			}
			detail := fmt.Sprintf("progress for token %s of id %s, which was answered by frame %d", quoteJSON(id.Text()), t.last().ID, t.ended)
			if e.Ordered() {
				e.Bad(detail)
				return
			}
			judge.State[*claims](e).add(e, id, judge.IDKey(e.From^judge.Both, id.Text()), detail)
		}),
		onCarrier, atEnd,
	},
}

var progressKnownToken = &judge.Check{
	ID:       "progress.known-token",
	Title:    "progress for tokens that nobody gave",
	Why:      "A peer cannot match progress whose token it never sent, and drops it or fails.",
	Fix:      "Send progress only for requests that carry a progressToken, with that very token and its type.",
	Convicts: "progress with a token that no request of the other side carried; 1 and \"1\" are two tokens",
	Exempts:  "captures that do not hold all of the session, or several clients' own",
	New:      newClaims,
	On: []judge.On{
		onProgress(func(e *judge.Event, id jsontree.Node, _ *token) {
			peer := e.From ^ judge.Both
			key := judge.IDKey(peer, id.Text())
			if judge.Of[*tokens](e, tokenTracker).known[side(peer)].has(id, key) {
				e.OK()
				return
			}
			if !e.FromStart() || !e.Whole() || !e.AsOneClient() {
				return
			}
			detail := fmt.Sprintf("progress for token %s, which no request carried", quoteJSON(id.Text()))
			if e.Ordered() && e.Transport != capture.HTTP {
				e.Bad(detail)
				return
			}
			judge.State[*claims](e).add(e, id, key, detail)
		}),
		{Kind: judge.End, Do: func(e *judge.Event) {
			known := &judge.Of[*tokens](e, tokenTracker).known
			judge.State[*claims](e).conclude(e, func(d *claim) bool { return d.in(&known[side(d.from^judge.Both)]) })
		}},
	},
}
