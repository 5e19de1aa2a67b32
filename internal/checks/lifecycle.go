package checks

import (
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// handshakeEnd keeps whether notifications/initialized was seen at all. The phase of the
// handshake does not tell: it passes over one that came before the answer.
var handshakeEnd = &judge.Tracker{
	New: func() any { return new(bool) },
	On: []judge.On{{Kind: judge.Notification, From: judge.Client, Methods: []string{"notifications/initialized"}, Do: func(e *judge.Event) {
		*judge.State[*bool](e) = true
	}}},
}

// modernMarked reports whether a message says of itself that it belongs to a revision
// without handshake. At such a revision it may come at any time.
func modernMarked(e *judge.Event) bool {
	if e.Method == "server/discover" || e.Meta().Get(mcp.MetaProtocolVersion).Exists() {
		return true
	}
	if e.Post == nil || e.From != judge.Client {
		return false
	}
	version, _ := e.Post.Head(mcp.VersionHeader)
	return mcp.PerRequest(mcp.ParseRevision(version))
}

// fromHandshake reports whether the log holds all of the session before an event that
// comes ahead of any initialize. Who names a session has begun it elsewhere.
func fromHandshake(e *judge.Event) bool {
	if e.Post != nil && e.Facts.SessionID == "" {
		if _, named := e.Post.Head(mcp.SessionHeader); named {
			return false
		}
	}
	return e.FromStart()
}

var lifecycleFirstInteractionInitialize = &judge.Check{
	ID:       "lifecycle.first-interaction-initialize",
	Title:    "first request of a session",
	Why:      "Until initialize has been answered neither side knows which version and which features the other has.",
	Fix:      "Send initialize before anything else, and wait for its answer.",
	Convicts: "a session whose first client request is neither initialize nor ping",
	Exempts:  "logs that do not hold the beginning; notifications; requests that declare a version without handshake, such as a server/discover probe",
	New:      func() any { return new(bool) },
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		done := judge.State[*bool](e)
		if *done || e.Method == "ping" || modernMarked(e) && e.Method != "initialize" {
			return
		}
		*done = true
		switch {
		case e.Method == "initialize":
			e.OK()
		case fromHandshake(e):
			e.Badf("the first request of the session is %s, not initialize", quote(e.Method))
		}
	}}},
}

// afterHandshake is what lifecycle.initialized-notification knows of a session.
type afterHandshake struct {
	done bool // notifications/initialized was seen
	work bool // the client went on with requests
}

var lifecycleInitializedNotification = &judge.Check{
	ID:       "lifecycle.initialized-notification",
	Title:    "end of the handshake",
	Why:      "Servers may hold back requests and notifications until the client says that it is ready.",
	Fix:      "Send notifications/initialized, without an id, as soon as initialize was answered with a result.",
	Convicts: "an initialize result that the client never follows up with notifications/initialized though it goes on with other requests",
	Exempts:  "sessions that end with the handshake or of which frames are missing",
	New:      func() any { return new(afterHandshake) },
	On: []judge.On{
		{Kind: judge.Notification, From: judge.Client, Methods: []string{"notifications/initialized"}, Do: func(e *judge.Event) {
			s := judge.State[*afterHandshake](e)
			if s.done {
				return
			}
			s.done = true
			if e.Facts.Result == 0 {
				return
			}
			e.OK()
			if s.work {
				e.Note("requests were sent before notifications/initialized")
			}
		}},
		{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
			if s := judge.State[*afterHandshake](e); !s.done && !s.work && e.Facts.Result != 0 && e.Method != "ping" && e.Method != "initialize" &&
				e.Follows(judge.Server, e.Facts.ResultAt) && e.OneClient() && !modernMarked(e) {
				s.work = true
			}
		}},
		{Kind: judge.End, Do: func(e *judge.Event) {
			if s := judge.State[*afterHandshake](e); s.work && !s.done && e.Facts.Phase != judge.Ready && e.Whole() {
				e.BadAt(e.Facts.Result, "initialize was answered, and the client went on without notifications/initialized")
			}
		}},
	},
}

var lifecycleClientRequestsBeforeInitResponse = &judge.Check{
	ID:       "lifecycle.client-requests-before-init-response",
	Title:    "client requests before the answer to initialize",
	Why:      "Servers may refuse or drop what comes before they have answered initialize.",
	Fix:      "Wait for the answer to initialize before sending anything but ping.",
	Convicts: "a request other than initialize and ping before initialize is answered",
	Exempts:  "requests that declare a version without handshake; logs that do not show what came first",
	On: []judge.On{{Kind: judge.Message, From: judge.Client, Do: func(e *judge.Event) {
		phase := e.Facts.Phase
		switch {
		case phase > judge.Initializing:
		case e.Kind != judge.Request || e.Method == "initialize" || e.Method == "ping":
			e.OK()
		case modernMarked(e):
		case phase == judge.BeforeInitialize && fromHandshake(e):
			e.Badf("request %s was sent before initialize", quote(e.Method))
		case phase == judge.Initializing && e.Ordered() && e.OneClient():
			e.Badf("request %s was sent before initialize was answered", quote(e.Method))
		}
	}}},
}

var lifecycleServerRequestsBeforeInitialized = &judge.Check{
	ID:       "lifecycle.server-requests-before-initialized",
	Title:    "server requests before the end of the handshake",
	Why:      "A client that is not ready yet may drop the request or refuse it, and the server waits in vain.",
	Fix:      "Hold requests other than ping back until notifications/initialized has come.",
	Convicts: "a server request other than ping before notifications/initialized",
	Exempts:  "what comes after initialize was refused; logs that do not show what came first",
	On: []judge.On{{Kind: judge.Message, From: judge.Server, Do: func(e *judge.Event) {
		phase := e.Facts.Phase
		switch {
		case phase == judge.Refused || phase == judge.Ready:
		case e.Kind != judge.Request || e.Method == "ping":
			e.OK()
		case *judge.Of[*bool](e, handshakeEnd):
		case !e.Ordered() || !e.OneClient() || phase == judge.BeforeInitialize && !e.FromStart():
		default:
			e.Badf("server request %s came before notifications/initialized", quote(e.Method))
		}
	}}},
}
