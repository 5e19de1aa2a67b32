package checks

import "mcpsnoop/internal/judge"

var (
	loggingCapabilityDeclared   = &judge.Check{ID: "logging.capability-declared"}
	loggingLevelRequested       = &judge.Check{ID: "logging.level-requested"}
	loggingNotOnSubscription    = &judge.Check{ID: "logging.not-on-subscription"}
	loggingInvalidLevelRejected = &judge.Check{ID: "logging.invalid-level-rejected"}
)
