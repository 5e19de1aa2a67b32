package checks

import "mcpsnoop/internal/judge"

var (
	promptsCapabilityDeclared    = &judge.Check{ID: "prompts.capability-declared"}
	promptsImageContentEncoding  = &judge.Check{ID: "prompts.image-content-encoding"}
	promptsAudioContentEncoding  = &judge.Check{ID: "prompts.audio-content-encoding"}
	promptsEmbeddedResourceShape = &judge.Check{ID: "prompts.embedded-resource-shape"}
	promptsArgumentsValidated    = &judge.Check{ID: "prompts.arguments-validated"}
)
