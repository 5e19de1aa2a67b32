package checks

import (
	"bytes"
	"fmt"

	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var baseErrorShape = &judge.Check{
	ID:       "base.error-shape",
	Title:    "members of errors",
	Why:      "Clients read code and message of every error; some fail where one is missing.",
	Fix:      "Make error an object with an integer code and a message of one sentence.",
	Convicts: "an error that is no object, has no code, or no message that is a string",
	Exempts:  "pages of gateways that never claim to be JSON-RPC",
	On: []judge.On{{Kind: judge.Error, Do: func(e *judge.Event) {
		fault, message := e.Msg.Error, e.Msg.Error.Get("message")
		if fault.Kind() != jsontree.Object {
			e.Badf("error of %s is %s, which is no object", answerName(e), quoteJSON(fault.Text()))
			return
		}
		fine := true
		if !fault.Get("code").Exists() {
			e.Badf("error of %s has no code", answerName(e))
			fine = false
		}
		switch {
		case !message.Exists():
			e.Badf("error of %s has no message", answerName(e))
		case message.Kind() != jsontree.String:
			e.Badf("message of the error of %s is %s, which is no string", answerName(e), quoteJSON(message.Text()))
		case fine:
			e.OK()
		}
	}}},
}

var baseErrorCodeInteger = &judge.Check{
	ID:       "base.error-code-integer",
	Title:    "types of error codes",
	Why:      "Clients compare codes as integers, and many cannot read any other.",
	Fix:      "Use an integer for the code, and data for everything else.",
	Convicts: "an error whose code is no number that is an integer by its value",
	Exempts:  "the spelling of integers: -32602.0 is one, and only noted",
	On: []judge.On{{Kind: judge.Error, Do: func(e *judge.Event) {
		code := e.Msg.Error.Get("code")
		switch {
		case !code.Exists():
		case e.Msg.Defects.Has(jsonrpc.BadCode):
			e.Badf("code of the error of %s is %s, which is no integer", answerName(e), quoteJSON(code.Text()))
		default:
			if bytes.ContainsAny(code.Text(), ".eE") {
				e.Notef("code of the error of %s is the integer %s, in a spelling that some peers refuse", answerName(e), quoteJSON(code.Text()))
			}
			e.OK()
		}
	}}},
}

// onCode makes a judgement of the codes of errors that answer requests of the revision.
func onCode(do func(e *judge.Event, code int64)) []judge.On {
	return []judge.On{{Kind: judge.Error, Do: func(e *judge.Event) {
		code, ok := e.Msg.Error.Get("code").Int()
		if ok && answersHere(e) {
			do(e, code)
		}
	}}}
}

const codesExempt = "errors of servers that have not shown to speak the revision, and answers to requests that the capture lacks"

var baseErrorCodeLegacySubrange = &judge.Check{
	ID:       "base.error-code-legacy-subrange",
	Title:    "error codes from -32019 to -32000",
	Why:      "Implementations have used these codes for all sorts of things; nothing can be read into them.",
	Fix:      "Use a code of the specification, or one outside -32768 to -32000.",
	Convicts: "such a code where the user said at which revision to judge",
	Exempts:  "everything else: codes that were in use before may go on being used, and a capture does not show since when they are; there they are noted",
	On: onCode(func(e *judge.Event, code int64) {
		switch detail := fmt.Sprintf("error of %s has the code %d, which is left to implementations of old", answerName(e), code); {
		case code < -32019 || code > -32000:
			e.OK()
		case e.Pinned():
			e.Bad(detail)
		case code != mcp.ResourceNotFound:
			e.Note(detail)
		}
	}),
}

var baseErrorCodeReservedSubrange = &judge.Check{
	ID:       "base.error-code-reserved-subrange",
	Title:    "error codes from -32099 to -32020",
	Why:      "Clients act on these codes; one that the specification does not define may come to mean something else.",
	Fix:      "Use a code that the specification defines, or one outside -32768 to -32000.",
	Convicts: "a code of that range that the revision does not define",
	Exempts:  codesExempt,
	On: onCode(func(e *judge.Event, code int64) {
		switch {
		case code == mcp.HeaderMismatch, code == mcp.MissingClientCapability, code == mcp.UnsupportedVersion, code < -32099, code > -32020:
			e.OK()
		default:
			e.Badf("error of %s has the code %d, which is reserved and not defined", answerName(e), code)
		}
	}),
}

var baseErrorCodeWithdrawn = &judge.Check{
	ID:       "base.error-code-withdrawn",
	Title:    "error codes that were withdrawn",
	Why:      "Clients of this revision do not know them any more.",
	Fix:      "Report a resource that is not there with -32602, and ask for a URL to be opened with an input request.",
	Convicts: "the codes -32002 and -32042",
	Exempts:  codesExempt,
	On: onCode(func(e *judge.Event, code int64) {
		if code == mcp.ResourceNotFound || code == mcp.URLElicitationRequired {
			e.Badf("error of %s has the code %d, which this revision withdrew", answerName(e), code)
			return
		}
		e.OK()
	}),
}

var baseErrorCodeApplicationRange = &judge.Check{
	ID:       "base.error-code-application-range",
	Title:    "error codes from -32768 to -32100",
	Why:      "JSON-RPC keeps that range for itself, so that a code of one's own there may come to mean something else.",
	Fix:      "Use a code outside -32768 to -32000.",
	Convicts: "a code of that range that JSON-RPC does not define",
	Exempts:  codesExempt,
	On: onCode(func(e *judge.Event, code int64) {
		switch {
		case code == mcp.ParseError, code <= mcp.InvalidRequest && code >= mcp.InternalError, code < -32768, code > -32100:
			e.OK()
		default:
			e.Badf("error of %s has the code %d, which JSON-RPC keeps for itself", answerName(e), code)
		}
	}),
}

var baseVersionRefused = &judge.Check{
	ID:       "base.version-refused",
	Title:    "versions that are refused as unsupported",
	Why:      "A client that is told to use the version it used has no way on.",
	Fix:      "List in data.supported what the server really accepts, or serve the request.",
	Convicts: "an error with the code -32022 whose data.supported names the version of the request",
	On: []judge.On{{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
		code, _ := e.Msg.Error.Get("code").Int()
		if code != mcp.UnsupportedVersion || e.Request == nil || e.Request.Version == "" {
			return
		}
		for v := range e.Msg.Error.Path("data", "supported").Elements() {
			if text, ok := v.Str(); ok && text == e.Request.Version {
				e.Badf("refuses version %s of %s and lists it as supported", quote(text), answerName(e))
				return
			}
		}
		e.OK()
	}}},
}
