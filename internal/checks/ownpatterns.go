package checks

import "mcpsnoop/internal/judge"

// patternTrackers keep what checks of rounds, subscriptions, progress and tasks share.
var patternTrackers = []*judge.Tracker{roundTracker, subscriptionTracker, tokenTracker, idTracker, taskTracker}

// ownPatterns are the clauses on input that is asked for, subscriptions, progress and
// cancellation that have no row. Pages of the handshake revisions have other addresses.
var ownPatterns = []*judge.Clause{
	{ID: "MRTR-502", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/patterns/mrtr#server-requirements-basic-workflow",
		Rule: "Each thing asked for has a key of its own in the result.", Checks: by(mrtrInputRequestKeys)},
	{ID: "MRTR-503", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/patterns/mrtr#server-requirements-basic-workflow",
		Rule: "What is asked for has all the params that its kind needs.", Checks: by(mrtrInputRequestShape)},
	{ID: "MRTR-516", Own: true, In: in2026, Level: judge.Must, Actor: judge.Client, Section: "schema#inputresponses",
		Rule: "Each input that a client brings is a result of the kind that was asked for.", Checks: by(mrtrInputResponseShape)},

	{ID: "SUBS-504", Own: true, In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "basic/patterns/subscriptions#acknowledgment",
		Rule: "What a server acknowledges was asked for.", Checks: by(subscriptionsAcknowledgedSubset)},
	{ID: "SUBS-505", Own: true, In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "basic/patterns/subscriptions#acknowledgment",
		Rule: "What a server delivers on a subscription it acknowledged before.", Checks: by(subscriptionsDeliveredAcknowledged)},
	{ID: "SUBS-507", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "schema#subscriptionslistenresult",
		Rule: "The result that ends a subscription says which one.", Checks: by(subscriptionsResultTagged)},
	{ID: "SUBS-512", Own: true, In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "basic/transports/streamable-http#receiving-messages",
		Rule: "A subscription over HTTP is answered with a stream that stays open.", Checks: by(subscriptionsStreamOverHTTP)},

	{ID: "PROG-501", Own: true, In: handshake, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/progress#progress-flow",
		Rule: "A progress token is a string or an integer.", Checks: by(progressTokenType)},
	{ID: "PROG-501", Own: true, In: in2026, Level: judge.Must, Actor: judge.Both, Section: "basic/patterns/progress#progress-flow",
		Rule: "A progress token is a string or an integer.", Checks: by(progressTokenType)},
	{ID: "PROG-502", Own: true, In: handshake, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/progress#progress-flow",
		Rule: "No two open requests of one side have the same progress token.", Checks: by(progressTokenUnique)},
	{ID: "PROG-503", Own: true, In: in2026, Level: judge.Must, Actor: judge.Client, Section: "basic/patterns/progress#progress-flow",
		Rule: "No two open requests of a client have the same progress token.", Checks: by(progressTokenUnique)},
	{ID: "PROG-504", Own: true, In: handshake, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/progress#progress-flow",
		Rule: "Progress goes up with every notification.", Checks: by(progressIncreases)},
	{ID: "PROG-504", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/patterns/progress#progress-flow",
		Rule: "Progress goes up with every notification.", Checks: by(progressIncreases)},
	{ID: "PROG-506", Own: true, In: handshake, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/progress#behavior-requirements",
		Rule: "Progress is told only of requests that gave a token for it.", Checks: by(progressKnownToken)},
	{ID: "PROG-506", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/patterns/progress#behavior-requirements",
		Rule: "Progress is told only of requests that gave a token for it.", Checks: by(progressKnownToken)},
	{ID: "PROG-507", Own: true, In: handshake, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/progress#behavior-requirements",
		Rule: "No progress is told of a request after its answer.", Checks: by(progressAfterAnswer)},
	{ID: "PROG-507", Own: true, In: in2026, Level: judge.Must, Actor: judge.Server, Section: "basic/patterns/progress#behavior-requirements",
		Rule: "No progress is told of a request after its answer.", Checks: by(progressAfterAnswer)},
	{ID: "PROG-509", Own: true, In: in2025Nov, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/progress#behavior-requirements",
		Rule: "A task keeps the progress token of its request.", Checks: by(progressTaskToken)},
	{ID: "PROG-510", Own: true, In: in2025Nov, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/progress#behavior-requirements",
		Rule: "No progress is told of a task that is over.", Checks: by(progressTaskOver)},

	{ID: "CANC-501", Own: true, In: handshake, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/cancellation#behavior-requirements",
		Rule: "Only one's own requests can be cancelled.", Checks: by(cancellationOwnRequest)},
	{ID: "CANC-502", Own: true, In: in2026, Level: judge.Must, Actor: judge.Client, Section: "basic/patterns/cancellation#behavior-requirements",
		Rule: "A client cancels only requests that it sent.", Checks: by(cancellationOwnRequest)},
	{ID: "CANC-504", Own: true, In: handshake, Level: judge.MustNot, Actor: judge.Client, Section: "basic/utilities/cancellation#behavior-requirements",
		Rule: "A client does not cancel initialize.", Checks: by(cancellationNotInitialize)},
	{ID: "CANC-505", Own: true, In: in2025Nov, Level: judge.Must, Actor: judge.Both, Section: "basic/utilities/cancellation#behavior-requirements",
		Rule: "What runs as a task is cancelled with tasks/cancel.", Checks: by(cancellationNotTasks)},
	{ID: "CANC-509", Own: true, In: in2026, Level: judge.MustNot, Actor: judge.Server, Section: "basic/patterns/cancellation#behavior-requirements",
		Rule: "A server sends a cancellation only to end a subscription.", Checks: by(cancellationServerEndsSubscriptions)},
}
