package checks

import (
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/judge"
)

var baseUnansweredNotification = &judge.Check{
	ID:       "base.notification-unanswered",
	Title:    "notifications are not answered",
	Why:      "Nobody waits for the answer to a notification; clients log it as an error or fail.",
	Fix:      "Answer a POST that holds notifications only with 202 and no body.",
	Convicts: "a result or an error, with a status of success, in the HTTP exchange that carried nothing but a notification",
	Exempts:  "stdio, where such an answer cannot be told from a stray one, and refusals by HTTP status",
	New:      func() any { return new(recentPosts) },
	On: []judge.On{
		{Kind: judge.Notification, From: judge.Client, Do: func(e *judge.Event) {
			if e.Post != nil && e.Post.Exchange != 0 {
				judge.State[*recentPosts](e).add(e.Post.Exchange)
			}
		}},
		{Kind: judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
			if e.Post != nil && len(e.Post.Requests) == 0 && e.Reply != nil && e.Reply.Status/100 == 2 && judge.State[*recentPosts](e).has(e.Post.Exchange) {
				e.Bad("answers a POST that held a notification and no request")
			}
		}},
		{Kind: judge.Status, Do: func(e *judge.Event) {
			if e.Post != nil && len(e.Post.Requests) == 0 && e.Reply.Status == 202 && judge.State[*recentPosts](e).has(e.Post.Exchange) {
				e.OK()
			}
		}},
	},
}

// recentPosts are the last exchanges that carried something.
type recentPosts struct {
	list [64]uint64
	next int
}

func (n *recentPosts) add(exchange uint64) {
	n.list[n.next%len(n.list)] = exchange
	n.next++
}

func (n *recentPosts) has(exchange uint64) bool {
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

var baseErrorNamesRequest = &judge.Check{
	ID:       "base.error-names-request",
	Title:    "ids of errors that answer a readable request",
	Why:      "Clients find the call that failed by the id; without one it stays open until it times out.",
	Fix:      "Put the id of the request into the error. Leave it out only if it could not be read.",
	Convicts: "an error without an id, or with null, that is the JSON answer with status 200 to a POST of one well-formed request",
	Exempts:  "stdio, other statuses and event streams, where the error may be about something else",
	New:      func() any { return new(recentPosts) },
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
			if e.Post != nil && e.Post.Exchange != 0 && e.Msg.Defects == 0 {
				judge.State[*recentPosts](e).add(e.Post.Exchange)
			}
		}},
		{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
			p := e.Post
			if p == nil || p.Stream || len(p.Requests) != 1 || e.Reply == nil || e.Reply.Status != 200 || !judge.State[*recentPosts](e).has(p.Exchange) {
				return
			}
			if e.Msg.ID == nil || e.Msg.Defects.Has(jsonrpc.NullID) {
				e.Badf("error for %s with id %s does not name that id", quote(p.Requests[0].Method), quoteJSON([]byte(p.Requests[0].ID)))
				return
			}
			e.OK()
		}},
	},
}
