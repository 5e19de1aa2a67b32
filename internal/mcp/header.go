package mcp

// HTTP headers, in lower case as captures have them.
const (
	SessionHeader = "mcp-session-id"       // 2025-03-26 to 2025-11-25
	VersionHeader = "mcp-protocol-version" // since 2025-06-18
	MethodHeader  = "mcp-method"           // 2026-07-28
	NameHeader    = "mcp-name"             // 2026-07-28
	ParamHeaders  = "mcp-param-"           // 2026-07-28: what those begin with that repeat arguments
)
