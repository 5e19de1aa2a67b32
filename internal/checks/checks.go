// Package checks is the registry: the clauses of the specification's revisions, in our
// words, and the checks that decide them, one file an area.
//
// A check is a value with its documentation (see package judge). Facts that several
// checks of an area need are kept by a tracker, beside them in the same file. Each
// check has captures in testdata/<check-id>: ok-*.jsonl, on which it counts a subject and
// finds nothing, and bad-*.jsonl, each of which differs from an ok twin by the smallest edit that
// breaks the rule.
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

// Registry returns the registry. There is one, made on first use.
var Registry = sync.OnceValue(func() *judge.Registry {
	return judge.MustRegistry(slices.Concat(clauses2025, clauses2026, ownClauses), trackers)
})

// by lists the checks that decide a clause.
func by(list ...*judge.Check) []*judge.Check { return list }
