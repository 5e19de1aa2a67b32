package checks

import "mcpsnoop/internal/judge"

var (
	lifecycleFirstInteractionInitialize       = &judge.Check{ID: "lifecycle.first-interaction-initialize"}
	lifecycleInitializeParams                 = &judge.Check{ID: "lifecycle.initialize-params"}
	lifecycleInitializedNotification          = &judge.Check{ID: "lifecycle.initialized-notification"}
	lifecycleClientRequestsBeforeInitResponse = &judge.Check{ID: "lifecycle.client-requests-before-init-response"}
	lifecycleServerRequestsBeforeInitialized  = &judge.Check{ID: "lifecycle.server-requests-before-initialized"}
	lifecycleInitializeResultVersion          = &judge.Check{ID: "lifecycle.initialize-result-version"}
	lifecycleInitializeProtocolVersion        = &judge.Check{ID: "lifecycle.initialize-protocol-version"}
	lifecycleNegotiatedCapabilitiesOnly       = &judge.Check{ID: "lifecycle.negotiated-capabilities-only"}
	lifecycleInitializeResultShape            = &judge.Check{ID: "lifecycle.initialize-result-shape"}
)
