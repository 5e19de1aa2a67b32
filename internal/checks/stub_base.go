package checks

import "mcpsnoop/internal/judge"

var (
	baseRequestIDType             = &judge.Check{ID: "base.request-id-type"}
	baseRequestIDNotNull          = &judge.Check{ID: "base.request-id-not-null"}
	baseRequestIDUnique           = &judge.Check{ID: "base.request-id-unique"}
	baseResultIDMatches           = &judge.Check{ID: "base.result-id-matches"}
	baseNotificationNoID          = &judge.Check{ID: "base.notification-no-id"}
	baseErrorShape                = &judge.Check{ID: "base.error-shape"}
	baseErrorCodeInteger          = &judge.Check{ID: "base.error-code-integer"}
	baseJSONRPCVersion            = &judge.Check{ID: "base.jsonrpc-version"}
	baseErrorIDMatches            = &judge.Check{ID: "base.error-id-matches"}
	baseResultField               = &judge.Check{ID: "base.result-field"}
	baseMetaKeyFormat             = &judge.Check{ID: "base.meta-key-format"}
	baseRequestIDUniqueInFlight   = &judge.Check{ID: "base.request-id-unique-in-flight"}
	baseResultTypePresent         = &judge.Check{ID: "base.result-type-present"}
	baseErrorCodeLegacySubrange   = &judge.Check{ID: "base.error-code-legacy-subrange"}
	baseErrorCodeReservedSubrange = &judge.Check{ID: "base.error-code-reserved-subrange"}
	baseErrorCodeWithdrawn        = &judge.Check{ID: "base.error-code-withdrawn"}
	baseErrorCodeApplicationRange = &judge.Check{ID: "base.error-code-application-range"}
)
