package checks

import (
	"fmt"
	"iter"
	"strings"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/jsontree"
)

var toolsNameCharset = &judge.Check{
	ID:       "tools.name-charset",
	Title:    "characters of tool names",
	Why:      "Clients build identifiers from tool names; many models refuse functions whose names hold other characters.",
	Fix:      "Name the tool with ASCII letters, digits, underscore, hyphen and dot, and put what people read into title.",
	Convicts: "a tool of a tools/list result whose name holds any other character",
	Exempts:  "an empty name, which is tools.name-length's",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		for name := range listedTools(e) {
			if odd := strings.Map(inToolName, name); odd != "" {
				e.Bad(fmt.Sprintf("tool name %q contains characters outside A-Z, a-z, 0-9, underscore, hyphen, and dot: %q", name, odd))
				continue
			}
			e.OK()
		}
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

// listedTools yields the tools of a list that have a name.
func listedTools(e *judge.Event) iter.Seq2[string, jsontree.Node] {
	return func(yield func(string, jsontree.Node) bool) {
		for tool := range e.Msg.Result.Get("tools").Elements() {
			if name, ok := tool.Get("name").Str(); ok && !yield(name, tool) {
				return
			}
		}
	}
}
