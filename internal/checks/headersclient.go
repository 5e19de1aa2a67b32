package checks

import (
	"fmt"
	"slices"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// compared returns the headers of a request beside its body.
func compared(e *judge.Event) []mirrored { return judge.Of[*posted](e, postedHeaders).mirrors }

// onPosts binds a check to the requests that are posted.
func onPosts(do func(*judge.Event)) []judge.On {
	return []judge.On{{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
		if judge.Of[*posted](e, postedHeaders).post != nil {
			do(e)
		}
	}}}
}

var transportRequestMetadataHeaders = &judge.Check{
	ID:       "transport.request-metadata-headers",
	Title:    "headers that name what is asked for",
	Why:      "Gateways route by Mcp-Method and Mcp-Name without reading the body; servers refuse requests where these are missing or say something else.",
	Fix:      "Send Mcp-Method with every request and Mcp-Name with tools/call, prompts/get and resources/read, taken from the body as it goes out.",
	Convicts: "a POST of a request without one of these headers, or with one that is not what the body says",
	Exempts:  "absent headers where the recorder did not write all down; requests that are not in the form of this revision",
	On: onPosts(func(e *judge.Event) {
		for _, m := range compared(e) {
			switch {
			case m.param:
			case m.how == fitAbsent:
				e.BadAtf(e.Post.Seq, "%s is missing from the POST of %s (id %s)", m.name, e.Method, e.Request.ID)
			case m.wrong():
				e.BadAtf(e.Post.Seq, "%s (id %s)", m.difference(), e.Request.ID)
			default:
				e.OK()
			}
		}
	}),
}

var transportXMCPHeaderMirrored = &judge.Check{
	ID:       "transport.x-mcp-header-mirrored",
	Title:    "arguments that tools want repeated in headers",
	Why:      "What stands between client and server decides by these headers; the server refuses a call without them.",
	Fix:      "Read x-mcp-header of the tool as listed last, and send the value at its path as Mcp-Param-NAME.",
	Convicts: "a tools/call with a string, boolean or integer at an annotated path, where that header is missing or has another value",
	Exempts:  "tools that are not listed, are badly annotated or have changed since; sessions of several clients; numbers are compared as numbers",
	On: onPosts(func(e *judge.Event) {
		for _, m := range compared(e) {
			switch {
			case !m.param, m.how > fitAbsent:
			case m.how == fitAbsent:
				e.BadAtf(e.Post.Seq, "%s is missing from the call of tool %s (id %s)", m.name, quote(e.Request.Target), e.Request.ID)
			case m.wrong():
				e.BadAtf(e.Post.Seq, "%s (tool %s, id %s)", m.difference(), quote(e.Request.Target), e.Request.ID)
			default:
				e.OK()
			}
		}
	}),
}

var transportNoParamHeaderForNothing = &judge.Check{
	ID:       "transport.no-param-header-for-nothing",
	Title:    "headers of arguments that are not there",
	Why:      "A server cannot find the value in the body and may refuse the call; what routes by the header acts on a value that nobody passed.",
	Fix:      "Leave Mcp-Param-NAME out where the argument is absent or null.",
	Convicts: "a tools/call with the header of an annotated argument that is null or not among the arguments",
	Exempts:  "tools that are not listed, are badly annotated or have changed since; sessions of several clients",
	On: onPosts(func(e *judge.Event) {
		for _, m := range compared(e) {
			switch m.how {
			case fitNeedless:
				e.BadAtf(e.Post.Seq, "%s %s repeats an argument of tool %s that is null or absent (id %s)", m.name, quote(m.value), quote(e.Request.Target), e.Request.ID)
			case fitNone:
				e.OK()
			}
		}
	}),
}

// encodable judges the headers of a request that may be encoded, each by itself: verdict
// says what is wrong with it, and whether it is judged at all. m is its comparison with the
// body, nil if there is none.
func encodable(e *judge.Event, verdict func(key, value string, m *mirrored) (detail string, subject bool)) {
	p := judge.Of[*posted](e, postedHeaders)
	var bad []string
	for key, value := range e.Post.Header {
		if key != mcp.NameHeader && !strings.HasPrefix(key, mcp.ParamHeaders) || value == capture.Redaction {
			continue
		}
		switch detail, subject := verdict(key, value, p.of(key)); {
		case detail != "":
			bad = append(bad, detail)
		case subject:
			e.OK()
		}
	}
	slices.Sort(bad) // a map has no order
	for _, detail := range bad {
		e.BadAtf(e.Post.Seq, "%s (id %s)", detail, e.Request.ID)
	}
}

