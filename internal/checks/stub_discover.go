package checks

import "mcpsnoop/internal/judge"

var (
	discoverImplemented       = &judge.Check{ID: "discover.implemented"}
	discoverDualEraProbeFirst = &judge.Check{ID: "discover.dual-era-probe-first"}
)
