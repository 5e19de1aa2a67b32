package checks

import "mcpsnoop/internal/judge"

var (
	ownPatterns     []*judge.Clause
	patternTrackers []*judge.Tracker
)
