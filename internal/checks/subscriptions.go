package checks

import (
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// onSubscription binds a function to what a server sends on a subscription.
func onSubscription(kind judge.Kind, methods []string, do func(*judge.Event, *subscription)) []judge.On {
	return []judge.On{{Kind: kind, From: judge.Server, Methods: methods, Do: func(e *judge.Event) {
		if s := subscribed(e); s != nil {
			do(e, s)
		}
	}}}
}

// delivered are the notifications that filters are about.
var delivered = []string{"notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed", methodUpdated}

var subscriptionsOnlyRequestedNotifications = &judge.Check{
	ID:       "subscriptions.only-requested-notifications",
	Title:    "notifications on a subscription",
	Why:      "A client says in its filter what it can handle; what comes beyond that it drops, or fails on.",
	Fix:      "Send on a subscription only the kinds of notification its filter asked for; progress and log messages go with the request they belong to.",
	Convicts: "on a subscription: a list_changed whose flag is not true in the filter, an update while no resource was asked for, progress or a log message; on stdio: any of the first two while nobody ever listened",
	Exempts:  "the acknowledgement, notifications/cancelled that ends the subscription, notifications of extensions. An update of a URI that is not listed may be part of one that is: a note, unless it is under it anyway",
	On: append(onSubscription(judge.Notification, append([]string{methodProgress, "notifications/message"}, delivered...), requested),
		judge.On{Kind: judge.Notification, From: judge.Server, Methods: delivered, Do: unasked}),
}

func requested(e *judge.Event, s *subscription) {
	flag, isFlag := flagged[e.Method]
	uri, _ := e.Msg.Params.Get("uri").Str()
	switch {
	case isFlag && s.asked.flags[flag]:
		e.OK()
	case isFlag:
		e.Badf("%s on subscription %s, whose filter does not ask for it", e.Method, s.request.ID)
	case e.Method != methodUpdated:
		e.Badf("%s on subscription %s, which is for changes only", e.Method, s.request.ID)
	case len(s.asked.uris) == 0 && !s.asked.more:
		e.Badf("%s on subscription %s, whose filter asks for no resource", e.Method, s.request.ID)
	case s.asked.names(uri) || s.asked.under(uri):
		e.OK()
	default:
		e.Notef("update of %s on subscription %s, which does not list it", quote(uri), s.request.ID)
	}
}

// unasked convicts what is told of changes while nobody ever listened.
func unasked(e *judge.Event) {
	if e.Transport == capture.HTTP || !e.Ordered() || !e.FromStart() || !e.Whole() || e.Facts.Phase != judge.BeforeInitialize {
		return
	}
	if t := judge.Of[*subscriptions](e, subscriptionTracker); !t.any {
		e.Badf("%s, and no subscription was ever asked for", e.Method)
	}
}

// under reports whether a URI is below one that is listed.
func (f *filter) under(uri string) bool {
	for _, listed := range f.uris {
		rest, ok := strings.CutPrefix(uri, strings.TrimSuffix(listed, "/"))
		if ok && rest != "" && strings.ContainsRune("/?#", rune(rest[0])) {
			return true
		}
	}
	return false
}

var subscriptionsAcknowledgmentFirst = &judge.Check{
	ID:       "subscriptions.acknowledgment-first",
	Title:    "the first message on a subscription",
	Why:      "Until the acknowledgement a client does not know whether the subscription stands and what it will get.",
	Fix:      "Answer subscriptions/listen with notifications/subscriptions/acknowledged before anything else goes out on it.",
	Convicts: "a first message on a subscription that is not the acknowledgement: a notification, or the result that ends it",
	Exempts:  "an error in answer to the request, notifications/cancelled, results that do not say which subscription they end, subscriptions that share an id",
	On: onSubscription(judge.Notification|judge.Result, nil, func(e *judge.Event, s *subscription) {
		switch {
		case s.begun || e.Method == methodCancelled:
		case e.Kind == judge.Result:
			if e.Meta().Get(mcp.MetaSubscriptionID).Exists() {
				e.Badf("subscription %s ends and was never acknowledged", s.request.ID)
			}
		case e.Method == methodAcknowledged:
			e.OK()
		default:
			e.Badf("%s comes first on subscription %s, before it is acknowledged", quote(e.Method), s.request.ID)
		}
	}),
}

var subscriptionsGracefulCloseResultEmpty = &judge.Check{
	ID:       "subscriptions.graceful-close-result-empty",
	Title:    "results of subscriptions/listen",
	Why:      "The result only says that the subscription is over; clients look for nothing else in it.",
	Fix:      "End a subscription with a result of resultType and _meta only.",
	Convicts: "a result of subscriptions/listen with any member but resultType and _meta",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"subscriptions/listen"}, Do: func(e *judge.Event) {
		for name := range e.Msg.Result.Members() {
			if !name.Is("resultType") && !name.Is("_meta") {
				e.Badf("the result that ends subscription %s holds %s", e.Request.ID, quote(name.String()))
				return
			}
		}
		e.OK()
	}}},
}

