package mcp

import "slices"

// Capability is something a side may declare that it can do.
type Capability struct {
	Side       Side      // who declares it
	Path       string    // member names from the capabilities object down, joined by dots
	In         Revisions // that know it
	Deprecated Revisions // that advise against it
	Gates      []string  // methods nobody may send while it is not declared
}

// capabilities is section 16 of the facts. Whatever a gate says, completion/complete
// was free in 2024-11-05, and resources.subscribe no longer gates in 2026-07-28: an
// acknowledgement leaves out what the server will not do.
var capabilities = [...]Capability{
	{Side: Server, Path: "tools", In: AllRevisions, Gates: []string{"tools/list", "tools/call"}},
	{Side: Server, Path: "tools.listChanged", In: AllRevisions, Gates: []string{"notifications/tools/list_changed"}},
	{Side: Server, Path: "resources", In: AllRevisions, Gates: []string{"resources/list", "resources/read", "resources/templates/list"}},
	{Side: Server, Path: "resources.subscribe", In: AllRevisions, Gates: []string{"resources/subscribe", "resources/unsubscribe", "notifications/resources/updated"}},
	{Side: Server, Path: "resources.listChanged", In: AllRevisions, Gates: []string{"notifications/resources/list_changed"}},
	{Side: Server, Path: "prompts", In: AllRevisions, Gates: []string{"prompts/list", "prompts/get"}},
	{Side: Server, Path: "prompts.listChanged", In: AllRevisions, Gates: []string{"notifications/prompts/list_changed"}},
	{Side: Server, Path: "completions", In: since2025Mar, Gates: []string{"completion/complete"}},
	{Side: Server, Path: "logging", In: AllRevisions, Deprecated: only2026Jul, Gates: []string{"logging/setLevel", "notifications/message"}},
	{Side: Server, Path: "tasks", In: only2025Nov, Gates: []string{"tasks/get", "tasks/result"}},
	{Side: Server, Path: "tasks.list", In: only2025Nov, Gates: []string{"tasks/list"}},
	{Side: Server, Path: "tasks.cancel", In: only2025Nov, Gates: []string{"tasks/cancel"}},
	{Side: Server, Path: "tasks.requests.tools.call", In: only2025Nov}, // params.task on tools/call
	{Side: Server, Path: "experimental", In: AllRevisions},
	{Side: Server, Path: "extensions", In: only2026Jul},

	{Side: Client, Path: "roots", In: AllRevisions, Deprecated: only2026Jul, Gates: []string{"roots/list"}},
	{Side: Client, Path: "roots.listChanged", In: Legacy, Gates: []string{"notifications/roots/list_changed"}},
	{Side: Client, Path: "sampling", In: AllRevisions, Deprecated: only2026Jul, Gates: []string{"sampling/createMessage"}},
	{Side: Client, Path: "sampling.tools", In: since2025Nov},   // tools and toolChoice in sampling/createMessage
	{Side: Client, Path: "sampling.context", In: since2025Nov}, // includeContext thisServer and allServers
	{Side: Client, Path: "elicitation", In: since2025Jun, Gates: []string{"elicitation/create"}},
	{Side: Client, Path: "elicitation.form", In: since2025Nov}, // mode form; {} means this one
	{Side: Client, Path: "elicitation.url", In: since2025Nov, Gates: []string{"notifications/elicitation/complete"}},
	{Side: Client, Path: "tasks", In: only2025Nov, Gates: []string{"tasks/get", "tasks/result"}},
	{Side: Client, Path: "tasks.list", In: only2025Nov, Gates: []string{"tasks/list"}},
	{Side: Client, Path: "tasks.cancel", In: only2025Nov, Gates: []string{"tasks/cancel"}},
	{Side: Client, Path: "tasks.requests.sampling.createMessage", In: only2025Nov}, // params.task on it
	{Side: Client, Path: "tasks.requests.elicitation.create", In: only2025Nov},
	{Side: Client, Path: "experimental", In: AllRevisions},
	{Side: Client, Path: "extensions", In: only2026Jul},
}

// Capabilities returns the capabilities that a side can declare in a revision; all
// it ever could for [NoRevision]. Parents come before what lies in them.
func Capabilities(s Side, r Revision) (known []Capability) {
	for _, c := range capabilities {
		if c.Side == s && (r == NoRevision || c.In.Has(r)) {
			c.Gates = slices.Clone(c.Gates)
			known = append(known, c)
		}
	}
	return known
}
