package checks

import "mcpsnoop/internal/judge"

var (
	toolsCapabilityDeclared           = &judge.Check{ID: "tools.capability-declared"}
	toolsInputSchemaObject            = &judge.Check{ID: "tools.input-schema-object"}
	toolsNameLength                   = &judge.Check{ID: "tools.name-length"}
	toolsNameUnique                   = &judge.Check{ID: "tools.name-unique"}
	toolsEmbeddedResourceCapability   = &judge.Check{ID: "tools.embedded-resource-capability"}
	toolsStructuredContentText        = &judge.Check{ID: "tools.structured-content-text"}
	toolsOutputSchemaStructuredResult = &judge.Check{ID: "tools.output-schema-structured-result"}
	toolsDeterministicOrder           = &judge.Check{ID: "tools.deterministic-order"}
	toolsXMCPHeaderIntegerRange       = &judge.Check{ID: "tools.x-mcp-header-integer-range"}
)
