// Package checks is the registry: the clauses of the specification's revisions, in our
// words, and the checks that decide them.
//
// clauses2025.go and clauses2026.go hold the conformance rows of the revisions with and without
// a handshake. What goes beyond them stands in a file own<group>.go for each of six groups
// (base, lifecycle, transport, headers, server, patterns), with the group's trackers; own.go
// puts them together. All other files hold checks, by subject: large areas have several
// files that begin alike, and files such as rounds.go or tokens.go hold a tracker, which keeps
// the facts that several checks need.
//
// A check is a value with its documentation (see package judge). Each has captures in
// testdata/<check-id>: ok-*.jsonl, on which it counts a subject and finds nothing, and
// bad-*.jsonl, each of which differs from an ok twin by the smallest edit that breaks the rule.
package checks

import (
	"slices"
	"sync"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// The revisions that clauses are in force at.
const (
	in2026       mcp.Revisions = 1 << mcp.V2026_07_28
	in2025Nov    mcp.Revisions = 1 << mcp.V2025_11_25
	since2025Jun               = in2025Nov | 1<<mcp.V2025_06_18
	since2025Mar               = since2025Jun | 1<<mcp.V2025_03_26
	handshake                  = since2025Mar | 1<<mcp.V2024_11_05
	until2025Mar               = handshake &^ since2025Jun
)

// Methods that several checks ask for.
const (
	methodCancelled    = "notifications/cancelled"
	methodProgress     = "notifications/progress"
	methodUpdated      = "notifications/resources/updated"
	methodAcknowledged = "notifications/subscriptions/acknowledged"
)

// Registry returns the registry. There is one, made on first use.
var Registry = sync.OnceValue(func() *judge.Registry {
	return judge.MustRegistry(slices.Concat(clauses2025, clauses2026, ownClauses), trackers)
})

// by lists the checks that decide a clause.
func by(list ...*judge.Check) []*judge.Check { return list }

// makeRoom forgets all of a map that has as many entries as it may have, and reports whether it did.
func makeRoom[K comparable, V any](m map[K]V, most int) bool {
	if len(m) < most {
		return false
	}
	clear(m)
	return true
}
