package checks

import "mcpsnoop/internal/judge"

var (
	mrtrRequestStateEchoed            = &judge.Check{ID: "mrtr.request-state-echoed"}
	mrtrInputRequiredSupportedMethods = &judge.Check{ID: "mrtr.input-required-supported-methods"}
	mrtrInputRequestMethods           = &judge.Check{ID: "mrtr.input-request-methods"}
	mrtrInputRequiredHasContent       = &judge.Check{ID: "mrtr.input-required-has-content"}
	mrtrRetryCarriesInputResponses    = &judge.Check{ID: "mrtr.retry-carries-input-responses"}
	mrtrNoUnsolicitedRequestState     = &judge.Check{ID: "mrtr.no-unsolicited-request-state"}
	mrtrRetryIDDiffers                = &judge.Check{ID: "mrtr.retry-id-differs"}
	mrtrRequestStateScopedToRetry     = &judge.Check{ID: "mrtr.request-state-scoped-to-retry"}
	mrtrMissingInputReasked           = &judge.Check{ID: "mrtr.missing-input-reasked"}
)
