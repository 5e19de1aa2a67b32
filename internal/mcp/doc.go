// Package mcp is the protocol's vocabulary as tables: revisions, methods,
// capabilities, _meta keys, headers, error codes. It holds facts of the specification and
// no behaviour.
package mcp
