package checks

import (
	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// modernClient knows how a client's requests declare what they are.
type modernClient struct {
	declared bool // some request declared its version
	legacy   bool // some request was of a revision with a handshake, or may have been
}

// whatMetaSays is kept with requests: what their _meta says, as far as answers and logs are
// judged by it. Over HTTP it stands with each, on stdio where it says something: a request
// without it was not read.
var whatMetaSays judge.Slot[byte]

// The bits of it. The lower four are the log level: see levelOf.
const (
	metaLevel = 1<<4 - 1
	metaLacks = 1 << 4 // a field that every request must have
)

var metaRequests = &judge.Tracker{
	New:    func() any { return new(modernClient) },
	Before: true,
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		c, r := judge.State[*modernClient](e), e.Request
		says := levelOf(e.Meta().Get(mcp.MetaLogLevel))
		if lacksFields(e) && isModernRequest(e, c) && e.Method != "initialize" {
			says |= metaLacks
		}
		if says != 0 || e.Transport == capture.HTTP {
			whatMetaSays.Put(r, says)
		}
	}}},
}

// metaClients notes what was learned of the client behind the checks of a request.
var metaClients = &judge.Tracker{
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		c := judge.Of[*modernClient](e, metaRequests)
		switch {
		case e.Request.Versions:
			c.declared = true
		case !e.Request.Declares && !isModernRequest(e, c):
			c.legacy = true
		}
	}}},
}

// isModernRequest reports whether a request is certainly meant for a revision in which
// requests declare their version and capabilities: it does so in part or in its head, or it
// comes on stdio from a client that always did so far.
func isModernRequest(e *judge.Event, c *modernClient) bool {
	switch {
	case e.Pinned(), e.Request.Versions, e.Request.Declares:
		return true
	case e.Transport == capture.HTTP:
		return e.Post != nil && mcp.PerRequest(mcp.ParseRevision(e.Post.Header[mcp.VersionHeader]))
	}
	m := mcp.Lookup(e.Method)
	return c.declared && !c.legacy && e.Facts.Phase == judge.BeforeInitialize && e.FromStart() &&
		m != nil && m.From(mcp.Client, mcp.V2026_07_28)
}

// lacksFields reports whether a request lacks a field that it must have, or has one of
// another type.
func lacksFields(e *judge.Event) bool {
	return e.Meta().Get(mcp.MetaProtocolVersion).Kind() != jsontree.String || e.Meta().Get(mcp.MetaClientCapabilities).Kind() != jsontree.Object
}

var metaRequiredRequestFields = &judge.Check{
	ID:       "meta.required-request-fields",
	Title:    "what every request declares",
	Why:      "Servers keep nothing between requests: without version and capabilities they have to refuse.",
	Fix:      "Put io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities into _meta of every request.",
	Convicts: "a request of the client without either of them, or with a version that is no string or capabilities that are no object; several pages of the specification demand it, so that one request breaks a row of each",
	Exempts:  "requests that may be meant for a revision with a handshake",
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		if !isModernRequest(e, judge.Of[*modernClient](e, metaRequests)) {
			return
		}
		if !lacksFields(e) {
			e.OK()
			return
		}
		for _, field := range []struct {
			key  string
			kind jsontree.Kind
			is   string
		}{
			{mcp.MetaProtocolVersion, jsontree.String, "a string"},
			{mcp.MetaClientCapabilities, jsontree.Object, "an object"},
		} {
			switch value := e.Meta().Get(field.key); {
			case !value.Exists():
				e.Badf("request %s with id %s has no %s in its _meta", quote(e.Method), quoteJSON(e.Msg.ID), field.key)
			case value.Kind() != field.kind:
				e.Badf("%s of request %s with id %s is not %s", field.key, quote(e.Method), quoteJSON(e.Msg.ID), field.is)
			}
		}
	}}},
}