var transportHeaderValueEncoding = &judge.Check{
	ID:       "transport.header-value-encoding",
	Title:    "encoding of Mcp-Name and Mcp-Param-* values",
	Why:      "Other than visible ASCII gets lost, changed or cut off on the way, or smuggles headers in.",
	Fix:      "Send such a value, and one that begins or ends with a blank, as =?base64?…?= with the base64 of its UTF-8.",
	Convicts: "a request with such a header that holds other than plain ASCII, or whose value in the body does and is not encoded in the header",
	Exempts:  "a sentinel in other case, which is transport.sentinel-marker-case's",
	On: onPosts(func(e *judge.Event) {
		encodable(e, func(key, value string, m *mirrored) (string, bool) {
			switch {
			case miscased(value), m != nil && m.how == fitMisspelt:
				return "", false
			case !headerSafe(value):
				return fmt.Sprintf("%s %s needs encoding", headerName(key), quote(value)), true
			case m != nil && m.plain:
				return fmt.Sprintf("%s %s should be encoded: its value in the body is no plain ASCII", headerName(key), quote(value)), true
			}
			return "", true
		})
	}),
}

var transportSentinelMarkerCase = &judge.Check{
	ID:       "transport.sentinel-marker-case",
	Title:    "marks of encoded header values",
	Why:      "In other case or incomplete, the marks are plain text to servers, and the value does not fit the body.",
	Fix:      "Write =?base64? and ?= exactly so.",
	Convicts: "an Mcp-Name or Mcp-Param-* value that would be encoded if case did not matter or its end were there",
	Exempts:  "a value that stands in the body just like that",
	On: onPosts(func(e *judge.Event) {
		encodable(e, func(key, value string, m *mirrored) (string, bool) {
			odd := m == nil && miscased(value) && !holdsText(e.Msg.Params.Get("arguments"), value, 0)
			if odd || m != nil && m.how == fitMisspelt {
				return fmt.Sprintf("%s %s misspells the marks of an encoded value", headerName(key), quote(value)), true
			}
			return "", true
		})
	}),
}

// holdsText reports whether a string stands somewhere in a value.
func holdsText(n jsontree.Node, text string, depth int) bool {
	if s, ok := n.StrBytes(); ok || depth >= maxWalk {
		return string(s) == text
	}
	for _, member := range n.Members() {
		if holdsText(member, text, depth+1) {
			return true
		}
	}
	for element := range n.Elements() {
		if holdsText(element, text, depth+1) {
			return true
		}
	}
	return false
}

var transportSentinelPatternEncoded = &judge.Check{
	ID:       "transport.sentinel-pattern-encoded",
	Title:    "values that only look encoded",
	Why:      "Servers decode such a header and find another value than the body has.",
	Fix:      "Encode a value that itself begins with =?base64? and ends with ?=.",
	Convicts: "an Mcp-Name or Mcp-Param-* header that repeats such a value as it is",
	Exempts:  "headers of arguments that no list of tools names",
	On: onPosts(func(e *judge.Event) {
		for _, m := range compared(e) {
			switch {
			case m.key == mcp.MethodHeader, !m.there():
			case m.how == fitRaw:
				e.BadAtf(e.Post.Seq, "%s repeats %s as it is, which reads as an encoded value (id %s)", m.name, quote(m.value), e.Request.ID)
			default:
				e.OK()
			}
		}
	}),
}

var toolsXMCPHeaderIntegerRange = &judge.Check{
	ID:       "tools.x-mcp-header-integer-range",
	Title:    "size of integers that are repeated in headers",
	Why:      "Beyond ±(2^53-1), programs that keep numbers as doubles read another number, and header and body no longer fit.",
	Fix:      "Keep such an argument within ±9007199254740991, or declare it as a string.",
	Convicts: "a tools/call with a greater integer at a path annotated with x-mcp-header",
	Exempts:  "tools that are not listed, are badly annotated or have changed since; arguments of other types; sessions of several clients",
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
		tool := designatedFor(e)
		if tool == nil || !ownsRevision(e, e.Request) {
			return
		}
		args := e.Msg.Params.Get("arguments")
		for i := range tool.params {
			param := &tool.params[i]
			arg := args.Path(param.path...)
			if param.types != 0 && param.types&typeInteger == 0 || !arg.IsInt() {
				continue
			}
			if n, ok := arg.Int(); !ok || n < -maxSafe || n > maxSafe {
				e.Badf("argument %s of tool %s is %s, beyond ±(2^53-1), and is repeated in %s", quote(strings.Join(param.path, ".")), quote(e.Request.Target), quoteJSON(arg.Text()), param.name)
				continue
			}
			e.OK()
		}
	}}},
}

// versionOf returns the version that a request names itself.
func versionOf(e *judge.Event) (string, bool) { return e.Meta().Get(mcp.MetaProtocolVersion).Str() }
