package checks

import "mcpsnoop/internal/judge"

var (
	cachingHintsOnCacheableResults = &judge.Check{ID: "caching.hints-on-cacheable-results"}
	cachingTTLNonNegative          = &judge.Check{ID: "caching.ttl-non-negative"}
	cachingPageScopeConsistent     = &judge.Check{ID: "caching.page-scope-consistent"}
)