var metaMissingRequiredFieldRejected = &judge.Check{
	ID:       "meta.missing-required-field-rejected",
	Title:    "answers to requests that lack what every request declares",
	Why:      "A server that guesses the version or the capabilities of a client guesses wrong sooner or later.",
	Fix:      "Refuse the request with the code -32602.",
	Convicts: "a result for such a request, or an error with a code that says neither that nor that something else is wrong first",
	Exempts:  "initialize, servers that have not shown to speak the revision, and refusals for the method, the version, the headers or JSON that cannot be read",
	On: []judge.On{{Kind: judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
		if says, ok := whatMetaSays.Get(e.Request); !ok || says&metaLacks == 0 {
			return
		}
		if e.Kind == judge.Result {
			e.Badf("%s lacks required fields of _meta and was answered with a result", answerName(e))
			return
		}
		switch code, _ := e.Msg.Error.Get("code").Int(); code {
		case mcp.InvalidParams:
			e.OK()
		case mcp.MethodNotFound, mcp.ParseError, mcp.HeaderMismatch, mcp.UnsupportedVersion:
		default:
			e.Badf("%s lacks required fields of _meta and was refused with code %s instead of -32602", answerName(e), quoteJSON(e.Msg.Error.Get("code").Text()))
		}
	}}},
}

var metaMissingRequiredFieldHTTPStatus = &judge.Check{
	ID:       "meta.missing-required-field-http-status",
	Title:    "statuses of refusals for lack of what every request declares",
	Why:      "Gateways and clients that look at the status only take the refusal for a success.",
	Fix:      "Answer with the HTTP status 400.",
	Convicts: "another status of an answer with the code -32602 to such a request",
	Exempts:  "answers whose status the capture does not show, and servers that have not shown to speak the revision",
	On: []judge.On{{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
		says, ok := whatMetaSays.Get(e.Request)
		if code, _ := e.Msg.Error.Get("code").Int(); ok && says&metaLacks != 0 && code == mcp.InvalidParams {
			mustBe400(e)
		}
	}}},
}

// mustBe400 judges the HTTP status of an error, if it is known.
func mustBe400(e *judge.Event) {
	switch {
	case e.Reply == nil:
	case e.Reply.Status == 400:
		e.OK()
	default:
		e.BadAtf(e.Reply.Seq, "status %d with the error for %s, instead of 400", e.Reply.Status, answerName(e))
	}
}

var metaSubscriptionIDPresent = &judge.Check{
	ID:       "meta.subscription-id-present",
	Title:    "subscription ids of notifications",
	Why:      "On stdio nothing else tells a client which of its subscriptions a notification belongs to.",
	Fix:      "Put io.modelcontextprotocol/subscriptionId, with the id of the subscriptions/listen request, into _meta of the notification.",
	Convicts: "a notification without one on the HTTP stream of a subscriptions/listen, and a notification of changes without one on stdio while such a request is open",
	Exempts:  "progress, logs and notifications/cancelled; on stdio, notifications of extensions too, which may belong to none",
	New:      func() any { return new(openListens) },
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Methods: []string{"subscriptions/listen"}, Do: func(e *judge.Event) { judge.State[*openListens](e).open++ }},
		{Kind: judge.Answer, From: judge.Server, Methods: []string{"subscriptions/listen"}, Do: func(e *judge.Event) { judge.State[*openListens](e).open-- }},
		{Kind: judge.Notification, From: judge.Server, Do: func(e *judge.Event) {
			switch e.Method {
			case methodProgress, "notifications/message", methodCancelled:
				return
			}
			if !onListenStream(e) && !(isListenChange(e.Method) && judge.State[*openListens](e).open > 0 && (e.Transport == capture.Stdio || e.Post == nil && e.Pinned())) {
				return
			}
			if !e.Meta().Get(mcp.MetaSubscriptionID).Exists() {
				e.Badf("%s has no subscriptionId in its _meta", quote(e.Method))
				return
			}
			e.OK()
		}},
	},
}

// openListens counts the subscriptions that are open.
type openListens struct{ open int }

// onListenStream reports whether an event came on the HTTP stream of a subscription.
func onListenStream(e *judge.Event) bool {
	return e.Post != nil && len(e.Post.Requests) == 1 && e.Post.Requests[0].Method == "subscriptions/listen"
}

// isListenChange reports whether a notification is of those that only subscriptions bring,
// extensions apart.
func isListenChange(method string) bool {
	m := mcp.Lookup(method)
	return m != nil && m.From(mcp.Server, mcp.V2026_07_28) && !m.Extension.Has(mcp.V2026_07_28)
}
