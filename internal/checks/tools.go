package checks

import (
	"strings"
	"unicode/utf8"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
)

var toolsNameCharset = &judge.Check{
	ID:       "tools.name-charset",
	Title:    "characters of tool names",
	Why:      "Clients build identifiers from tool names; many models refuse functions whose names hold other characters.",
	Fix:      "Name the tool with ASCII letters, digits, underscore, hyphen and dot, and put what people read into title.",
	Convicts: "a tool of a tools/list result whose name holds any other character",
	Exempts:  "an empty name, which is tools.name-length's",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		eachTool(e, func(name string) {
			if odd := strings.Map(inToolName, name); odd != "" {
				e.Badf("tool name %s contains characters outside A-Z, a-z, 0-9, underscore, hyphen, and dot: %s", quote(name), quote(odd))
				return
			}
			e.OK()
		})
	}}},
}

// inToolName drops the characters that names of tools may hold.
func inToolName(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
		return -1
	}
	return r
}

var toolsNameLength = &judge.Check{
	ID:       "tools.name-length",
	Title:    "length of tool names",
	Why:      "Models and their interfaces bound the names of functions; a tool whose name is empty or very long cannot be offered to them.",
	Fix:      "Keep names between 1 and 128 characters, and put what people read into title.",
	Convicts: "a tool of a tools/list result whose name is empty or has more than 128 characters",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		eachTool(e, func(name string) {
			if n := utf8.RuneCountInString(name); n == 0 || n > maxToolName {
				e.Badf("tool name %s has %d characters, not 1 to %d", quote(name), n, maxToolName)
				return
			}
			e.OK()
		})
	}}},
}

// maxToolName is how many characters the name of a tool may have.
const maxToolName = 128

var toolsNameUnique = &judge.Check{
	ID:       "tools.name-unique",
	Title:    "tools of the same name",
	Why:      "A call names its tool and nothing else: of two tools of one name only one can be called, and nobody knows which.",
	Fix:      "Give each tool a name of its own; one that gathers tools of several servers puts the server's name before them.",
	Convicts: "a tool of a tools/list result whose name another one of that result has",
	Exempts:  "names that differ in case; a name that stands on two pages of one list, which may just have moved while it was read: that is a note",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		p := &listsOf(e).page
		seen := make(map[uint64]struct{}, p.names.n)
		eachTool(e, func(name string) {
			h := judge.Hash([]byte(name))
			if _, twice := seen[h]; twice {
				e.Badf("tool name %s stands twice in one list", quote(name))
				return
			}
			seen[h] = struct{}{}
			e.OK()
			if p.ok && p.known && p.chain.names != nil && p.chain.names[h] < p.index {
				e.Notef("tool name %s stood on an earlier page of this list already", quote(name))
			}
		})
	}}},
}

var toolsInputSchemaObject = &judge.Check{
	ID:       "tools.input-schema-object",
	Title:    "input schemas of tools",
	Why:      "Clients hand the schema to the model as it is. Many refuse the whole list, or the whole server, for one tool without a proper one.",
	Fix:      "Send {\"type\":\"object\"} for a tool without parameters, and a JSON Schema of type object otherwise.",
	Convicts: "a tool of a tools/list result whose inputSchema is missing or no object, or whose inputSchema has another type than \"object\" or none",
	Exempts:  "what else the schema says",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		for tool := range e.Msg.Result.Get("tools").Elements() {
			if tool.Kind() != jsontree.Object {
				continue
			}
			if fault := inputSchemaFault(tool.Get("inputSchema")); fault != "" {
				name, _ := tool.Get("name").Str()
				e.Badf("inputSchema of tool %s %s", quote(name), fault)
				continue
			}
			e.OK()
		}
	}}},
}

func inputSchemaFault(schema jsontree.Node) string {
	if !schema.Exists() {
		return "is missing"
	}
	if schema.Kind() != jsontree.Object {
		return "is no object but " + quoteJSON(schema.Text())
	}
	kind := schema.Get("type")
	if text, _ := kind.StrBytes(); string(text) == "object" {
		return ""
	}
	if !kind.Exists() {
		return "has no type"
	}
	return "is of type " + quoteJSON(kind.Text()) + ", not \"object\""
}

// order is how a page of tools was ordered when it was seen last.
type order struct {
	names digest
	more  bool
	asked uint64
}

// maxPositions is how many pages are remembered; beyond, all are forgotten.
const maxPositions = 1 << 10

var toolsDeterministicOrder = &judge.Check{
	ID:       "tools.deterministic-order",
	Title:    "order of tools in lists",
	Why:      "Clients put the list into the prompt. If it comes in another order each time, nothing that the model's provider caches is ever used again.",
	Fix:      "Sort the tools, or keep them in the order in which they were registered; do not list them in the order of a hash table.",
	Convicts: "a list, or a page of one, with exactly the tools that it had when it was fetched last, in another order",
	Exempts:  "lists with other tools than last time; single pages if the list was said to have changed; traffic that several clients may share",
	New:      func() any { return map[uint64]order{} },
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		l := listsOf(e)
		p, last := &l.page, judge.State[map[uint64]order](e)
		if !p.ok || !e.AsOneClient() {
			return
		}
		before, seen := last[p.key]
		makeRoom(last, maxPositions)
		last[p.key] = order{p.names, p.more, e.Request.Seq}
		single := !p.continues && !p.more
		switch {
		case seen && before.more == p.more && sameNames(before.names, p.names) && (single || l.of[toolList].changed < before.asked):
			if p.chain != nil {
				p.chain.compared = true
			}
			judgeOrder(e, before.names, p.names)
		case p.whole && !single && !p.chain.compared && sameNames(p.last.digest, p.listing.digest):
			judgeOrder(e, p.last.digest, p.listing.digest)
		}
	}}},
}

func sameNames(a, b digest) bool { return a.n > 0 && a.n == b.n && a.set == b.set }

func judgeOrder(e *judge.Event, before, now digest) {
	if before.ordered != now.ordered {
		e.Badf("the same %d tools as in the list before, in another order", now.n)
		return
	}
	e.OK()
}

// eachTool calls do with the names of the tools of a list; those without one are left out.
func eachTool(e *judge.Event, do func(name string)) {
	for tool := range e.Msg.Result.Get("tools").Elements() {
		if name, ok := tool.Get("name").Str(); ok {
			do(name)
		}
	}
}
