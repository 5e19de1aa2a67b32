package checks

import "mcpsnoop/internal/judge"

var (
	capabilitiesCompletionsDeclared      = &judge.Check{ID: "capabilities.completions-declared"}
	capabilitiesLoggingDeclared          = &judge.Check{ID: "capabilities.logging-declared"}
	capabilitiesToolsDeclared            = &judge.Check{ID: "capabilities.tools-declared"}
	capabilitiesToolsListImplemented     = &judge.Check{ID: "capabilities.tools-list-implemented"}
	capabilitiesEmbeddedResourceDeclared = &judge.Check{ID: "capabilities.embedded-resource-declared"}
	capabilitiesResourcesDeclared        = &judge.Check{ID: "capabilities.resources-declared"}
	capabilitiesResourcesListImplemented = &judge.Check{ID: "capabilities.resources-list-implemented"}
	capabilitiesPromptsDeclared          = &judge.Check{ID: "capabilities.prompts-declared"}
	capabilitiesPromptsListImplemented   = &judge.Check{ID: "capabilities.prompts-list-implemented"}
)
