package checks

import "mcpsnoop/internal/judge"

var (
	ownServer      []*judge.Clause
	serverTrackers []*judge.Tracker
)
