package checks

import (
	"fmt"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
)

var baseResultIDMatches = &judge.Check{
	ID:       "base.result-id-matches",
	Title:    "results answer requests",
	Why:      "A result under an id that nobody waits for is lost, and the call it was meant for stays open.",
	Fix:      "Send a result once for each request, with the id exactly as it came: 1 and \"1\" differ.",
	Convicts: "a result without an id, under one that no request of the other side had, or that was answered before",
	Exempts:  answersExempt,
	New:      newStrayAnswers,
	On: []judge.On{
		{Kind: judge.Result, Do: func(e *judge.Event) {
			switch {
			case !claimsToBeMessage(e):
			case e.Msg.ID == nil:
				e.Bad("result has no id")
			case e.Msg.Defects.Has(jsonrpc.NullID):
				e.Bad("result has the id null")
			default:
				answerMatches(e)
			}
		}},
		{Kind: judge.End, Do: strayAnswersLeft},
	},
}

var baseErrorIDMatches = &judge.Check{
	ID:       "base.error-id-matches",
	Title:    "errors answer requests",
	Why:      "An error under an id that nobody waits for is lost, and the call it was meant for stays open.",
	Fix:      "Send an error once for each request, with the id exactly as it came, and without one only if that could not be read.",
	Convicts: "an error under an id that no request of the other side had, or that was answered before",
	Exempts:  "errors without an id or with null; " + answersExempt,
	New:      newStrayAnswers,
	On: []judge.On{
		{Kind: judge.Error, Do: func(e *judge.Event) {
			if e.Msg.ID != nil && !e.Msg.Defects.Has(jsonrpc.NullID) && claimsToBeMessage(e) {
				answerMatches(e)
			}
		}},
		{Kind: judge.End, Do: strayAnswersLeft},
	},
}

const answersExempt = "what HTTP delivers again, and captures that lack the beginning or frames; where their order is not certain, the verdict waits for the end"

// strayAnswers are answers to nothing in a log in which a request may still follow its answer.
type strayAnswers struct{ list []strayAnswer }

type strayAnswer struct {
	seq    uint64
	from   judge.Actor
	key    uint64
	asked  uint32
	detail string
}

// maxStrayAnswers is how many of them are kept; further ones convict nobody.
const maxStrayAnswers = 256

func newStrayAnswers() any { return new(strayAnswers) }

// answerMatches judges an answer with an id.
func answerMatches(e *judge.Event) {
	if e.Request != nil {
		e.OK()
		return
	}
	book, key := judge.Of[*idBook](e, baseIDs), judge.IDKey(e.From^judge.Both, e.Msg.ID)
	use, known := book.ids[key]
	if known && e.Transport == capture.HTTP && use.answer == judge.Hash(e.Msg.Root.Text()) || book.forgot || e.Forgot() {
		return
	}
	detail := fmt.Sprintf("id %s is that of no request", shownJSON(e.Msg.ID))
	if known {
		detail = fmt.Sprintf("id %s was answered before", shownJSON(e.Msg.ID))
	}
	switch {
	case inItsExchange(e, known):
		e.Bad(detail)
	case !e.FromStart() || known && !e.OneClient():
	case e.Ordered():
		e.Bad(detail)
	default:
		d := judge.State[*strayAnswers](e)
		if len(d.list) < maxStrayAnswers {
			d.list = append(d.list, strayAnswer{e.Seq, e.From, key, use.asked, detail})
		}
	}
}

// inItsExchange reports whether the HTTP exchange alone shows that an answer is wrong: its
// request was answered in it before, or the body that it answers asked under other ids.
func inItsExchange(e *judge.Event, known bool) bool {
	if e.Post == nil || e.Post.Exchange == 0 || len(e.Post.Requests) == 0 {
		return false
	}
	for _, r := range e.Post.Requests {
		if judge.IDKey(r.From, []byte(r.ID)) == judge.IDKey(judge.Client, e.Msg.ID) {
			return true
		}
	}
	return !known && !e.Post.Stream
}

// strayAnswersLeft convicts the answers whose request never came.
func strayAnswersLeft(e *judge.Event) {
	book := judge.Of[*idBook](e, baseIDs)
	if !e.FromStart() || !e.Whole() || book.forgot {
		return
	}
	end := e.From
	for _, d := range judge.State[*strayAnswers](e).list {
		if book.ids[d.key].asked == d.asked {
			e.From = d.from
			e.BadAt(d.seq, d.detail)
		}
	}
	e.From = end
}

var baseUnansweredNotification = &judge.Check{
	ID:       "base.notification-unanswered",
	Title:    "notifications are not answered",
	Why:      "Nobody waits for the answer to a notification; clients log it as an error or fail.",
	Fix:      "Answer a POST that holds notifications only with 202 and no body.",
	Convicts: "a result or an error, with a status of success, in the HTTP exchange that carried nothing but a notification",
	Exempts:  "stdio, where such an answer cannot be told from a stray one, and refusals by HTTP status",
	New:      func() any { return new(notifiedPosts) },
	On: []judge.On{
		{Kind: judge.Notification, From: judge.Client, Do: func(e *judge.Event) {
			if e.Post != nil && e.Post.Exchange != 0 {
				judge.State[*notifiedPosts](e).add(e.Post.Exchange)
			}
		}},
		{Kind: judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
			if e.Post != nil && len(e.Post.Requests) == 0 && e.Reply != nil && e.Reply.Status/100 == 2 && judge.State[*notifiedPosts](e).has(e.Post.Exchange) {
				e.Bad("answers a POST that held a notification and no request")
			}
		}},
		{Kind: judge.Status, Do: func(e *judge.Event) {
			if e.Post != nil && len(e.Post.Requests) == 0 && e.Reply.Status == 202 && judge.State[*notifiedPosts](e).has(e.Post.Exchange) {
				e.OK()
			}
		}},
	},
}

// notifiedPosts are the last exchanges that carried notifications.
type notifiedPosts struct {
	list [64]uint64
	next int
}

func (n *notifiedPosts) add(exchange uint64) {
	n.list[n.next%len(n.list)] = exchange
	n.next++
}

func (n *notifiedPosts) has(exchange uint64) bool {
	if exchange == 0 {
		return false
	}
	for _, one := range n.list {
		if one == exchange {
			return true
		}
	}
	return false
}
