package checks

import (
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var transportProtocolVersionHeaderPresent = &judge.Check{
	ID:       "transport.protocol-version-header-present",
	Title:    "MCP-Protocol-Version of requests",
	Why:      "Without it a server may take the request for one of an old revision, or refuses it.",
	Fix:      "Send MCP-Protocol-Version with every POST, with the version that _meta names.",
	Convicts: "a POST of a request without the header",
	Exempts:  "requests that are not in the form of this revision; recorders that did not write all headers down",
	On: onPosts(func(e *judge.Event) {
		if _, ok := e.Post.Head(mcp.VersionHeader); ok {
			e.OK()
		} else if e.Post.Complete {
			e.BadAtf(e.Post.Seq, "MCP-Protocol-Version is missing from the POST of %s (id %s)", e.Method, e.Request.ID)
		}
	}),
}

var transportProtocolVersionHeaderMatchesBody = &judge.Check{
	ID:       "transport.protocol-version-header-matches-body",
	Title:    "version in header and body",
	Why:      "What stands in between goes by the header, the server by the body: they would treat one request by two revisions.",
	Fix:      "Take MCP-Protocol-Version and the protocolVersion of _meta from one variable.",
	Convicts: "a POST of a request whose header names another version than its _meta",
	Exempts:  "requests without the header, or without a version in _meta",
	On: onPosts(func(e *judge.Event) {
		version, ok := versionOf(e)
		header, has := e.Post.Head(mcp.VersionHeader)
		switch {
		case !ok || !has || header == capture.Redaction:
		case header != version:
			e.BadAtf(e.Post.Seq, "MCP-Protocol-Version is %s, _meta says %s (id %s)", quote(header), quote(version), e.Request.ID)
		default:
			e.OK()
		}
	}),
}

// onAnswers binds a check to what servers answer to posted requests of the newest revisions.
func onAnswers(kind judge.Kind, do func(*judge.Event)) []judge.On {
	return []judge.On{{Kind: kind, From: judge.Server, Do: func(e *judge.Event) {
		if r := e.Request; r != nil && r.From == judge.Client && r.Post != nil && ownsRevision(e, r) {
			do(e)
		}
	}}}
}

// codeOf returns the code of an error, 0 if that is no integer.
func codeOf(e *judge.Event) int64 {
	code, _ := e.Msg.Error.Get("code").Int()
	return code
}

var transportVersionMismatchRejected = &judge.Check{
	ID:       "transport.version-mismatch-rejected",
	Title:    "refusal of requests with two versions",
	Why:      "A server that serves them lets a client pass whatever goes by the header.",
	Fix:      "Compare MCP-Protocol-Version with _meta first, and answer a difference with 400 and -32020.",
	Convicts: "a result for a request whose header and _meta name different versions",
	Exempts:  "other errors, for which the request may have given cause as well: they are noted",
	On: onAnswers(judge.Answer, func(e *judge.Event) {
		header, ok := e.Request.Post.Head(mcp.VersionHeader)
		if version := e.Request.Version; !ok || version == "" || header == version || header == capture.Redaction {
			return
		}
		switch code := codeOf(e); {
		case e.Kind == judge.Result:
			e.Badf("id %s was served although its header says %s and its _meta %s", e.Request.ID, quote(header), quote(e.Request.Version))
		case code == mcp.HeaderMismatch:
			e.OK()
		default:
			e.Notef("id %s names two versions and was refused with %d, not %d", e.Request.ID, code, mcp.HeaderMismatch)
		}
	}),
}

// manySupported is how many versions of a server may be known; with more, the list may
// not be all.
const manySupported = 64

var transportUnsupportedVersionError = &judge.Check{
	ID:       "transport.unsupported-version-error",
	Title:    "refusal of versions that a server does not speak",
	Why:      "Clients choose another version from the list in the error; without it they have to guess, or give up.",
	Fix:      "Answer with -32022 and data.supported, the list of all versions the server speaks.",
	Convicts: "a -32022 error without a list of versions, or a result for a request whose version server/discover did not name",
	Exempts:  "a version that a handshake agreed on; other errors for such a request, for which it may have given cause as well: they are noted",
	On: []judge.On{{Kind: judge.Answer, From: judge.Server, Do: func(e *judge.Event) {
		code := int64(0)
		if e.Kind == judge.Error {
			code = codeOf(e)
		}
		if code == mcp.UnsupportedVersion {
			if supported := e.Msg.Error.Get("data").Get("supported"); onlyStrings(supported) {
				e.OK()
			} else {
				e.Badf("error -32022%s has no data.supported that lists versions", forRequest(e))
			}
			return
		}
		r, known := e.Request, e.Facts.Supported
		if r == nil || r.From != judge.Client || r.Version == "" || len(known) == 0 || len(known) >= manySupported || slices.Contains(known, r.Version) {
			return
		}
		if r.Version == e.Facts.Version {
			return // the handshake of an older revision agreed on it
		}
		if e.Kind == judge.Result {
			e.Badf("id %s was served at version %s, which server/discover does not name", r.ID, quote(r.Version))
		} else {
			e.Notef("id %s asks for version %s, which server/discover does not name, and was refused with %d, not %d", r.ID, quote(r.Version), code, mcp.UnsupportedVersion)
		}
	}}},
}

// forRequest names the request that an error answers, if that is known.
func forRequest(e *judge.Event) string {
	if e.Request == nil {
		return ""
	}
	return " for id " + e.Request.ID
}

func onlyStrings(list jsontree.Node) bool {
	n := 0
	for one := range list.Elements() {
		if _, ok := one.StrBytes(); !ok {
			return false
		}
		n++
	}
	return n > 0
}

var transportUnsupportedVersionNamed = &judge.Check{
	ID:       "transport.unsupported-version-named",
	Title:    "version that an error refuses",
	Why:      "It tells a client, and whoever reads the log, whether the version arrived as it was sent.",
	Fix:      "Put the version as requested into data.requested of the error.",
	Convicts: "a -32022 error whose data.requested is no string, or neither what _meta nor what the header of its request says",
	Exempts:  "",
	On: []judge.On{{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
		if codeOf(e) != mcp.UnsupportedVersion {
			return
		}
		named, ok := e.Msg.Error.Get("data").Get("requested").Str()
		r := e.Request
		switch {
		case !ok:
			e.Badf("error -32022%s has no data.requested that names a version", forRequest(e))
		case r == nil || !r.Versions || r.Version == "" || named == r.Version || r.Post != nil && named == r.Post.Header[mcp.VersionHeader]:
			e.OK()
		default:
			e.Badf("error -32022 for id %s says that %s was requested, it was %s", r.ID, quote(named), quote(r.Version))
		}
	}}},
}

