package checks

import (
	"fmt"
	"strings"
	"time"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// onInitialize calls do with each initialize request that may open the session.
func onInitialize(do func(e *judge.Event)) []judge.On {
	return []judge.On{{Kind: judge.Request, From: judge.Client, Methods: []string{"initialize"}, Do: func(e *judge.Event) {
		if e.Facts.Phase == judge.BeforeInitialize || e.Facts.Phase == judge.Refused {
			do(e)
		}
	}}}
}

// onInitialized calls do with the result that opens the session.
func onInitialized(do func(e *judge.Event)) judge.On {
	return judge.On{Kind: judge.Result, From: judge.Server, Methods: []string{"initialize"}, Do: func(e *judge.Event) {
		if e.Facts.Phase == judge.Initializing && e.Request.Seq == e.Facts.Initialize {
			do(e)
		}
	}}
}

// memberFault says what is wrong with a member of an object that must be there and of a
// kind, "" if nothing is.
func memberFault(object jsontree.Node, name string, kind jsontree.Kind, called string) string {
	switch value := object.Get(name); {
	case !value.Exists():
		return "has no " + name
	case value.Kind() != kind:
		return fmt.Sprintf("has a %s that is no %s", name, called)
	}
	return ""
}

// implementationFault is memberFault for what names a program and its version.
func implementationFault(object jsontree.Node, name string) string {
	if fault := memberFault(object, name, jsontree.Object, "object"); fault != "" {
		return fault
	}
	for _, part := range [2]string{"name", "version"} {
		if fault := memberFault(object.Get(name), part, jsontree.String, "string"); fault != "" {
			return "has " + name + ", which " + fault
		}
	}
	return ""
}

// tellFaults convicts of each fault of something.
func tellFaults(e *judge.Event, what string, faults ...string) {
	e.OK()
	for _, fault := range faults {
		if fault != "" {
			e.Bad(what + " " + fault)
		}
	}
}

var lifecycleInitializeParams = &judge.Check{
	ID:       "lifecycle.initialize-params",
	Title:    "what initialize states of the client",
	Why:      "The server chooses version and features by it; many refuse the session if a part is missing.",
	Fix:      "Send protocolVersion, capabilities (an empty object if there are none) and clientInfo with name and version.",
	Convicts: "an initialize without params, or one where a member is missing or of another type",
	On: onInitialize(func(e *judge.Event) {
		params := e.Msg.Params
		if params.Kind() != jsontree.Object {
			e.Bad("initialize has no params object")
			return
		}
		tellFaults(e, "initialize",
			memberFault(params, "protocolVersion", jsontree.String, "string"),
			memberFault(params, "capabilities", jsontree.Object, "object"),
			implementationFault(params, "clientInfo"))
	}),
}

var lifecycleInitializeProtocolVersion = &judge.Check{
	ID:       "lifecycle.initialize-protocol-version",
	Title:    "version that initialize asks for",
	Why:      "Without it the server cannot tell which revision the client speaks.",
	Fix:      "Send the newest revision that the client supports as protocolVersion, a string.",
	Convicts: "an initialize whose protocolVersion is missing or no string",
	Exempts:  "which version it is",
	On: onInitialize(func(e *judge.Event) {
		tellFaults(e, "initialize", memberFault(e.Msg.Params, "protocolVersion", jsontree.String, "string"))
	}),
}

var lifecycleInitializeResultShape = &judge.Check{
	ID:       "lifecycle.initialize-result-shape",
	Title:    "what the answer to initialize states of the server",
	Why:      "Clients use nothing that is not declared; many close the session if a part is missing.",
	Fix:      "Answer with capabilities (an empty object if there are none) and serverInfo with name and version.",
	Convicts: "an initialize result where capabilities or serverInfo is missing or of another type",
	On: []judge.On{onInitialized(func(e *judge.Event) {
		tellFaults(e, "the initialize result",
			memberFault(e.Msg.Result, "capabilities", jsontree.Object, "object"),
			implementationFault(e.Msg.Result, "serverInfo"))
	})},
}

var lifecycleInitializeResultVersion = &judge.Check{
	ID:       "lifecycle.initialize-result-version",
	Title:    "version that the server answers",
	Why:      "Both sides go by this version; a client has to leave if it does not know it.",
	Fix:      "Answer the version asked for if the server speaks it, else the newest published revision that it does speak.",
	Convicts: "an initialize result whose protocolVersion is missing, no string, no date, or a date at which no revision was published",
	Exempts:  "dates later than the revisions we know; drafts and unpublished dates that the client asked for",
	On: []judge.On{onInitialized(func(e *judge.Event) {
		if fault := memberFault(e.Msg.Result, "protocolVersion", jsontree.String, "string"); fault != "" {
			e.Bad("the initialize result " + fault)
			return
		}
		version, _ := e.Msg.Result.Get("protocolVersion").Str()
		_, err := time.Parse(time.DateOnly, version)
		switch {
		case mcp.ParseRevision(version) != mcp.NoRevision:
			e.OK()
		case err == nil && version > mcp.Latest.String():
		case version == e.Facts.Asked && (err == nil || strings.HasPrefix(version, "DRAFT-")):
			e.Notef("the server agreed to version %s, which was never published", quote(version))
		case err == nil:
			e.Badf("the server answered version %s, which was never published", quote(version))
		default:
			e.Badf("the server answered version %s, which is no date", quote(version))
		}
	})},
}

var lifecycleInitializeNotBatched = &judge.Check{
	ID:       "lifecycle.initialize-not-batched",
	Title:    "initialize as a message of its own",
	Why:      "Before initialize is answered nobody knows whether the server takes batches.",
	Fix:      "Send initialize alone.",
	Convicts: "an initialize request inside an array",
	On: []judge.On{{Kind: judge.Request, From: judge.Client, Methods: []string{"initialize"}, Do: func(e *judge.Event) {
		if e.Msg.Element >= 0 || e.Frame.Flags&capture.Batch != 0 {
			e.Bad("initialize is part of a batch")
			return
		}
		e.OK()
	}}},
}
