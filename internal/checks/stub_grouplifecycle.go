package checks

import "mcpsnoop/internal/judge"

var (
	ownLifecycle      []*judge.Clause
	lifecycleTrackers []*judge.Tracker
)
