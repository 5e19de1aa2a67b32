package checks

import "mcpsnoop/internal/judge"

var (
	ownTransport      []*judge.Clause
	transportTrackers []*judge.Tracker
)
