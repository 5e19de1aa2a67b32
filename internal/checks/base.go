package checks

import (
	"fmt"
	"strings"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsonrpc"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var baseJSONRPCVersion = &judge.Check{
	ID:       "base.jsonrpc-version",
	Title:    "messages are JSON-RPC 2.0",
	Why:      "A peer that reads strictly drops what is no JSON-RPC 2.0 message, mostly without a word.",
	Fix:      "Send single objects with \"jsonrpc\":\"2.0\" and the members of exactly one kind of message.",
	Convicts: "JSON that is no request, notification, result or error, is two of them at once, or whose jsonrpc is not \"2.0\"; an array where batches are no part of the revision",
	Exempts:  "lines that are no JSON at all, pages of gateways that never claim to be JSON-RPC, arrays before the revision is known, and the elements of batches at 2025-03-26, which are judged one by one",
	On: []judge.On{{Kind: judge.Message, Do: func(e *judge.Event) {
		m := e.Msg
		if m == nil || m.Defects.Has(jsonrpc.RestOfBatch) {
			return
		}
		if e.Revision == mcp.V2024_11_05 && m.Element == 0 {
			e.Note("an array, which this revision says nothing of: many peers do not read them")
		}
		switch {
		case isStrayArray(e) && e.Revision == mcp.NoRevision:
			e.Note("an array, which is a message at some revisions and none at others")
		case isStrayArray(e):
			e.Bad("an array: a batch is no message of this revision")
		case e.Kind == judge.Malformed:
			e.Bad(whyMalformed(m))
		case m.Defects.Has(jsonrpc.Mixed):
			e.Badf("method %s stands beside a result or an error", quote(m.Method))
		case m.Defects.Has(jsonrpc.BadVersion):
			if version := m.Root.Get("jsonrpc"); version.Exists() {
				e.Badf("jsonrpc is %s instead of \"2.0\"", quoteJSON(version.Text()))
			} else {
				e.Bad("has no jsonrpc member")
			}
		default:
			e.OK()
		}
	}}},
}

// isStrayArray reports whether the event is an array where arrays are no messages. Where
// they are, their elements are told of one by one.
func isStrayArray(e *judge.Event) bool {
	if e.Kind != judge.Malformed || e.Msg == nil || e.Revision == mcp.V2025_03_26 || e.Revision == mcp.V2024_11_05 {
		return false
	}
	return e.Msg.Element >= 0 || e.Msg.Defects.Has(jsonrpc.EmptyBatch) || e.Frame.Flags&capture.Batch != 0
}

// whyMalformed says why JSON is none of the kinds of messages.
func whyMalformed(m *jsonrpc.Message) string {
	method := m.Root.Get("method")
	switch {
	case m.Defects.Has(jsonrpc.EmptyBatch):
		return "an empty array, which is no batch"
	case m.Root.Kind() != jsontree.Object:
		return fmt.Sprintf("%s is no object", quoteJSON(m.Root.Text()))
	case method.Exists():
		return fmt.Sprintf("method is %s, which is no string", quoteJSON(method.Text()))
	case m.Result.Exists() && m.Error.Exists():
		return "a result and an error at once"
	}
	return "neither method nor result nor error"
}

var baseResultField = &judge.Check{
	ID:       "base.result-field",
	Title:    "answers have a result",
	Why:      "An answer without an outcome leaves its caller waiting or guessing.",
	Fix:      "Put what the call returns into result, an empty object if that is nothing, or an error into error.",
	Convicts: "an object with an id and neither method, result nor error; until 2025-06-18 one with both a result and an error too",
	Exempts:  "a result or error of null beside the other",
	On: []judge.On{
		{Kind: judge.Result, Do: func(e *judge.Event) {
			if e.Msg.ID != nil {
				e.OK()
			}
		}},
		{Kind: judge.Malformed, Do: func(e *judge.Event) {
			m := e.Msg
			if m == nil || isStrayArray(e) || m.ID == nil || m.Root.Get("method").Exists() {
				return
			}
			switch {
			case !m.Result.Exists():
				e.Badf("answer with id %s has neither result nor error", quoteJSON(m.ID))
			case e.Revision == mcp.NoRevision:
			case e.Revision > mcp.V2025_06_18:
				e.OK()
			case m.Defects.Has(jsonrpc.BothResults):
				e.Badf("answer with id %s has both a result and an error", quoteJSON(m.ID))
			default:
				e.Notef("answer with id %s has both result and error, one of them null", quoteJSON(m.ID))
			}
		}},
	},
}