var subscriptionsAcknowledgedSubset = &judge.Check{
	ID:       "subscriptions.acknowledged-subset",
	Title:    "what an acknowledgement grants",
	Why:      "A client compares the acknowledgement with what it asked for to learn what it has to do without. What it never asked for it cannot place.",
	Fix:      "Acknowledge those parts of the filter that are supported, and nothing else.",
	Convicts: "an acknowledgement that grants a kind of notification or a URI that the filter did not ask for",
	Exempts:  "members of extensions, filters with more than 256 URIs",
	On: onSubscription(judge.Notification, []string{methodAcknowledged}, func(e *judge.Event, s *subscription) {
		var granted filter
		granted.add(e.Msg.Params.Get("notifications"))
		if !granted.known {
			return
		}
		for i, on := range granted.flags {
			if on && !s.asked.flags[i] {
				e.Badf("subscription %s is acknowledged with %s, which was not asked for", s.request.ID, filterFlags[i])
				return
			}
		}
		for _, uri := range granted.uris {
			if !s.asked.names(uri) {
				e.Badf("subscription %s is acknowledged with %s, which was not asked for", s.request.ID, quote(uri))
				return
			}
		}
		e.OK()
	}),
}

var subscriptionsDeliveredAcknowledged = &judge.Check{
	ID:       "subscriptions.delivered-acknowledged",
	Title:    "notifications against the acknowledgement",
	Why:      "A client that was told it will not get something arranges itself without it.",
	Fix:      "Acknowledge all that will be delivered.",
	Convicts: "a notification that was asked for and is delivered, though the acknowledgement left it out",
	Exempts:  "what was not asked for in the first place; subscriptions whose acknowledgement says nothing of notifications",
	On: onSubscription(judge.Notification, delivered, func(e *judge.Event, s *subscription) {
		if !s.granted.known {
			return
		}
		flag, isFlag := flagged[e.Method]
		asked, granted := len(s.asked.uris) > 0, len(s.granted.uris) > 0
		if isFlag {
			asked, granted = s.asked.flags[flag], s.granted.flags[flag]
		}
		switch {
		case granted:
			e.OK()
		case asked:
			e.Badf("%s on subscription %s, whose acknowledgement left it out", e.Method, s.request.ID)
		}
	}),
}

var subscriptionsResultTagged = &judge.Check{
	ID:       "subscriptions.result-tagged",
	Title:    "subscriptionId of the result that ends a subscription",
	Why:      "Clients that take a stream apart by subscriptionId lose a result without it and go on waiting.",
	Fix:      "Put the id of the listen request, with its type, into the _meta of the result.",
	Convicts: "a result of subscriptions/listen whose _meta has no io.modelcontextprotocol/subscriptionId, or another id",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"subscriptions/listen"}, Do: func(e *judge.Event) {
		tag := e.Msg.Result.Path("_meta", mcp.MetaSubscriptionID)
		switch {
		case !tag.Exists():
			e.Badf("the result that ends subscription %s does not say so in _meta", e.Request.ID)
		case judge.IDKey(judge.Client, tag.Text()) != e.Request.Key():
			e.Badf("the result that ends subscription %s names %s", e.Request.ID, quoteJSON(tag.Text()))
		default:
			e.OK()
		}
	}}},
}

var subscriptionsStreamOverHTTP = &judge.Check{
	ID:       "subscriptions.stream-over-http",
	Title:    "how subscriptions/listen is answered over HTTP",
	Why:      "A body of JSON is over when it arrives: nothing can be delivered on it.",
	Fix:      "Answer with text/event-stream and leave the stream open until the subscription ends.",
	Convicts: "a result of subscriptions/listen in an HTTP answer of type application/json",
	Exempts:  "errors, and answers whose head was not recorded",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"subscriptions/listen"}, Do: func(e *judge.Event) {
		if e.Transport != capture.HTTP || e.Reply == nil {
			return
		}
		kind, _, _ := strings.Cut(e.Reply.Header["content-type"], ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json":
			e.Badf("subscription %s is answered with a body of JSON instead of a stream", e.Request.ID)
		case "text/event-stream":
			e.OK()
		}
	}}},
}
