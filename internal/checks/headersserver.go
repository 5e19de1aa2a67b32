package checks

import (
	"fmt"
	"slices"
	"strings"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var transportXMCPHeaderNameValid = &judge.Check{
	ID:       "transport.x-mcp-header-name-valid",
	Title:    "names of headers that repeat arguments",
	Why:      "HTTP clients must leave out a tool with a bad annotation: for them it is not there.",
	Fix:      "Name the header with a short word of ASCII letters, digits and hyphens, each name once in a tool, on arguments of type string, integer or boolean.",
	Convicts: "an x-mcp-header that is no string, is empty or no token, is repeated in the tool but for case, or stands on an argument of another type",
	Exempts:  "an argument that declares no type, or may also be null: noted",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		if !annotates(e.Msg.Result) {
			return
		}
		for tool := range e.Msg.Result.Get("tools").Elements() {
			name, _ := tool.Get("name").Str()
			judgeAnnotations(e, quote(name), tool.Get("inputSchema"))
		}
	}}},
}

// judgeAnnotations judges the annotations of a tool.
func judgeAnnotations(e *judge.Event, tool string, schema jsontree.Node) {
	var seen []string
	for path, property := range annotations(schema) {
		at := fmt.Sprintf("tool %s, argument %s", tool, quote(strings.Join(path, ".")))
		note := property.Get(annotation)
		name, ok := note.Str()
		if !ok {
			if note.Kind() != jsontree.Object { // else a property that stands too high
				e.Bad(at + ": x-mcp-header is no string")
			}
			continue
		}
		types := typesOf(property)
		list := annotationFaults(name, seen, types)
		for _, fault := range list {
			e.Bad(at + ": " + fault)
		}
		if list == nil {
			e.OK()
			if types == 0 || types&typeNull != 0 {
				e.Note(at + ": x-mcp-header stands on an argument that may be other than a string, an integer or a boolean")
			}
		}
		seen = append(seen, strings.ToLower(name))
	}
}

// annotationFaults lists what is wrong with an annotation.
func annotationFaults(name string, seen []string, types typeSet) (list []string) {
	switch {
	case name == "":
		list = append(list, "x-mcp-header is empty")
	case !isHeaderToken(name):
		list = append(list, fmt.Sprintf("x-mcp-header %s cannot be part of a header's name", quote(name)))
	}
	if name != "" && slices.Contains(seen, strings.ToLower(name)) {
		list = append(list, fmt.Sprintf("x-mcp-header %s names the header of another argument", quote(name)))
	}
	if types&typeOther != 0 {
		list = append(list, fmt.Sprintf("x-mcp-header %s stands on what is no string, integer or boolean", quote(name)))
	}
	return list
}

var transportXMCPHeaderReachable = &judge.Check{
	ID:       "transport.x-mcp-header-reachable",
	Title:    "places of x-mcp-header",
	Why:      "Clients find the value by the names of properties alone; HTTP clients must leave out a tool that annotates anything else.",
	Fix:      "Annotate properties that are reached from the root of inputSchema through properties only.",
	Convicts: "an x-mcp-header on the schema itself, or under any other keyword that holds schemas",
	Exempts:  "what is data, such as default, examples, const and enum",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
		if !annotates(e.Msg.Result) {
			return
		}
		for tool := range e.Msg.Result.Get("tools").Elements() {
			name, _ := tool.Get("name").Str()
			schema := tool.Get("inputSchema")
			stray := false
			for keyword := range strayAnnotations(schema) {
				stray = true
				if keyword == "" {
					e.Badf("tool %s: x-mcp-header stands on the schema of all arguments", quote(name))
					continue
				}
				e.Badf("tool %s: x-mcp-header stands under %s", quote(name), keyword)
			}
			if !stray && annotates(schema) {
				e.OK()
			}
		}
	}}},
}

var transportInvalidParamHeaderRejected = &judge.Check{
	ID:       "transport.invalid-param-header-rejected",
	Title:    "refusal of Mcp-Param-* values that no header can hold",
	Why:      "Such a value means something else to each program that reads it; served, it passes what goes by the header.",
	Fix:      "Check the Mcp-Param-* headers of the tool before the call, and answer with 400 and -32020.",
	Convicts: "a result for a call with a header of the tool that is neither encoded nor plain ASCII",
	Exempts:  "other errors, for which the request may have given cause as well: they are noted",
	On: onAnswers(judge.Answer, func(e *judge.Event) {
		o, ok := owes.Get(e.Request)
		if !ok {
			return
		}
		for _, name := range o.unfit {
			switch code := codeOf(e); {
			case e.Kind == judge.Result:
				e.Badf("id %s was served although its %s is neither encoded nor plain ASCII", e.Request.ID, name)
			case code == mcp.HeaderMismatch:
				e.OK()
			default:
				e.Notef("id %s has a bad %s and was refused with %d, not %d", e.Request.ID, name, code, mcp.HeaderMismatch)
			}
		}
	}),
}

var transportHeaderBodyMatchValidated = &judge.Check{
	ID:       "transport.header-body-match-validated",
	Title:    "refusal of requests whose headers and body differ",
	Why:      "Who may send one thing in the header and another in the body gets past whatever checks the header.",
	Fix:      "Compare Mcp-Method, Mcp-Name and the Mcp-Param-* headers of the tool with the body, decoded, and answer a difference with 400 and -32020.",
	Convicts: "a result for a request with such a header that is not what the body says",
	Exempts:  "arguments of tools that are not listed, are badly annotated or have changed since; numbers are compared as numbers",
	On: onAnswers(judge.Result, func(e *judge.Event) {
		o, _ := owes.Get(e.Request)
		if o != nil {
			for _, wrong := range o.wrong {
				e.Badf("id %s was served although its %s", e.Request.ID, wrong)
			}
			if o.wrong != nil {
				return
			}
		}
		if _, ok := e.Request.Post.Head(mcp.MethodHeader); ok {
			e.OK()
		}
	}),
}
