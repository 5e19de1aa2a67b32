package checks

import "mcpsnoop/internal/judge"

// baseTrackers keep what checks of messages, _meta and logs share.
var baseTrackers = []*judge.Tracker{baseIDs, metaRequests, metaClients, loggingLevels}

// ownBase are the clauses of messages and of logging that no row covers.
var ownBase = []*judge.Clause{
	{ID: "BASE-521", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/index#resulttype",
		Rule:   "A result is of a type that the revision defines, or an extension that the client declared with the request.",
		Checks: by(baseResultTypeKnown)},
	{ID: "BASE-536", Own: true, In: in2026 | in2025Nov, Level: judge.Must, Actor: judge.Server, Section: "basic#error-responses",
		Rule:   "An error names the request it answers, if that could be read.",
		Checks: by(baseErrorNamesRequest)},
	{ID: "BASE-537", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/index#error-codes",
		Rule:   "A version is not refused as unsupported by an error that lists it as supported.",
		Checks: by(baseVersionRefused)},
	{ID: "BASE-538", Own: true, In: in2026 | since2025Mar, Level: judge.MustNot, Actor: judge.Server, Section: "basic/index#notifications",
		Rule:   "Nobody answers a notification, as far as HTTP exchanges show it.",
		Checks: by(baseUnansweredNotification)},
	{ID: "LOG-502", Own: true, In: handshake, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "server/utilities/logging#error-handling",
		Rule:   "A level that does not exist is refused with -32602.",
		Checks: by(loggingSetLevelRejected)},
	{ID: "LOG-504", Own: true, In: handshake, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "server/utilities/logging#setting-log-level",
		Rule:   "A server logs nothing below the level that the client set.",
		Checks: by(loggingSetLevelKept)},
	{ID: "LOG-508", Own: true, In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "server/utilities/logging#per-request-log-level",
		Rule:   "A server logs nothing below the level that the request asked for.",
		Checks: by(loggingRequestLevelKept)},
}
