package checks

import (
	"maps"
	"slices"
	"strings"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// need is a capability that a use of the protocol needs.
type need struct {
	use  string // such as "tools/call"
	side mcp.Side
	path string
	when string // it is only needed where this is declared: what is missing altogether is told once
	in   mcp.Revisions
}

type sending struct {
	from   judge.Actor
	method string
}

// gates are the needs of methods, by who sends them.
var gates = func() map[sending]*need {
	all := map[sending]*need{}
	for _, side := range [2]mcp.Side{mcp.Client, mcp.Server} {
		for _, c := range mcp.Capabilities(side, mcp.NoRevision) {
			for _, name := range c.Gates {
				m := mcp.Lookup(name)
				from := judge.Client
				if m.Notification && m.FromServer != 0 || !m.Notification && side == mcp.Client {
					from = judge.Server // asks what the client declares, or tells of its own
				}
				all[sending{from, name}] = &need{use: name, side: side, path: c.Path, in: c.In}
			}
		}
	}
	return all
}()

// gatedMethods are those that may need a capability.
var gatedMethods = func() []string {
	names := map[string]bool{}
	for s := range maps.Keys(gates) {
		names[s.method] = true
	}
	return slices.Sorted(maps.Keys(names))
}()

// What params need.
var (
	needsURLMode  = &need{"elicitation/create with mode url", mcp.Client, "elicitation.url", "elicitation", in2025Nov}
	needsFormMode = &need{"elicitation/create with mode form", mcp.Client, "elicitation.form", "elicitation.url", in2025Nov}
	needsTools    = &need{"sampling/createMessage with tools", mcp.Client, "sampling.tools", "sampling", in2025Nov}
	needsTask     = &need{"tools/call as a task", mcp.Server, "tasks.requests.tools.call", "tools", in2025Nov}
)

// needOf returns what the params of a gated message need beyond what its method does,
// nil if nothing.
func needOf(e *judge.Event) *need {
	params := e.Msg.Params
	switch {
	case e.Kind != judge.Request:
	case e.Method == "tools/call" && e.From == judge.Client && params.Get("task").Exists():
		return needsTask
	case e.From != judge.Server:
	case e.Method == "sampling/createMessage" && (params.Get("tools").Exists() || params.Get("toolChoice").Exists()):
		return needsTools
	case e.Method == "elicitation/create":
		mode := params.Get("mode")
		text, _ := mode.Str()
		switch {
		case text == "url":
			return needsURLMode
		case text == "form", !mode.Exists():
			return needsFormMode
		}
	}
	return nil
}

// declaring is a set of declared capabilities.
type declaring interface {
	Has(path string) bool
	Lacks(path string) bool
}

// inResult are the capabilities of an initialize result that nobody has read so far.
type inResult struct{ jsontree.Node }

func (n inResult) Has(path string) bool {
	node := n.Node
	for name := range strings.SplitSeq(path, ".") {
		node = node.Get(name)
	}
	on, isBool := node.Bool()
	return node.Exists() && node.Kind() != jsontree.Null && (on || !isBool)
}

func (n inResult) Lacks(path string) bool { return !n.Has(path) }

// earlyUse is a gated message that came before the capabilities were known.
type earlyUse struct {
	seq  uint64
	from judge.Actor
	need *need
}

// maxEarlyUses is how many of them are remembered; a session has few or is hopeless.
const maxEarlyUses = 64

var lifecycleNegotiatedCapabilitiesOnly = &judge.Check{
	ID:       "lifecycle.negotiated-capabilities-only",
	Title:    "use of capabilities",
	Why:      "The other side need not know what was not declared: it may refuse, drop or never expect it.",
	Fix:      "Declare the capability in the initialize exchange, or do not use what needs it.",
	Convicts: "a request or notification that needs a capability which the initialize exchange does not declare",
	Exempts:  "ping, progress and cancellation, which need none; methods of extensions; sessions whose initialize was not seen",
	New:      func() any { return new([]earlyUse) },
	On: []judge.On{
		{Kind: judge.Asking, Methods: gatedMethods, Do: func(e *judge.Event) {
			if modernMarked(e) {
				return
			}
			judgeNeed(e, gates[sending{e.From, e.Method}])
			judgeNeed(e, needOf(e))
			noteContext(e)
		}},
		onInitialized(func(e *judge.Event) {
			list := judge.State[*[]earlyUse](e)
			rev, from := e.Revision, e.From
			if rev == mcp.NoRevision {
				text, _ := e.Msg.Result.Get("protocolVersion").Str()
				rev = mcp.ParseRevision(text)
			}
			for _, m := range *list {
				e.From = m.from // who is to blame
				m.need.judge(e, m.seq, rev, inResult{e.Msg.Result.Get("capabilities")})
			}
			e.From, *list = from, nil
		}),
	},
}

// judgeNeed judges whether a need of the message at hand is met.
func judgeNeed(e *judge.Event, n *need) {
	switch {
	case n == nil:
	case !e.OneClient():
	case e.Facts.Result != 0:
		n.judge(e, e.Seq, e.Revision, e.Facts.ServerCaps)
	default:
		if e.Pinned() && n.in.Has(e.Revision) {
			e.OK()
		}
		if list := judge.State[*[]earlyUse](e); len(*list) < maxEarlyUses {
			*list = append(*list, earlyUse{e.Seq, e.From, n})
		}
	}
}

// judge convicts a frame that needs what neither was declared in the request nor is in
// the capabilities of the server.
func (n *need) judge(e *judge.Event, seq uint64, rev mcp.Revision, server declaring) {
	caps := server
	if n.side == mcp.Client {
		caps = e.Facts.ClientCaps
	}
	switch {
	case !n.in.Has(rev), n.when != "" && !caps.Has(n.when):
	case caps.Lacks(n.path):
		e.BadAtf(seq, "%s needs the capability %s, which the %s did not declare", n.use, n.path, n.side)
	case caps.Has(n.path):
		e.OK()
	}
}

// noteContext tells of what is advised against where the client does not declare it.
func noteContext(e *judge.Event) {
	if e.Method != "sampling/createMessage" || e.Facts.Result == 0 || e.Revision != mcp.V2025_11_25 || !e.Facts.ClientCaps.Lacks("sampling.context") {
		return
	}
	if context, ok := e.Msg.Params.Get("includeContext").Str(); ok && context != "none" {
		e.Notef("sampling/createMessage asks for the context %s, and the client did not declare sampling.context", quote(context))
	}
}

var versioningMethodInRevision = &judge.Check{
	ID:       "versioning.method-in-revision",
	Title:    "methods of the negotiated revision",
	Why:      "The other side speaks the negotiated revision, and knows nothing of methods that came later or are gone.",
	Fix:      "Negotiate the revision that has the method, or do without it.",
	Convicts: "a request or notification after the handshake with a method of another published revision that the negotiated one does not have",
	Exempts:  "methods that no revision defines and those of extensions; messages that declare a version without handshake",
	On: []judge.On{{Kind: judge.Asking, Methods: datedMethods, Do: func(e *judge.Event) {
		if e.Facts.Result == 0 || e.Revision == mcp.NoRevision || !e.OneClient() || !e.Follows(judge.Server, e.Facts.ResultAt) || modernMarked(e) {
			return
		}
		if coreRevisions(mcp.Lookup(e.Method)).Has(e.Revision) {
			e.OK()
			return
		}
		e.Badf("%s is not a method of %s, the negotiated revision", e.Method, e.Revision)
	}}},
}

// coreRevisions returns the revisions that define a method themselves.
func coreRevisions(m *mcp.Method) mcp.Revisions { return m.In() &^ m.Extension }

// datedMethods are those that some revisions have and some do not.
var datedMethods = func() (names []string) {
	for _, m := range mcp.Methods() {
		if in := coreRevisions(&m); in != 0 && in != mcp.AllRevisions {
			names = append(names, m.Name)
		}
	}
	return names
}()

var versioningRemovedMethod = &judge.Check{
	ID:       "versioning.removed-method",
	Title:    "methods that the declared version does not have",
	Why:      "A server of this version answers that it does not know the method, and drops such notifications.",
	Fix:      "Send the method in a session of a version that has it, or use what took its place.",
	Convicts: "a request or notification that declares a version without handshake and has a method of versions with one only",
	Exempts:  "messages that declare no version themselves",
	On: []judge.On{{Kind: judge.Asking, From: judge.Client, Methods: removedMethods, Do: func(e *judge.Event) {
		if !mcp.PerRequest(e.Revision) || !modernMarked(e) {
			e.OK()
			return
		}
		e.Badf("%s was sent as a message of %s, which has no such method", e.Method, e.Revision)
	}}},
}

// removedMethods are those of clients that the revisions without handshake do not have.
var removedMethods = func() (names []string) {
	for _, m := range mcp.Methods() {
		if m.FromClient != 0 && m.In()&^mcp.Legacy == 0 {
			names = append(names, m.Name)
		}
	}
	return names
}()
