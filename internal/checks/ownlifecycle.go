package checks

import (
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// ownLifecycle are clauses of the handshake, of versions and of completion that no row covers.
var ownLifecycle = []*judge.Clause{
	{ID: "LIFE-509", In: 1 << mcp.V2025_03_26, Level: judge.MustNot, Actor: judge.Client, Section: "basic/lifecycle#initialization", Own: true,
		Rule:   "The initialize request is no part of a batch.",
		Checks: by(lifecycleInitializeNotBatched)},
	{ID: "VERS-505", In: since2025Jun, Level: judge.Must, Actor: judge.Both, Section: "basic/lifecycle#operation", Own: true,
		Rule:   "Both sides send only what the negotiated revision defines.",
		Checks: by(versioningMethodInRevision)},
	{ID: "VERS-506", In: until2025Mar, Level: judge.Should, Actor: judge.Both, Signal: judge.Advice, Section: "basic/lifecycle#operation", Own: true,
		Rule:   "Both sides send only what the negotiated revision defines.",
		Checks: by(versioningMethodInRevision)},
	{ID: "VERS-516", In: in2026, Level: judge.ShouldNot, Actor: judge.Client, Signal: judge.Advice, Section: "basic/versioning#protocol-version-negotiation", Own: true,
		Rule:   "Messages that declare their version use no method which that version removed.",
		Checks: by(versioningRemovedMethod)},
	{ID: "COMP-506", In: handshake | in2026, Level: judge.MustNot, Actor: judge.Server, Section: "server/utilities/completion#completion-results", Own: true,
		Rule:   "An answer to completion/complete holds no more than 100 values.",
		Checks: by(completionValuesLimit)},
}

// lifecycleTrackers keep what checks of the handshake share.
var lifecycleTrackers = []*judge.Tracker{handshakeEnd}
