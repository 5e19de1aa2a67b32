package checks

import (
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/tracectx"
)

var metaNoUndeclaredCapabilityReliance = &judge.Check{
	ID:       "meta.no-undeclared-capability-reliance",
	Title:    "input requests that the client said it can answer",
	Why:      "A client cannot answer what it did not declare: the call never completes.",
	Fix:      "Look at the clientCapabilities of the request at hand, and refuse with -32021 if what is needed is missing.",
	Convicts: "an input request for elicitation, a mode of it, sampling, sampling with tools or roots that the request it answers did not declare",
	Exempts:  "answers to requests that the capture lacks, and clients that declared more than is remembered",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Do: func(e *judge.Event) {
		if kind, _ := e.Msg.Result.Get("resultType").StrBytes(); string(kind) != "input_required" || e.Request == nil {
			return
		}
		for name, input := range e.Msg.Result.Get("inputRequests").Members() {
			need := neededFor(input, e.Request.Caps)
			switch {
			case need == "":
			case e.Request.Caps.Lacks(need):
				e.Badf("input request %s of %s needs the capability %s, which the request did not declare", quote(name.String()), answerName(e), need)
			default:
				e.OK()
			}
		}
	}}},
}

// neededFor returns the capability that an input request needs: the part of one that is
// missing first, "" for methods that need none we know of.
func neededFor(input jsontree.Node, caps *judge.Caps) string {
	method, _ := input.Get("method").StrBytes()
	params := input.Get("params")
	switch string(method) {
	case "roots/list":
		return "roots"
	case "sampling/createMessage":
		if caps.Has("sampling") && (params.Get("tools").Exists() || params.Get("toolChoice").Exists()) {
			return "sampling.tools"
		}
		return "sampling"
	case "elicitation/create":
		mode, has := params.Get("mode").StrBytes()
		switch {
		case !caps.Has("elicitation"):
			return "elicitation"
		case has && string(mode) == "url":
			return "elicitation.url"
		case (!has || string(mode) == "form") && caps.Has("elicitation.url"):
			return "elicitation.form" // without url it may be declared by an empty object
		}
		return "elicitation"
	}
	return ""
}

var metaMissingCapabilityError = &judge.Check{
	ID:       "meta.missing-capability-error",
	Title:    "errors for missing client capabilities",
	Why:      "The client cannot tell its user, or retry with more declared, unless it is told what is missing.",
	Fix:      "Put the capabilities that are needed into data.requiredCapabilities, in the form of clientCapabilities.",
	Convicts: "an error with the code -32021 whose data.requiredCapabilities is missing, no object, or empty",
	On: []judge.On{{Kind: judge.Error, Do: func(e *judge.Event) {
		if code, _ := e.Msg.Error.Get("code").Int(); code != mcp.MissingClientCapability {
			return
		}
		switch need := e.Msg.Error.Path("data", "requiredCapabilities"); {
		case need.Kind() != jsontree.Object:
			e.Badf("error -32021 for %s has no object requiredCapabilities in its data", answerName(e))
		case need.Len() == 0:
			e.Badf("error -32021 for %s names no required capability", answerName(e))
		default:
			e.OK()
		}
	}}},
}

var metaMissingCapabilityHTTPStatus = &judge.Check{
	ID:       "meta.missing-capability-http-status",
	Title:    "statuses of errors for missing client capabilities",
	Why:      "Gateways and clients that look at the status only take the refusal for a success.",
	Fix:      "Answer with the HTTP status 400.",
	Convicts: "another status of an answer with the code -32021",
	Exempts:  "answers whose status the capture does not show",
	On: []judge.On{{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
		if code, _ := e.Msg.Error.Get("code").Int(); code == mcp.MissingClientCapability {
			mustBe400(e)
		}
	}}},
}

var metaTraceContextFormat = &judge.Check{
	ID:       "meta.trace-context-format",
	Title:    "trace context in _meta",
	Why:      "Tracing systems throw away what they cannot read, and the trace breaks there without a word.",
	Fix:      "Pass on what the tracing library writes, as strings and unchanged.",
	Convicts: "a traceparent, tracestate or baggage that is no string or not of the format of its W3C specification",
	Exempts:  "fields that later versions of traceparent append, a tracestate beside a traceparent that is convicted, and all limits of size but the 32 members of a tracestate",
	On: []judge.On{{Kind: judge.Request | judge.Notification | judge.Result, Do: func(e *judge.Event) {
		spoiled := false
		for name, value := range e.Meta().Members() {
			if name.Is(mcp.MetaTraceparent) {
				spoiled = !traceValue(e, mcp.MetaTraceparent, value, checkTraceparent)
			}
		}
		for name, value := range e.Meta().Members() {
			switch {
			case name.Is(mcp.MetaTracestate) && !spoiled:
				traceValue(e, mcp.MetaTracestate, value, checkTracestate)
			case name.Is(mcp.MetaBaggage):
				traceValue(e, mcp.MetaBaggage, value, tracectx.CheckBaggage)
			}
		}
	}}},
}

func checkTraceparent(text []byte) error { _, err := tracectx.Parse(text); return err }
func checkTracestate(text []byte) error  { _, err := tracectx.ParseState(text); return err }

// traceValue judges one value, and reports whether it is fine.
func traceValue(e *judge.Event, name string, value jsontree.Node, check func([]byte) error) bool {
	text, ok := value.StrBytes()
	if !ok {
		e.Badf("%s in _meta is %s, which is no string", name, quoteJSON(value.Text()))
		return false
	}
	if err := check(text); err != nil {
		e.Badf("%s in _meta %v", name, err)
		return false
	}
	e.OK()
	return true
}
