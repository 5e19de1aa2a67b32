package checks

import (
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// Limits of what is remembered of subscriptions.
const (
	maxSubscriptions = 1024 // of a session; beyond, all are forgotten
	maxURIs          = 256  // of one filter; beyond, no URI is unlisted
	maxURI           = 1024 // bytes of a URI, likewise
	maxEarly         = 64   // tags of subscriptions that nobody asked for so far
)

// filter is what a subscription asks for, or is promised.
type filter struct {
	known bool // there was an object at all
	flags [3]bool
	uris  []string
	more  bool // it names more URIs than are remembered
}

// filterFlags are the members of a filter, by what they ask for.
var filterFlags = [3]string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"}

// flagged are the notifications that the flags ask for.
var flagged = map[string]int{
	"notifications/tools/list_changed": 0, "notifications/prompts/list_changed": 1, "notifications/resources/list_changed": 2,
}

// add reads a filter. What is there already stays.
func (f *filter) add(n jsontree.Node) {
	if n.Kind() != jsontree.Object {
		return
	}
	f.known = true
	for i, name := range filterFlags {
		if on, _ := n.Get(name).Bool(); on {
			f.flags[i] = true
		}
	}
	for uri := range n.Get("resourceSubscriptions").Elements() {
		if text, ok := uri.Str(); ok {
			if len(f.uris) == maxURIs || len(text) > maxURI {
				f.more = true
				return
			}
			f.uris = append(f.uris, text)
		}
	}
}

// names reports whether a URI is listed.
func (f *filter) names(uri string) bool { return f.more || slices.Contains(f.uris, uri) }

// subscription is a listen request and what came of it.
type subscription struct {
	request *judge.Req
	asked   filter
	granted filter
	begun   bool // a message came
	shared  bool // another is or may be open under the same id
}

// subscriptions is the state of subscriptionTracker.
type subscriptions struct {
	byID  map[uint64]*subscription
	early map[uint64]bool
	any   bool // somebody ever listened
}

var subscriptionSlot judge.Slot[*subscription]

// subscriptionTracker keeps what subscriptions asked for and got.
var subscriptionTracker = &judge.Tracker{
	New: func() any {
		return &subscriptions{byID: map[uint64]*subscription{}, early: map[uint64]bool{}}
	},
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Methods: []string{"subscriptions/listen"}, Do: listens},
		{Kind: judge.Notification | judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
			s := subscriptionOf(e, judge.State[*subscriptions](e))
			if s == nil || e.Method == methodCancelled {
				return
			}
			s.begun = true
			if e.Method == methodAcknowledged {
				s.granted.add(e.Msg.Params.Get("notifications"))
			}
		}},
	},
}

func listens(e *judge.Event) {
	t := judge.State[*subscriptions](e)
	t.any = true
	key := judge.IDKey(judge.Client, e.Msg.ID)
	s := &subscription{request: e.Request, begun: t.early[key]}
	if was := t.byID[key]; was != nil {
		// What still comes for the first is not to be told from what comes for the second.
		s.asked, s.granted = was.asked, was.granted
		if was.request.Answered == 0 {
			s.shared, was.shared = true, true
		}
	}
	s.asked.add(e.Msg.Params.Get("notifications"))
	makeRoom(t.byID, maxSubscriptions)
	t.byID[key] = s
	subscriptionSlot.Put(e.Request, s)
}

// subscribed returns the subscription that a message of the server belongs to, nil if
// it is none's or nobody can say whose.
func subscribed(e *judge.Event) *subscription {
	s := subscriptionOf(e, judge.Of[*subscriptions](e, subscriptionTracker))
	if s == nil || s.shared || !s.asked.known {
		return nil
	}
	return s
}

func subscriptionOf(e *judge.Event, t *subscriptions) *subscription {
	if e.Kind&judge.Answer != 0 {
		s, _ := subscriptionSlot.Get(e.Request)
		return s
	}
	if e.Post != nil && e.Post.Exchange != 0 { // the stream says it
		for _, r := range e.Post.Requests {
			if s, ok := subscriptionSlot.Get(r); ok {
				return s
			}
		}
		return nil
	}
	tag := e.Meta().Get(mcp.MetaSubscriptionID)
	if !tag.Exists() || e.Transport == capture.HTTP && !e.AsOneClient() {
		return nil
	}
	key := judge.IDKey(judge.Client, tag.Text())
	s := t.byID[key]
	if s == nil && !e.Ordered() && len(t.early) < maxEarly {
		t.early[key] = true // its request may follow
	}
	return s
}
