package checks

import (
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

var logNotification = []string{"notifications/message"}

// levelNames are the levels of logs, the least severe first.
var levelNames = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// noLevel is what levelOf returns for anything but a level.
const noLevel = metaLevel

// levelOf returns the place of a log level, from 1; 0 for none, noLevel for what is no level.
func levelOf(node jsontree.Node) byte {
	text, _ := node.StrBytes()
	for i, name := range levelNames {
		if string(text) == name {
			return byte(i + 1)
		}
	}
	if node.Exists() {
		return noLevel
	}
	return 0
}

// requestedLevels are the levels of a client's requests: of those that are open, and of those
// that were answered a moment ago, whose logs may still be on their way.
type requestedLevels struct {
	open [noLevel + 1]int
	last [noLevel + 1]session.Instant
	seen [noLevel + 1]bool
}

// settingLevel keeps with a logging/setLevel what it sets: see levelOf.
var settingLevel judge.Slot[byte]

// logsLate is how long after an answer logs of the request may still come.
const logsLate = time.Second

var loggingLevels = &judge.Tracker{
	New: func() any { return new(requestedLevels) },
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Methods: []string{"logging/setLevel"}, Do: func(e *judge.Event) {
			settingLevel.Put(e.Request, levelOf(e.Msg.Params.Get("level")))
		}},
		{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
			if says, _ := whatMetaSays.Get(e.Request); says&metaLevel != 0 {
				judge.State[*requestedLevels](e).open[says&metaLevel]++
			}
		}},
		{Kind: judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
			if says, _ := whatMetaSays.Get(e.Request); says&metaLevel != 0 {
				levels, level := judge.State[*requestedLevels](e), says&metaLevel
				levels.open[level]--
				levels.last[level], levels.seen[level] = e.At, true
			}
		}},
	},
}

// wanted returns the lowest level that some request asked for that a log may belong to, 0 if
// none did; known is false if that cannot be told.
func wanted(e *judge.Event) (level byte, known bool) {
	if e.Post != nil && len(e.Post.Requests) == 1 {
		says, known := whatMetaSays.Get(e.Post.Requests[0])
		return says & metaLevel, known && e.Post.Requests[0].Method != "subscriptions/listen"
	}
	if e.Transport == capture.HTTP && !e.Pinned() || !e.Ordered() || !e.FromStart() || !e.Whole() || e.Facts.Phase != judge.BeforeInitialize {
		return 0, false
	}
	levels := judge.Of[*requestedLevels](e, loggingLevels)
	for i := range levels.open {
		if levels.open[i] > 0 || levels.seen[i] && e.At.Sub(levels.last[i]) < logsLate {
			if i == noLevel || level == 0 {
				level = byte(i)
			}
		}
	}
	return level, true
}

var loggingLevelRequested = &judge.Check{
	ID:       "logging.level-requested",
	Title:    "logs that nobody asked for",
	Why:      "Requests ask for logs one by one; a client that did not ask has no use for them.",
	Fix:      "Send notifications/message only for requests with io.modelcontextprotocol/logLevel in their _meta.",
	Convicts: "a log on the HTTP stream of a request without logLevel; on stdio, a log while no request that is open, or was answered within a second, has one",
	Exempts:  "captures that lack the beginning or frames, or whose order is not certain, and processes that saw an initialize",
	On: []judge.On{{Kind: judge.Notification, From: judge.Server, Methods: logNotification, Do: func(e *judge.Event) {
		switch level, known := wanted(e); {
		case !known:
		case level == 0:
			e.Bad("a log, and no request asked for logs")
		default:
			e.OK()
		}
	}}},
}

var loggingRequestLevelKept = &judge.Check{
	ID:       "logging.request-level-kept",
	Title:    "logs below the level of their request",
	Why:      "Logs that are finer than was asked for flood the client.",
	Fix:      "Compare the level of a log with the logLevel of the request it is for.",
	Convicts: "a log on the HTTP stream of a request with a higher logLevel; on stdio, one below that of every request that is open or was answered within a second",
	Exempts:  "levels that the protocol does not know, and what logging.level-requested exempts",
	On: []judge.On{{Kind: judge.Notification, From: judge.Server, Methods: logNotification, Do: func(e *judge.Event) {
		level, known := wanted(e)
		has := levelOf(e.Msg.Params.Get("level"))
		switch {
		case !known, level == 0, level == noLevel, has == 0, has == noLevel:
		case has < level:
			e.Badf("a log of level %s, where %s was asked for", levelNames[has-1], levelNames[level-1])
		default:
			e.OK()
		}
	}}},
}

// setLevel is the level that a client set for a session.
type setLevel struct {
	level   byte // 0 if none
	at      session.Instant
	pending int
}

