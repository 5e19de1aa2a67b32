package checks

import "mcpsnoop/internal/judge"

var (
	resourcesCapabilityDeclared   = &judge.Check{ID: "resources.capability-declared"}
	resourcesURISchemeRFC3986     = &judge.Check{ID: "resources.uri-scheme-rfc3986"}
	resourcesBlobBase64           = &judge.Check{ID: "resources.blob-base64"}
	resourcesReadContentsNonEmpty = &judge.Check{ID: "resources.read-contents-non-empty"}
)
