package checks

import "mcpsnoop/internal/judge"

// maxEventIDs is how many ids of events are remembered, a session. Beyond, all are forgotten.
const maxEventIDs = 1 << 16

// eventID returns the hash of the id of an event with a message, false where ids of the
// session's events are not to be compared.
func eventID(e *judge.Event) (uint64, bool) {
	h := e.Frame.HTTP
	if h == nil || h.SSE == nil || h.SSE.ID == "" || e.Facts.SessionID == "" || e.Frame.Exchange == 0 ||
		e.Msg != nil && e.Msg.Element > 0 || judge.Of[*wireState](e, wire).overflow {
		return 0, false
	}
	return judge.Hash([]byte(h.SSE.ID)), true
}

var transportEventIDUnique = &judge.Check{
	ID:       "transport.event-id-unique",
	Title:    "ids of events",
	Why:      "A client resumes a stream by the id of the last event it got: if two events share it, messages are lost or come twice.",
	Fix:      "Give each event of a session an id of its own, whatever its stream.",
	Convicts: "an event with a message, with an id that an earlier one of the session had",
	Exempts:  "streams that resume another, sessions without an id",
	New:      func() any { return map[uint64]struct{}{} },
	On: []judge.On{{Kind: judge.Message, From: judge.Server, Do: func(e *judge.Event) {
		id, ok := eventID(e)
		if !ok || judge.Of[*wireState](e, wire).gets[e.Frame.Exchange] {
			return
		}
		seen := judge.State[map[uint64]struct{}](e)
		if _, twice := seen[id]; twice {
			e.Badf("event id %s stands on an earlier event of the session", quote(e.Frame.HTTP.SSE.ID))
			return
		}
		makeRoom(seen, maxEventIDs)
		seen[id] = struct{}{}
		e.OK()
	}}},
}

var transportReplayOfOwnStream = &judge.Check{
	ID:       "transport.replay-of-own-stream",
	Title:    "what a resumed stream replays",
	Why:      "Messages of another stream belong to another request: they come where nobody waits for them, or a second time.",
	Fix:      "Keep what was sent apart by stream, and replay what followed the Last-Event-ID on the same stream.",
	Convicts: "an event on a resumed stream whose id was first sent on another stream than the Last-Event-ID was",
	Exempts:  "sessions without an id, and a Last-Event-ID that was not seen",
	New:      func() any { return &replays{first: map[uint64]uint64{}, origin: map[uint64]uint64{}} },
	On: []judge.On{
		{Kind: judge.Head, From: judge.Client, Do: func(e *judge.Event) {
			s := judge.State[*replays](e)
			last, resumes := e.Post.Head(headLastEvent)
			origin, known := s.first[judge.Hash([]byte(last))]
			if !resumes || !known || e.Post.Verb != "GET" {
				return
			}
			makeRoom(s.origin, maxStreams)
			s.origin[e.Post.Exchange] = origin
		}},
		{Kind: judge.Message, From: judge.Server, Do: func(e *judge.Event) {
			id, ok := eventID(e)
			if !ok {
				return
			}
			s := judge.State[*replays](e)
			stream, resumed := s.origin[e.Frame.Exchange]
			first, known := s.first[id]
			switch {
			case resumed && known && first != stream:
				e.Badf("event %s was sent on another stream before", quote(e.Frame.HTTP.SSE.ID))
				return
			case resumed:
				e.OK()
			default:
				stream = e.Frame.Exchange
			}
			makeRoom(s.first, maxEventIDs)
			if !known {
				s.first[id] = stream
			}
		}},
	},
}

// replays is by event id the stream it was first sent on, and by exchange the stream that
// it resumes.
type replays struct{ first, origin map[uint64]uint64 }

// maxCut is how many streams are remembered that ended too early.
const maxCut = 64

var transportStreamOpenUntilAnswer = &judge.Check{
	ID:       "transport.stream-open-until-answer",
	Title:    "streams that end before the answer",
	Why:      "Many clients take the end of the stream for a failure of the call, and do not ask for the rest.",
	Fix:      "Keep the stream open until the answer was sent.",
	Convicts: "a stream that the server ended before it had answered, in a session that it serves afterwards",
	Exempts:  "cancelled requests, streams that broke off or that the client closed, HTTP+SSE of 2024-11-05",
	New:      func() any { return &cutStreams{} },
	On: []judge.On{
		{Kind: judge.Notification, From: judge.Client, Methods: []string{methodCancelled}, Do: func(e *judge.Event) {
			if r := e.Open(judge.Client, e.Msg.Params.Get("requestId").Text()); r != nil {
				cancelledOnStream.Put(r, true)
			}
		}},
		{Kind: judge.Closed, From: judge.Server, Do: func(e *judge.Event) {
			p := e.Post
			if p == nil || !p.Stream || e.ClosedBy != judge.Server || !streamable(e) {
				return
			}
			s := judge.State[*cutStreams](e)
			for _, r := range p.Requests {
				if _, cancelled := cancelledOnStream.Get(r); r.Answered == 0 && !cancelled && len(s.list) < maxCut {
					s.list = append(s.list, cutStream{e.Seq, r})
					return
				}
			}
			e.OK()
		}},
		{Kind: judge.Status, From: judge.Server, Do: func(e *judge.Event) {
			s := judge.State[*cutStreams](e)
			if len(s.list) == 0 || e.Post == nil || !success(e.Reply.Status) {
				return
			}
			left := s.list[:0]
			for _, c := range s.list {
				if e.Post.Seq < c.seq {
					left = append(left, c) // was asked before the stream ended
					continue
				}
				if e.Post.Verb != "DELETE" {
					e.BadAtf(c.seq, "the stream of %s, id %s, ends before the answer", quote(c.r.Method), c.r.ID)
				}
			}
			clear(s.list[len(left):])
			s.list = left
		}},
	},
}

// cancelledOnStream marks requests that the client gave up.
var cancelledOnStream judge.Slot[bool]

type cutStreams struct{ list []cutStream }

// cutStream is where a stream ended, and a request it should have answered.
type cutStream struct {
	seq uint64
	r   *judge.Req
}
