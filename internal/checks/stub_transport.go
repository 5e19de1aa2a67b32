package checks

import "mcpsnoop/internal/judge"

var (
	transportStdioServerOutputValid              = &judge.Check{ID: "transport.stdio-server-output-valid"}
	transportStdioClientInputValid               = &judge.Check{ID: "transport.stdio-client-input-valid"}
	transportSessionIDVisibleAscii               = &judge.Check{ID: "transport.session-id-visible-ascii"}
	transportSessionIDEchoed                     = &judge.Check{ID: "transport.session-id-echoed"}
	transportProtocolVersionHeader               = &judge.Check{ID: "transport.protocol-version-header"}
	transportProtocolVersionNegotiated           = &judge.Check{ID: "transport.protocol-version-negotiated"}
	transportClientAcceptHeader                  = &judge.Check{ID: "transport.client-accept-header"}
	transportHTTPPostSingleMessage               = &judge.Check{ID: "transport.http-post-single-message"}
	transportSuccessContentType                  = &judge.Check{ID: "transport.success-content-type"}
	transportRequestMetadataHeaders              = &judge.Check{ID: "transport.request-metadata-headers"}
	transportClientNoResponses                   = &judge.Check{ID: "transport.client-no-responses"}
	transportNoIndependentServerRequests         = &judge.Check{ID: "transport.no-independent-server-requests"}
	transportAccelBufferingHeader                = &judge.Check{ID: "transport.accel-buffering-header"}
	transportNoMessagesAfterCancellation         = &judge.Check{ID: "transport.no-messages-after-cancellation"}
	transportProtocolVersionHeaderPresent        = &judge.Check{ID: "transport.protocol-version-header-present"}
	transportProtocolVersionHeaderMatchesBody    = &judge.Check{ID: "transport.protocol-version-header-matches-body"}
	transportVersionMismatchRejected             = &judge.Check{ID: "transport.version-mismatch-rejected"}
	transportUnsupportedVersionError             = &judge.Check{ID: "transport.unsupported-version-error"}
	transportUnsupportedVersionStatus            = &judge.Check{ID: "transport.unsupported-version-status"}
	transportUnknownMethod404                    = &judge.Check{ID: "transport.unknown-method-404"}
	transportHeaderValueEncoding                 = &judge.Check{ID: "transport.header-value-encoding"}
	transportXMCPHeaderMirrored                  = &judge.Check{ID: "transport.x-mcp-header-mirrored"}
	transportXMCPHeaderNameValid                 = &judge.Check{ID: "transport.x-mcp-header-name-valid"}
	transportSentinelMarkerCase                  = &judge.Check{ID: "transport.sentinel-marker-case"}
	transportSentinelPatternEncoded              = &judge.Check{ID: "transport.sentinel-pattern-encoded"}
	transportInvalidParamHeaderRejected          = &judge.Check{ID: "transport.invalid-param-header-rejected"}
	transportHeaderBodyMatchValidated            = &judge.Check{ID: "transport.header-body-match-validated"}
	transportHeaderMismatchStatus                = &judge.Check{ID: "transport.header-mismatch-status"}
	transportCancelNotificationReferencesRequest = &judge.Check{ID: "transport.cancel-notification-references-request"}
	transportNoMessagesAfterCancelNotification   = &judge.Check{ID: "transport.no-messages-after-cancel-notification"}
)
