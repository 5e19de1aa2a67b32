package checks

import "mcpsnoop/internal/judge"

var (
	ownHeaders     []*judge.Clause
	headerTrackers []*judge.Tracker
)
