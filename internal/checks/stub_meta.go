package checks

import "mcpsnoop/internal/judge"

var (
	metaRequiredRequestFields          = &judge.Check{ID: "meta.required-request-fields"}
	metaMissingRequiredFieldRejected   = &judge.Check{ID: "meta.missing-required-field-rejected"}
	metaMissingRequiredFieldHTTPStatus = &judge.Check{ID: "meta.missing-required-field-http-status"}
	metaNoUndeclaredCapabilityReliance = &judge.Check{ID: "meta.no-undeclared-capability-reliance"}
	metaMissingCapabilityError         = &judge.Check{ID: "meta.missing-capability-error"}
	metaMissingCapabilityHTTPStatus    = &judge.Check{ID: "meta.missing-capability-http-status"}
	metaSubscriptionIDPresent          = &judge.Check{ID: "meta.subscription-id-present"}
	metaTraceContextFormat             = &judge.Check{ID: "meta.trace-context-format"}
)
