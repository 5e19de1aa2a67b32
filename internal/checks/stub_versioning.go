package checks

import "mcpsnoop/internal/judge"

var (
	versioningRetryUsesSupportedVersion    = &judge.Check{ID: "versioning.retry-uses-supported-version"}
	versioningExtensionIdentifierFormat    = &judge.Check{ID: "versioning.extension-identifier-format"}
	versioningInitializeErrorNamesVersions = &judge.Check{ID: "versioning.initialize-error-names-versions"}
)
