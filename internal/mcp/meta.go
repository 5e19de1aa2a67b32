package mcp

// Keys of _meta.
const (
	MetaProgressToken = "progressToken" // requests, all revisions

	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"    // 2026-07-28: every request
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities" // 2026-07-28: every request
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"         // 2026-07-28: requests
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"           // 2026-07-28: requests
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"         // 2026-07-28: results
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"     // 2026-07-28: what belongs to a subscription

	MetaRelatedTask       = "io.modelcontextprotocol/related-task"             // 2025-11-25: what belongs to a task
	MetaImmediateResponse = "io.modelcontextprotocol/model-immediate-response" // 2025-11-25: CreateTaskResult

	MetaTraceparent = "traceparent" // any _meta
	MetaTracestate  = "tracestate"
	MetaBaggage     = "baggage"
)

// Extensions that are known by name, as capabilities.extensions spells them.
const (
	TasksExtension = "io.modelcontextprotocol/tasks"
	AppsExtension  = "io.modelcontextprotocol/ui"
)
