package checks

import "mcpsnoop/internal/judge"

var completionCapabilityDeclared = &judge.Check{ID: "completion.capability-declared"}
