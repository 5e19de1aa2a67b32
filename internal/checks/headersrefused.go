package checks

import (
	"slices"
	"strings"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var transportMissingHeaderRejected = &judge.Check{
	ID:       "transport.missing-header-rejected",
	Title:    "refusal of requests without a required header",
	Why:      "What goes by the header never sees such a request; a client learns of its fault only elsewhere.",
	Fix:      "Answer a request without Mcp-Method, Mcp-Name where it has a name, or the Mcp-Param-* of an argument with 400 and -32020.",
	Convicts: "a result for a request without one of these, or without MCP-Protocol-Version from a server that speaks no revision in which there was no such header",
	Exempts:  "recorders that did not write all headers down; arguments of tools that are not listed, are badly annotated or have changed since",
	On: onAnswers(judge.Result, func(e *judge.Event) {
		if !e.Request.Post.Complete {
			return
		}
		bad := false
		if o, _ := owes.Get(e.Request); o != nil {
			for _, name := range o.missing {
				bad = true
				e.Badf("id %s was served without %s", e.Request.ID, name)
			}
		}
		if _, ok := e.Request.Post.Head(mcp.VersionHeader); !ok && needsVersionHeader(e) {
			bad = true
			e.Badf("id %s was served without MCP-Protocol-Version", e.Request.ID)
		}
		if !bad {
			e.OK()
		}
	}),
}

// firstVersionHeader is the revision that brought MCP-Protocol-Version.
const firstVersionHeader = mcp.V2025_06_18

// needsVersionHeader reports whether a server has no clients that do not know the header.
func needsVersionHeader(e *judge.Event) bool {
	known := e.Facts.Supported
	return e.Facts.Phase == judge.BeforeInitialize && len(known) > 0 && len(known) < manySupported &&
		!slices.ContainsFunc(known, func(version string) bool {
			r := mcp.ParseRevision(version)
			return r == mcp.NoRevision && !(judge.IsDate(version) && version > mcp.Latest.String()) || r != mcp.NoRevision && r < firstVersionHeader
		})
}

var transportEncodedHeaderDecoded = &judge.Check{
	ID:       "transport.encoded-header-decoded",
	Title:    "reading of encoded headers",
	Why:      "A name with other than ASCII letters cannot be used at such a server.",
	Fix:      "Decode =?base64?…?= in Mcp-Name before it is compared with the body.",
	Convicts: "a -32020 error for a request whose headers are all there and fit, some once decoded",
	Exempts:  "tools/call, where the server may know of arguments that the list did not show",
	On: onAnswers(judge.Answer, func(e *judge.Event) {
		if o, _ := owes.Get(e.Request); o == nil || !o.decoded || o.number || e.Method == "tools/call" {
			return
		}
		switch {
		case e.Kind == judge.Result:
			e.OK()
		case codeOf(e) == mcp.HeaderMismatch:
			value := e.Request.Post.Header[mcp.NameHeader]
			e.Badf("id %s was refused although its Mcp-Name %s is the body's %s, encoded", e.Request.ID, quote(value), quote(e.Request.Target))
		}
	}),
}

var transportIntegerHeaderCompared = &judge.Check{
	ID:       "transport.integer-header-compared",
	Title:    "comparison of integers in headers",
	Why:      "42.0 and 42 are one number, and libraries differ in how they write it.",
	Fix:      "Read both as numbers before they are compared.",
	Convicts: "a -32020 error for a call whose headers are all there and fit, some by number only",
	Exempts:  "tools that are not listed, are badly annotated or have changed since; sessions of several clients",
	On: onAnswers(judge.Answer, func(e *judge.Event) {
		if o, _ := owes.Get(e.Request); o == nil || !o.number || o.decoded {
			return
		}
		switch {
		case e.Kind == judge.Result:
			e.OK()
		case codeOf(e) == mcp.HeaderMismatch:
			e.Badf("id %s was refused although all its headers fit, %s by number", e.Request.ID, numericHeaders(e.Request.Post))
		}
	}),
}

// numericHeaders names the headers of arguments that hold numbers.
func numericHeaders(post *judge.Post) string {
	var names []string
	for key, value := range post.Header {
		if strings.HasPrefix(key, mcp.ParamHeaders) && strings.Trim(value, "0123456789+-.eE") == "" {
			names = append(names, headerName(key)+" "+value)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
