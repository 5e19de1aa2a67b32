package checks

import "mcpsnoop/internal/judge"

// transportTrackers keep what checks of transports share.
var transportTrackers = []*judge.Tracker{wire}

// Sections of the page on transports.
const (
	sendingLegacy = "basic/transports#sending-messages-to-the-server"
	sendingModern = "basic/transports/streamable-http#sending-messages"
	managing      = "basic/transports#session-management"
	listening     = "basic/transports#listening-for-messages-from-the-server"
	resuming      = "basic/transports#resumability-and-redelivery"
)

// ownTransport are the clauses of the pages on transports that no row covers.
var ownTransport = []*judge.Clause{
	{ID: "TRAN-518", In: since2025Mar, Level: judge.Must, Actor: judge.Client, Section: sendingLegacy, Own: true,
		Rule: "Messages are sent by POST alone.", Checks: by(transportMessageByPost)},
	{ID: "TRAN-518", In: in2026, Level: judge.Must, Actor: judge.Client, Section: sendingModern, Own: true,
		Rule: "Messages are sent by POST alone.", Checks: by(transportMessageByPost)},
	{ID: "TRAN-524", In: since2025Mar, Level: judge.Must, Actor: judge.Server, Section: sendingLegacy, Own: true,
		Rule: "What asks for no answer and is accepted is answered 202 without a body.", Checks: by(transportAcceptedStatus)},
	{ID: "TRAN-525", In: in2026, Level: judge.Must, Actor: judge.Server, Section: sendingModern, Own: true,
		Rule: "A notification that is accepted is answered 202 without a body.", Checks: by(transportAcceptedStatus)},
	{ID: "TRAN-529", In: since2025Mar &^ in2025Nov, Level: judge.ShouldNot, Actor: judge.Server, Signal: judge.Advice, Section: sendingLegacy, Own: true,
		Rule: "The stream of a request is not closed before its answer.", Checks: by(transportStreamOpenUntilAnswer)},
	{ID: "TRAN-530", In: since2025Mar, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: sendingLegacy, Own: true,
		Rule: "The stream of a request ends with its answer.", Checks: by(transportStreamEndsWithAnswer)},
	{ID: "TRAN-530", In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "basic/transports/streamable-http#receiving-messages", Own: true,
		Rule: "The stream of a request ends with its answer.", Checks: by(transportStreamEndsWithAnswer)},
	{ID: "TRAN-536", In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/transports/streamable-http#receiving-messages", Own: true,
		Rule: "The stream of a request carries its own progress only.", Checks: by(transportProgressOfOwnRequest)},
	{ID: "TRAN-542", In: since2025Mar, Level: judge.MustNot, Actor: judge.Server, Section: listening, Own: true,
		Rule: "A listening stream that resumes no other carries no answers.", Checks: by(transportNoAnswerOnListening)},
	{ID: "TRAN-544", In: since2025Mar, Level: judge.Must, Actor: judge.Server, Section: resuming, Own: true,
		Rule: "Ids of events are unique among all streams of a session.", Checks: by(transportEventIDUnique)},
	{ID: "TRAN-546", In: since2025Mar, Level: judge.MustNot, Actor: judge.Server, Section: resuming, Own: true,
		Rule: "A stream that is resumed replays its own messages only.", Checks: by(transportReplayOfOwnStream)},
	{ID: "TRAN-551", In: since2025Mar, Level: judge.Must, Actor: judge.Server, Section: managing, Own: true,
		Rule: "Requests of a session that was ended are answered 404.", Checks: by(transportEndedSession404)},
	{ID: "TRAN-552", In: since2025Mar, Level: judge.Must, Actor: judge.Client, Section: managing, Own: true,
		Rule: "A client that gets 404 begins a new session, without the old id.", Checks: by(transportNewSessionAfter404)},
	{ID: "TRAN-556", In: since2025Jun, Level: judge.Must, Actor: judge.Server, Section: "basic/transports#protocol-version-header", Own: true,
		Rule: "An MCP-Protocol-Version that is no version is answered 400.", Checks: by(transportInvalidVersionRejected)},
}