var loggingSetLevelKept = &judge.Check{
	ID:       "logging.set-level-kept",
	Title:    "logs below the level that was set",
	Why:      "Logs that are finer than was asked for flood the client.",
	Fix:      "Compare the level of a log with the one that logging/setLevel set last.",
	Convicts: "a log below the level that was set, more than a second after that was confirmed",
	Exempts:  "captures with frames missing or from several clients, and logs while another level is being set",
	New:      func() any { return new(setLevel) },
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Methods: []string{"logging/setLevel"}, Do: func(e *judge.Event) {
			judge.State[*setLevel](e).pending++
		}},
		{Kind: judge.Answer, From: judge.Server, Methods: []string{"logging/setLevel"}, Do: func(e *judge.Event) {
			set := judge.State[*setLevel](e)
			set.pending--
			if level, ok := settingLevel.Get(e.Request); ok && e.Kind == judge.Result {
				set.level, set.at = level, e.At
			}
		}},
		{Kind: judge.Notification, From: judge.Server, Methods: logNotification, Do: func(e *judge.Event) {
			set, has := judge.State[*setLevel](e), levelOf(e.Msg.Params.Get("level"))
			switch {
			case set.level == 0, set.level == noLevel, has == 0, has == noLevel, set.pending != 0, !e.Whole(), !e.OneClient(), e.At.Sub(set.at) < logsLate:
			case has < set.level:
				e.Badf("a log of level %s, after %s was set", levelNames[has-1], levelNames[set.level-1])
			default:
				e.OK()
			}
		}},
	},
}

var loggingSetLevelRejected = &judge.Check{
	ID:       "logging.set-level-rejected",
	Title:    "answers to logging/setLevel with levels that there are not",
	Why:      "A client that misspelled the level waits for logs that do not come, or gets all of them.",
	Fix:      "Refuse the request with the code -32602.",
	Convicts: "a result for logging/setLevel whose level is none of the eight levels",
	Exempts:  "errors of other codes, which may have other reasons and are noted",
	On: []judge.On{{Kind: judge.Answer, From: judge.Server, Methods: []string{"logging/setLevel"}, Do: func(e *judge.Event) {
		level, ok := settingLevel.Get(e.Request)
		code, _ := e.Msg.Error.Get("code").Int()
		switch {
		case !ok || level > 0 && level < noLevel:
		case e.Kind == judge.Result:
			e.Badf("%s sets a log level that does not exist, and was answered with a result", answerName(e))
		case code == mcp.InvalidParams:
			e.OK()
		default:
			e.Notef("%s sets a log level that does not exist, and was refused with another code than -32602", answerName(e))
		}
	}}},
}

var loggingNotOnSubscription = &judge.Check{
	ID:       "logging.not-on-subscription",
	Title:    "streams that logs are on",
	Why:      "A log belongs to a request; on a subscription, or behind the answer, nobody can tell to which.",
	Fix:      "Send logs on the stream of the request that asked for them, before its answer, and without a subscriptionId.",
	Convicts: "a log with a subscriptionId, on the HTTP stream of a subscriptions/listen, or behind the answer on the stream of its request",
	On: []judge.On{{Kind: judge.Notification, From: judge.Server, Methods: logNotification, Do: func(e *judge.Event) {
		id := e.Meta().Get(mcp.MetaSubscriptionID)
		switch {
		case id.Exists() && id.Kind() != jsontree.Null:
			e.Badf("a log with the subscriptionId %s", quoteJSON(id.Text()))
		case onListenStream(e):
			e.Bad("a log on the stream of a subscriptions/listen")
		case e.Post != nil && e.Post.Exchange != 0 && len(e.Post.Requests) == 1 && e.Post.Requests[0].Answered != 0:
			e.Badf("a log behind the answer to its request, seq %d", e.Post.Requests[0].Answered)
		default:
			e.OK()
		}
	}}},
}

var loggingInvalidLevelRejected = &judge.Check{
	ID:       "logging.invalid-level-rejected",
	Title:    "answers to levels that there are not",
	Why:      "A client that misspelled the level waits for logs that do not come, or gets all of them.",
	Fix:      "Refuse the request with the code -32602.",
	Convicts: "a result for a request whose logLevel is none of the eight levels",
	Exempts:  "errors of other codes, which may have other reasons and are noted, and servers that have not shown to speak the revision",
	On: []judge.On{{Kind: judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
		if says, _ := whatMetaSays.Get(e.Request); says&metaLevel != noLevel {
			return
		}
		code, _ := e.Msg.Error.Get("code").Int()
		switch {
		case e.Kind == judge.Result:
			e.Badf("%s asks for a log level that does not exist, and was answered with a result", answerName(e))
		case code == mcp.InvalidParams:
			e.OK()
		default:
			e.Notef("%s asks for a log level that does not exist, and was refused with another code than -32602", answerName(e))
		}
	}}},
}
