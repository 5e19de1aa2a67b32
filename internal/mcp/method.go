package mcp

// Side is one of the two peers.
type Side uint8

// The sides.
const (
	Client Side = iota + 1
	Server
)

// String returns "client" or "server".
func (s Side) String() string {
	switch s {
	case Client:
		return "client"
	case Server:
		return "server"
	}
	return ""
}

// Method is a method of a request or a notification.
type Method struct {
	Name         string
	Notification bool
	FromClient   Revisions // in which clients may send it
	FromServer   Revisions // in which servers may send it
	Nested       Revisions // in which it is an entry of inputRequests, without an id
	Extension    Revisions // in which the tasks extension defines it, not the core
	Target       string    // the param that names what it is about: name, uri or taskId
	List         string    // the member of the result that holds one page of a list
	Cacheable    bool      // its result has ttlMs and cacheScope where results have a type
	AsksInput    bool      // it may be answered by input_required where results have a type
}

// In returns the revisions in which the method is a message of its own.
func (m *Method) In() Revisions { return m.FromClient | m.FromServer }

// From reports whether a side may send the method in a revision.
func (m *Method) From(s Side, r Revision) bool {
	switch s {
	case Client:
		return m.FromClient.Has(r)
	case Server:
		return m.FromServer.Has(r)
	}
	return false
}

// The params that name the target of a method.
const (
	nameParam = "name"
	uriParam  = "uri"
	taskParam = "taskId"
)

// methods is section 2 of the facts: each method once, in the order of the
// specification's pages. Not told here: in 2026-07-28 a client sends
// notifications/cancelled on stdio only, a server only to end a subscription.
var methods = [...]Method{
	{Name: "initialize", FromClient: Legacy},
	{Name: "notifications/initialized", Notification: true, FromClient: Legacy},
	{Name: "server/discover", FromClient: only2026Jul, Cacheable: true},
	{Name: "ping", FromClient: Legacy, FromServer: Legacy},

	{Name: "tools/list", FromClient: AllRevisions, List: "tools", Cacheable: true},
	{Name: "tools/call", FromClient: AllRevisions, Target: nameParam, AsksInput: true},
	{Name: "notifications/tools/list_changed", Notification: true, FromServer: AllRevisions},

	{Name: "resources/list", FromClient: AllRevisions, List: "resources", Cacheable: true},
	{Name: "resources/templates/list", FromClient: AllRevisions, List: "resourceTemplates", Cacheable: true},
	{Name: "resources/read", FromClient: AllRevisions, Target: uriParam, Cacheable: true, AsksInput: true},
	{Name: "resources/subscribe", FromClient: Legacy, Target: uriParam},
	{Name: "resources/unsubscribe", FromClient: Legacy, Target: uriParam},
	{Name: "notifications/resources/list_changed", Notification: true, FromServer: AllRevisions},
	{Name: "notifications/resources/updated", Notification: true, FromServer: AllRevisions, Target: uriParam},

	{Name: "prompts/list", FromClient: AllRevisions, List: "prompts", Cacheable: true},
	{Name: "prompts/get", FromClient: AllRevisions, Target: nameParam, AsksInput: true},
	{Name: "notifications/prompts/list_changed", Notification: true, FromServer: AllRevisions},

	{Name: "completion/complete", FromClient: AllRevisions},
	{Name: "logging/setLevel", FromClient: Legacy},
	{Name: "notifications/message", Notification: true, FromServer: AllRevisions},

	{Name: "subscriptions/listen", FromClient: only2026Jul},
	{Name: "notifications/subscriptions/acknowledged", Notification: true, FromServer: only2026Jul},

	{Name: "sampling/createMessage", FromServer: Legacy, Nested: only2026Jul},
	{Name: "elicitation/create", FromServer: legacySince25Jun, Nested: only2026Jul},
	{Name: "notifications/elicitation/complete", Notification: true, FromServer: only2025Nov},
	{Name: "roots/list", FromServer: Legacy, Nested: only2026Jul},
	{Name: "notifications/roots/list_changed", Notification: true, FromClient: Legacy},

	{Name: "tasks/get", FromClient: since2025Nov, FromServer: only2025Nov, Extension: only2026Jul, Target: taskParam},
	{Name: "tasks/result", FromClient: only2025Nov, FromServer: only2025Nov, Target: taskParam},
	{Name: "tasks/list", FromClient: only2025Nov, FromServer: only2025Nov, List: "tasks"},
	{Name: "tasks/cancel", FromClient: since2025Nov, FromServer: only2025Nov, Extension: only2026Jul, Target: taskParam},
	{Name: "tasks/update", FromClient: only2026Jul, Extension: only2026Jul, Target: taskParam},
	{Name: "notifications/tasks/status", Notification: true, FromClient: only2025Nov, FromServer: only2025Nov, Target: taskParam},
	{Name: "notifications/tasks", Notification: true, FromServer: only2026Jul, Extension: only2026Jul, Target: taskParam},

	{Name: "notifications/progress", Notification: true, FromClient: Legacy, FromServer: AllRevisions},
	{Name: "notifications/cancelled", Notification: true, FromClient: AllRevisions, FromServer: AllRevisions},
}

var methodByName = func() map[string]*Method {
	byName := make(map[string]*Method, len(methods))
	for i := range methods {
		byName[methods[i].Name] = &methods[i]
	}
	return byName
}()

// Lookup returns the method of that name, nil if no revision and no extension we
// know has one. It must not be changed.
func Lookup(name string) *Method { return methodByName[name] }

// Methods returns all methods, related ones together.
func Methods() []Method {
	all := methods
	return all[:]
}

// TargetParam returns the param that names what a method is about, "" if none does.
func TargetParam(method string) string {
	if m := Lookup(method); m != nil {
		return m.Target
	}
	return ""
}
