package checks

import "mcpsnoop/internal/judge"

var (
	subscriptionsOnlyRequestedNotifications = &judge.Check{ID: "subscriptions.only-requested-notifications"}
	subscriptionsAcknowledgmentFirst        = &judge.Check{ID: "subscriptions.acknowledgment-first"}
	subscriptionsGracefulCloseResultEmpty   = &judge.Check{ID: "subscriptions.graceful-close-result-empty"}
)
