package mcp

// Error codes. Not all have a [CodeName].
const (
	ParseError              = -32700
	InvalidRequest          = -32600
	MethodNotFound          = -32601
	InvalidParams           = -32602
	InternalError           = -32603
	HeaderMismatch          = -32020 // 2026-07-28
	MissingClientCapability = -32021 // 2026-07-28
	UnsupportedVersion      = -32022 // 2026-07-28
	ResourceNotFound        = -32002 // until 2025-11-25
	URLElicitationRequired  = -32042 // 2025-11-25 only
	UserRejected            = -1     // of sampling, until 2025-11-25
	DraftHeaderMismatch     = -32001 // what drafts of 2026-07-28 had for -32020
	DraftMissingCapability  = -32003 // for -32021
	DraftUnsupportedVersion = -32004 // for -32022
)

// CodeName returns what an error code is called, "" for those that have no one
// meaning: peers use them as they like.
func CodeName(code int64) string {
	switch code {
	case ParseError:
		return "parse error"
	case InvalidRequest:
		return "invalid request"
	case MethodNotFound:
		return "method not found"
	case InvalidParams:
		return "invalid params"
	case InternalError:
		return "internal error"
	case HeaderMismatch:
		return "header mismatch"
	case MissingClientCapability:
		return "missing required client capability"
	case UnsupportedVersion:
		return "unsupported protocol version"
	case ResourceNotFound:
		return "resource not found"
	case URLElicitationRequired:
		return "URL elicitation required"
	}
	return ""
}