// replyHead returns the head of the answer that carried a message, nil if unknown. In
// traces a head counts only with the exchange it belongs to.
func replyHead(e *judge.Event) *judge.Reply {
	if r := e.Reply; r == nil || r.Complete && (e.Post == nil || e.Request != nil && e.Request.Post == nil) {
		return nil
	}
	return e.Reply
}

// wantsStatus binds a check to errors of a code, which should come with a status.
func wantsStatus(code int64, status int, exempt string) []judge.On {
	return []judge.On{{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
		reply := replyHead(e)
		if reply == nil || codeOf(e) != code || exempt != "" && e.Method == exempt {
			return
		}
		if reply.Status == status {
			e.OK()
			return
		}
		e.BadAtf(reply.Seq, "error %d%s came with status %d, not %d", code, forRequest(e), reply.Status, status)
	}}}
}

var transportUnsupportedVersionStatus = &judge.Check{
	ID:       "transport.unsupported-version-status",
	Title:    "status of version errors",
	Why:      "Clients look for this error in a 400 before they fall back to an older revision.",
	Fix:      "Send error -32022 with status 400.",
	Convicts: "a -32022 error that came with another status",
	Exempts:  "answers to initialize; errors whose status is unknown",
	On:       wantsStatus(mcp.UnsupportedVersion, 400, "initialize"),
}

var transportUnknownMethod404 = &judge.Check{
	ID:       "transport.unknown-method-404",
	Title:    "status of unknown methods",
	Why:      "Clients and gateways tell by it that the server lives but does not know the method.",
	Fix:      "Send error -32601 with status 404.",
	Convicts: "a -32601 error that came with another status",
	Exempts:  "errors whose status is unknown",
	On:       wantsStatus(mcp.MethodNotFound, 404, ""),
}

var transportHeaderMismatchStatus = &judge.Check{
	ID:       "transport.header-mismatch-status",
	Title:    "status of header errors",
	Why:      "Clients and gateways tell refused headers by it from failures of the server.",
	Fix:      "Send error -32020 with status 400.",
	Convicts: "a -32020 error that came with another status",
	Exempts:  "errors whose status is unknown",
	On:       wantsStatus(mcp.HeaderMismatch, 400, ""),
}
