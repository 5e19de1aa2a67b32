package checks

import "mcpsnoop/internal/judge"

var (
	ownBase      []*judge.Clause
	baseTrackers []*judge.Tracker
)
