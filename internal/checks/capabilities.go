package checks

import (
	"fmt"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// Fields that the checks of declared capabilities share.
const (
	whyDeclare    = "Clients ask for what is declared only: what is not declared is never found."
	exemptsUndone = "sessions of which the initialize exchange was not seen"
	exemptsUnread = "servers whose answer to server/discover was not seen so far"
)

// negotiated judges an event that shows that the server has a capability, in a session
// whose initialize exchange says whether it declared it.
func negotiated(e *judge.Event, path, did, what string) {
	switch {
	case e.Facts.Result == 0:
		if e.Pinned() {
			e.OK() // nothing says otherwise
		}
	case !e.OneClient():
	case e.Facts.ServerCaps.Lacks(path):
		e.Badf("the server %s %s, though the initialize result does not declare %s", did, what, path)
	case e.Facts.ServerCaps.Has(path):
		e.OK()
	}
}

// served binds negotiated to results of methods.
func served(path string, methods ...string) []judge.On {
	return []judge.On{{Kind: judge.Result, From: judge.Server, Methods: methods, Do: func(e *judge.Event) {
		negotiated(e, path, "answered", e.Method)
	}}}
}

// evidence is what a server showed of itself before it was asked to declare it. Its
// declaration does not change as it runs, so that a late one counts as well.
type evidence struct {
	seq  uint64
	what string
}

// maxEvidence is how much of that is remembered, from the beginning.
const maxEvidence = 64

// discovered judges what shows a capability, by the answer to server/discover.
func discovered(e *judge.Event, path, did, what string) {
	if e.Facts.Discovered {
		judgeDeclared(e, e.Facts.DiscoverCaps, e.Seq, path, did, what)
		return
	}
	if list := judge.State[*[]evidence](e); len(*list) < maxEvidence {
		*list = append(*list, evidence{e.Seq, what})
	}
}

// judgeDeclared convicts a server that does not declare what it shows.
func judgeDeclared(e *judge.Event, caps declaring, seq uint64, path, did, what string) {
	switch {
	case caps.Lacks(path):
		e.BadAtf(seq, "the server %s %s, though server/discover does not declare %s", did, what, path)
	case caps.Has(path):
		e.OK()
	}
}

// onDiscovered calls do with the first answer to server/discover, once for each thing that
// was shown before.
func onDiscovered(do func(e *judge.Event, caps declaring, s evidence)) judge.On {
	return judge.On{Kind: judge.Result, From: judge.Server, Methods: []string{"server/discover"}, Do: func(e *judge.Event) {
		list := judge.State[*[]evidence](e)
		for _, s := range *list {
			do(e, inResult{e.Msg.Result.Get("capabilities")}, s)
		}
		*list = nil
	}}
}

func newEvidence() any { return new([]evidence) }

// discoveredOn binds discovered to events: shows says what one shows, "" if nothing.
func discoveredOn(path, did string, kind judge.Kind, shows func(e *judge.Event) string, methods ...string) []judge.On {
	return []judge.On{
		{Kind: kind, From: judge.Server, Methods: methods, Do: func(e *judge.Event) {
			if what := shows(e); what != "" {
				discovered(e, path, did, what)
			}
		}},
		onDiscovered(func(e *judge.Event, caps declaring, s evidence) { judgeDeclared(e, caps, s.seq, path, did, s.what) }),
	}
}

// servedOn binds discovered to results of methods.
func servedOn(path string, methods ...string) []judge.On {
	return discoveredOn(path, "answered", judge.Result, func(e *judge.Event) string { return e.Method }, methods...)
}

// Of revisions with a handshake.
var (
	toolsCapabilityDeclared = &judge.Check{
		ID:       "tools.capability-declared",
		Title:    "declaration of tools",
		Why:      whyDeclare,
		Fix:      "Declare tools in the initialize result.",
		Convicts: "a result of tools/list or tools/call from a server that did not declare tools",
		Exempts:  exemptsUndone,
		On:       served("tools", "tools/list", "tools/call"),
	}
	resourcesCapabilityDeclared = &judge.Check{
		ID:       "resources.capability-declared",
		Title:    "declaration of resources",
		Why:      whyDeclare,
		Fix:      "Declare resources in the initialize result.",
		Convicts: "a result of a resources method from a server that did not declare resources",
		Exempts:  exemptsUndone,
		On:       served("resources", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe"),
	}
	promptsCapabilityDeclared = &judge.Check{
		ID:       "prompts.capability-declared",
		Title:    "declaration of prompts",
		Why:      whyDeclare,
		Fix:      "Declare prompts in the initialize result.",
		Convicts: "a result of prompts/list or prompts/get from a server that did not declare prompts",
		Exempts:  exemptsUndone,
		On:       served("prompts", "prompts/list", "prompts/get"),
	}
	loggingCapabilityDeclared = &judge.Check{
		ID:       "logging.capability-declared",
		Title:    "declaration of logging",
		Why:      "Clients that do not expect log messages drop them.",
		Fix:      "Declare logging in the initialize result.",
		Convicts: "a log message of a server that did not declare logging",
		Exempts:  exemptsUndone,
		On: []judge.On{{Kind: judge.Notification, From: judge.Server, Methods: []string{"notifications/message"}, Do: func(e *judge.Event) {
			negotiated(e, "logging", "sent", "a log message")
		}}},
	}
	completionCapabilityDeclared = &judge.Check{
		ID:       "completion.capability-declared",
		Title:    "declaration of completions",
		Why:      whyDeclare,
		Fix:      "Declare completions in the initialize result.",
		Convicts: "a result of completion/complete from a server that did not declare completions",
		Exempts:  exemptsUndone,
		On:       served("completions", "completion/complete"),
	}
)

// Of revisions without one.
var (
	capabilitiesToolsDeclared = &judge.Check{
		ID:       "capabilities.tools-declared",
		Title:    "declaration of tools by server/discover",
		Why:      whyDeclare,
		Fix:      "Declare tools in the answer to server/discover.",
		Convicts: "a result of tools/list or tools/call from a server whose answer to server/discover does not declare tools",
		Exempts:  exemptsUnread,
		On:       servedOn("tools", "tools/list", "tools/call"),
		New:      newEvidence,
	}
	capabilitiesResourcesDeclared = &judge.Check{
		ID:       "capabilities.resources-declared",
		Title:    "declaration of resources by server/discover",
		Why:      whyDeclare,
		Fix:      "Declare resources in the answer to server/discover.",
		Convicts: "a result of a resources method from a server whose answer to server/discover does not declare resources",
		Exempts:  exemptsUnread,
		On:       servedOn("resources", "resources/list", "resources/templates/list", "resources/read"),
		New:      newEvidence,
	}
	capabilitiesPromptsDeclared = &judge.Check{
		ID:       "capabilities.prompts-declared",
		Title:    "declaration of prompts by server/discover",
		Why:      whyDeclare,
		Fix:      "Declare prompts in the answer to server/discover.",
		Convicts: "a result of prompts/list or prompts/get from a server whose answer to server/discover does not declare prompts",
		Exempts:  exemptsUnread,
		On:       servedOn("prompts", "prompts/list", "prompts/get"),
		New:      newEvidence,
	}
	capabilitiesCompletionsDeclared = &judge.Check{
		ID:       "capabilities.completions-declared",
		Title:    "declaration of completions by server/discover",
		Why:      whyDeclare,
		Fix:      "Declare completions in the answer to server/discover.",
		Convicts: "a result of completion/complete from a server whose answer to server/discover does not declare completions",
		Exempts:  exemptsUnread,
		On:       servedOn("completions", "completion/complete"),
		New:      newEvidence,
	}
	capabilitiesLoggingDeclared = &judge.Check{
		ID:       "capabilities.logging-declared",
		Title:    "declaration of logging by server/discover",
		Why:      "Clients that do not expect log messages drop them.",
		Fix:      "Declare logging in the answer to server/discover.",
		Convicts: "a log message of a server whose answer to server/discover does not declare logging",
		Exempts:  exemptsUnread,
		New:      newEvidence,
		On: discoveredOn("logging", "sent", judge.Notification, func(e *judge.Event) string {
			return "a log message"
		}, "notifications/message"),
	}
	capabilitiesEmbeddedResourceDeclared = &judge.Check{
		ID:       "capabilities.embedded-resource-declared",
		Title:    "declaration of resources by servers that embed them",
		Why:      "A client that was handed a resource may want to read it again, or to be told of changes.",
		Fix:      "Declare resources in the answer to server/discover, and serve what tools embed.",
		Convicts: "a tool result that embeds a resource from a server whose answer to server/discover does not declare resources",
		Exempts:  exemptsUnread,
		New:      newEvidence,
		On: discoveredOn("resources", "answered", judge.Result, func(e *judge.Event) string {
			for item := range e.Msg.Result.Get("content").Elements() {
				if kind, _ := item.Get("type").StrBytes(); string(kind) == "resource" {
					return "a tool call with an embedded resource"
				}
			}
			return ""
		}, "tools/call"),
	}
)

// implemented binds a check to answers to the list method of a declared capability.
func implemented(path, method string) []judge.On {
	fault := fmt.Sprintf("the server does not know %s, though server/discover declares %s", method, path)
	return []judge.On{
		{Kind: judge.Answer, From: judge.Server, Methods: []string{method}, Do: func(e *judge.Event) {
			what := ""
			if code, _ := e.Msg.Error.Get("code").Int(); code == mcp.MethodNotFound {
				what = fault
			}
			if e.Facts.Discovered {
				judgeList(e, e.Facts.DiscoverCaps, path, evidence{e.Seq, what})
			} else if list := judge.State[*[]evidence](e); len(*list) < maxEvidence {
				*list = append(*list, evidence{e.Seq, what})
			}
		}},
		onDiscovered(func(e *judge.Event, caps declaring, s evidence) { judgeList(e, caps, path, s) }),
	}
}

// judgeList convicts a server that declares a capability of what it lacks.
func judgeList(e *judge.Event, caps declaring, path string, s evidence) {
	switch {
	case !caps.Has(path):
	case s.what != "":
		e.BadAt(s.seq, s.what)
	default:
		e.OK()
	}
}

const whyList = "Clients list what is declared; without an answer they show nothing of it."

var (
	capabilitiesToolsListImplemented = &judge.Check{
		ID:       "capabilities.tools-list-implemented",
		Title:    "tools/list of a server that declares tools",
		Why:      whyList,
		Fix:      "Answer tools/list, with an empty list if need be, or do not declare tools.",
		Convicts: "tools/list answered with method not found by a server whose answer to server/discover declares tools",
		Exempts:  exemptsUnread,
		On:       implemented("tools", "tools/list"),
		New:      newEvidence,
	}
	capabilitiesResourcesListImplemented = &judge.Check{
		ID:       "capabilities.resources-list-implemented",
		Title:    "resources/list of a server that declares resources",
		Why:      whyList,
		Fix:      "Answer resources/list, with an empty list if need be, or do not declare resources.",
		Convicts: "resources/list answered with method not found by a server whose answer to server/discover declares resources",
		Exempts:  exemptsUnread,
		On:       implemented("resources", "resources/list"),
		New:      newEvidence,
	}
	capabilitiesPromptsListImplemented = &judge.Check{
		ID:       "capabilities.prompts-list-implemented",
		Title:    "prompts/list of a server that declares prompts",
		Why:      whyList,
		Fix:      "Answer prompts/list, with an empty list if need be, or do not declare prompts.",
		Convicts: "prompts/list answered with method not found by a server whose answer to server/discover declares prompts",
		Exempts:  exemptsUnread,
		On:       implemented("prompts", "prompts/list"),
		New:      newEvidence,
	}
)

var completionValuesLimit = &judge.Check{
	ID:       "completion.values-limit",
	Title:    "number of completions",
	Why:      "Clients make room for a hundred values; some refuse the answer if there are more.",
	Fix:      "Answer with the first hundred values, and set hasMore and total.",
	Convicts: "a completion/complete result with more than 100 values",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"completion/complete"}, Do: func(e *judge.Event) {
		values := e.Msg.Result.Path("completion", "values")
		if n := values.Len(); values.Kind() == jsontree.Array && n > maxCompletions {
			e.Badf("the answer holds %d values, %d are allowed", n, maxCompletions)
			return
		}
		e.OK()
	}}},
}

const maxCompletions = 100