var baseNotificationNoID = &judge.Check{
	ID:       "base.notification-no-id",
	Title:    "ids of notifications",
	Why:      "With an id it is a request: its receiver answers that there is no such method, and its sender does not expect an answer.",
	Fix:      "Leave the id member out of notifications.",
	Convicts: "a message with an id whose method begins with notifications/",
	On: []judge.On{{Kind: judge.Request, Do: func(e *judge.Event) {
		if strings.HasPrefix(e.Method, "notifications/") {
			e.Badf("notification %s has the id %s", quote(e.Method), quoteJSON(e.Msg.ID))
			return
		}
		e.OK()
	}}},
}

var baseResultTypePresent = &judge.Check{
	ID:       "base.result-type-present",
	Title:    "results say of which type they are",
	Why:      "Clients tell by resultType whether a call is complete or asks for more.",
	Fix:      "Put \"resultType\":\"complete\", or the type it is, into every result.",
	Convicts: "a result whose resultType is missing or no string",
	Exempts:  "results of servers that have not shown to speak the revision, and answers to requests that the capture lacks",
	On: []judge.On{{Kind: judge.Result, Do: func(e *judge.Event) {
		if !answersHere(e) || e.From == judge.Client && !e.Pinned() {
			return
		}
		switch kind := e.Msg.Result.Get("resultType"); {
		case e.Msg.Result.Kind() != jsontree.Object:
			e.Badf("result of %s is %s, which is no object with a resultType", answerName(e), quoteJSON(e.Msg.Result.Text()))
		case !kind.Exists():
			e.Badf("result of %s has no resultType", answerName(e))
		case kind.Kind() != jsontree.String:
			e.Badf("resultType of the result of %s is %s, which is no string", answerName(e), quoteJSON(kind.Text()))
		default:
			e.OK()
		}
	}}},
}

var baseResultTypeKnown = &judge.Check{
	ID:       "base.result-type-known",
	Title:    "result types that the client can know",
	Why:      "A client has to treat a result of a type it does not know as invalid.",
	Fix:      "Send complete or input_required, and types of an extension only to clients that declared it with the request.",
	Convicts: "a resultType of a server that neither the revision nor an extension that the client declared with the request defines",
	Exempts:  "requests that declared an extension we do not know: it may define any type",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Do: func(e *judge.Event) {
		kind, ok := e.Msg.Result.Get("resultType").Str()
		if !ok || e.Request == nil {
			return
		}
		if kind != "complete" && kind != "input_required" {
			tasks, others := declaredExtensions(e.Request.Caps)
			if others {
				return
			}
			if kind != "task" || !tasks {
				e.Badf("result of %s has the resultType %s, which nothing the client declared defines", answerName(e), quote(kind))
				return
			}
		}
		e.OK()
	}}},
}

// declaredExtensions reports whether a client declared the tasks extension, and whether
// any that we do not know.
func declaredExtensions(caps *judge.Caps) (tasks, others bool) {
	const under = "extensions."
	paths, all := caps.Paths()
	for path := range paths {
		name, ok := strings.CutPrefix(path, under)
		switch {
		case !ok:
		case name == mcp.TasksExtension:
			tasks = true
		case name != mcp.AppsExtension && !strings.HasPrefix(name, mcp.TasksExtension+".") && !strings.HasPrefix(name, mcp.AppsExtension+"."):
			others = true
		}
	}
	return tasks, others || !all
}

// answersHere reports whether an answer is known to be one to a request of the revision it is
// judged by.
func answersHere(e *judge.Event) bool {
	return e.Pinned() || e.Request != nil || e.Post != nil && len(e.Post.Requests) > 0
}

// answerName names what an answer is for.
func answerName(e *judge.Event) string {
	switch {
	case e.Method != "":
		return fmt.Sprintf("%s with id %s", quote(e.Method), quoteJSON(e.Msg.ID))
	case e.Msg.ID != nil:
		return "id " + quoteJSON(e.Msg.ID)
	}
	return "an unnamed request"
}
