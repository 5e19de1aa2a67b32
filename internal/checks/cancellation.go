package checks

import (
	"fmt"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// maxTaskIDs is how many ids of requests that became tasks are remembered.
const maxTaskIDs = 1024

// issued is the state of idTracker.
type issued struct {
	ids        [2]idSet
	listens    idSet
	initialize uint64 // key of its id; 0 if there was none, or the id was used again
	tasks      map[uint64]session.Instant
}

// cancelSlot marks requests that their sender cancelled.
var cancelSlot judge.Slot[bool]

// idTracker keeps what the requests of both sides were called.
var idTracker = &judge.Tracker{
	New: func() any { return &issued{tasks: map[uint64]session.Instant{}} },
	On: []judge.On{
		{Kind: judge.Request, Do: func(e *judge.Event) {
			s, key := judge.State[*issued](e), e.Request.Key()
			s.ids[side(e.From)].add(e.Msg.ID, key)
			delete(s.tasks, key)
			switch {
			case e.From == judge.Server:
			case e.Method == "initialize":
				s.initialize = key
			case key == s.initialize:
				s.initialize = 0
			}
			if e.From == judge.Client && e.Method == "subscriptions/listen" {
				s.listens.add(e.Msg.ID, key)
			}
		}},
		{Kind: judge.Result, Methods: []string{"tools/call", "sampling/createMessage", "elicitation/create"}, Do: func(e *judge.Event) {
			if s := judge.State[*issued](e); e.Request != nil && isTaskResult(e.Msg.Result) && len(s.tasks) < maxTaskIDs {
				s.tasks[e.Request.Key()] = e.At
			}
		}},
		{Kind: judge.Notification, Methods: []string{methodCancelled}, Do: func(e *judge.Event) {
			if r := e.Open(e.From, e.Msg.Params.Get("requestId").Text()); r != nil {
				cancelSlot.Put(r, true)
			}
		}},
	},
}

// onCancel binds a function to cancellations that name a request.
func onCancel(from judge.Actor, do func(e *judge.Event, id jsontree.Node, key uint64)) judge.On {
	return judge.On{Kind: judge.Notification, From: from, Methods: []string{methodCancelled}, Do: func(e *judge.Event) {
		if id := e.Msg.Params.Get("requestId"); id.Exists() && id.Kind() != jsontree.Null {
			do(e, id, judge.IDKey(e.From, id.Text()))
		}
	}}
}

var cancellationOwnRequest = &judge.Check{
	ID:       "cancellation.own-request",
	Title:    "what a cancellation names",
	Why:      "A cancellation of what was never asked cancels nothing, and what its sender wanted cancelled runs on.",
	Fix:      "Send the id of the request as it was sent, with its type.",
	Convicts: "a requestId that no request of the same side had; 1 and \"1\" are two ids",
	Exempts:  "requests that were answered already, since the two may have crossed; captures that do not hold all of the session, or several clients' own; at revisions without handshake the server, and HTTP, where a cancellation has no place: a note",
	New:      newClaims,
	On: []judge.On{
		onCancel(0, func(e *judge.Event, id jsontree.Node, key uint64) {
			if mcp.PerRequest(e.Revision) && e.From == judge.Server {
				return
			}
			if mcp.PerRequest(e.Revision) && e.Transport == capture.HTTP {
				e.Notef("cancellation of id %s over HTTP, where closing the stream of a request cancels it", quoteJSON(id.Text()))
				return
			}
			if judge.Of[*issued](e, idTracker).ids[side(e.From)].has(id, key) {
				e.OK()
				return
			}
			if !e.FromStart() || !e.Whole() || !e.AsOneClient() {
				return
			}
			detail := fmt.Sprintf("cancellation of id %s, which was never sent", quoteJSON(id.Text()))
			if e.Transport != capture.HTTP {
				e.Bad(detail)
				return
			}
			judge.State[*claims](e).add(e, id, key, detail)
		}),
		{Kind: judge.End, Do: func(e *judge.Event) {
			ids := &judge.Of[*issued](e, idTracker).ids
			judge.State[*claims](e).conclude(e, func(d *claim) bool { return d.in(&ids[side(d.from)]) })
		}},
	},
}

var cancellationNotInitialize = &judge.Check{
	ID:       "cancellation.not-initialize",
	Title:    "cancellation of initialize",
	Why:      "Without initialize there is no session in which to cancel anything; servers are left half open.",
	Fix:      "To give up on initialize, close the connection.",
	Convicts: "a client's cancellation whose requestId is that of its initialize request",
	Exempts:  "ids that another request had since; captures of several clients",
	On: []judge.On{onCancel(judge.Client, func(e *judge.Event, id jsontree.Node, key uint64) {
		switch {
		case !e.AsOneClient():
		case key == judge.Of[*issued](e, idTracker).initialize:
			e.Badf("cancellation of id %s, which is initialize", quoteJSON(id.Text()))
		default:
			e.OK()
		}
	})},
}

// taskTime is how long after the answer a cancellation may still have crossed it.
const taskTime = time.Second

var cancellationNotTasks = &judge.Check{
	ID:       "cancellation.not-tasks",
	Title:    "cancellation of tasks",
	Why:      "The request of a task is over once the task is made; only tasks/cancel reaches the task.",
	Fix:      "Cancel a task with tasks/cancel and its taskId, anything else with its requestId.",
	Convicts: "a cancellation sent more than a second after its request was answered with a task, or one without requestId",
	Exempts:  "captures of several clients",
	On: []judge.On{{Kind: judge.Notification, Methods: []string{methodCancelled}, Do: func(e *judge.Event) {
		id := e.Msg.Params.Get("requestId")
		if !e.AsOneClient() {
			return
		}
		if !id.Exists() || id.Kind() == jsontree.Null {
			e.Bad("cancellation without requestId, which names nothing")
			return
		}
		at, ok := judge.Of[*issued](e, idTracker).tasks[judge.IDKey(e.From, id.Text())]
		if ok && e.At.Sub(at) > taskTime {
			e.Badf("cancellation of id %s, which had been answered with a task", quoteJSON(id.Text()))
			return
		}
		e.OK()
	}}},
}

var cancellationServerEndsSubscriptions = &judge.Check{
	ID:       "cancellation.server-ends-subscriptions",
	Title:    "cancellations of the server",
	Why:      "A server has no requests of its own to cancel. It may only tell that a subscription is over.",
	Fix:      "Answer a request that cannot be finished with an error; cancel only subscriptions/listen.",
	Convicts: "a server's cancellation whose requestId is that of no subscriptions/listen",
	Exempts:  "sessions with initialize, captures that do not hold all of the session or several clients' own; over HTTP, unless the id is that of the request whose stream it is on",
	New:      newClaims,
	On: []judge.On{
		onCancel(judge.Server, func(e *judge.Event, id jsontree.Node, _ uint64) {
			key := judge.IDKey(judge.Client, id.Text())
			if judge.Of[*issued](e, idTracker).listens.has(id, key) {
				e.OK()
				return
			}
			detail := fmt.Sprintf("server cancels id %s, which is no subscription", quoteJSON(id.Text()))
			if e.Post != nil && e.Post.Exchange != 0 {
				for _, r := range e.Post.Requests {
					if r.Key() == key {
						e.Bad(detail)
					}
				}
				return
			}
			switch {
			case !e.FromStart() || !e.Whole() || !e.AsOneClient() || e.Facts.Phase != judge.BeforeInitialize:
			case e.Ordered() && e.Transport != capture.HTTP:
				e.Bad(detail)
			default:
				judge.State[*claims](e).add(e, id, key, detail)
			}
		}),
		{Kind: judge.End, Do: func(e *judge.Event) {
			listens := &judge.Of[*issued](e, idTracker).listens
			judge.State[*claims](e).conclude(e, func(d *claim) bool { return d.in(listens) })
		}},
	},
}
