package checks

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// annotation is the keyword that has an argument repeated in a header.
const annotation = "x-mcp-header"

// Limits of what is remembered of lists of tools. Beyond them the lists, or the tool, are
// forgotten, and nothing is concluded from them.
const (
	maxDesignating = 4096 // tools that have arguments repeated
	maxDesignated  = 64   // arguments of a tool
	maxPathText    = 1024 // of their names, a path
	maxWalk        = 64   // deep
)

// crossing is how long a call may have been on its way when a list passed that changed the tool.
const crossing = time.Second

// typeSet is what types a schema allows.
type typeSet uint8

const (
	typeInteger typeSet = 1 << iota
	typeString
	typeBoolean
	typeNull
	typeOther // that cannot be repeated in a header
)

// designated is an argument to be repeated in a header.
type designated struct {
	name, key string // of the header
	path      []string
	types     typeSet // 0 if the schema says nothing
}

// designating is a tool that has arguments repeated.
type designating struct {
	schema  uint64 // its hash
	at      session.Instant
	changed bool // it was listed otherwise before
	stale   bool // the list has changed since
	invalid bool // clients must not take it
	params  []designated
}

// toolHeaders keeps the tools that have arguments repeated, by the hash of their name, as
// they were listed last.
var toolHeaders = &judge.Tracker{
	New: func() any { return map[uint64]*designating{} },
	On: []judge.On{
		{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: func(e *judge.Event) {
			known := judge.State[map[uint64]*designating](e)
			if len(known) == 0 && !annotates(e.Msg.Result) {
				return
			}
			for tool := range e.Msg.Result.Get("tools").Elements() {
				if name, ok := tool.Get("name").StrBytes(); ok {
					learnDesignations(e, known, judge.Hash(name), tool.Get("inputSchema"))
				}
			}
		}},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{"notifications/tools/list_changed"}, Do: func(e *judge.Event) {
			for _, tool := range judge.State[map[uint64]*designating](e) {
				tool.stale = true
			}
		}},
	},
}

// annotates reports whether there may be an annotation, at the price of one search.
func annotates(n jsontree.Node) bool { return bytes.Contains(n.Text(), []byte(annotation)) }

func learnDesignations(e *judge.Event, known map[uint64]*designating, name uint64, schema jsontree.Node) {
	if !schema.Exists() || !annotates(schema) {
		delete(known, name)
		return
	}
	hash := judge.Hash(schema.Text())
	if tool := known[name]; tool != nil && tool.schema == hash {
		tool.stale = false
		return
	}
	tool := &designating{schema: hash, at: e.At, changed: known[name] != nil}
	for path, found := range annotations(schema) {
		header, ok := found.Get(annotation).Str()
		key := mcp.ParamHeaders + strings.ToLower(header)
		if slices.ContainsFunc(tool.params, func(p designated) bool { return p.key == key }) || !ok || !isHeaderToken(header) ||
			len(tool.params) >= maxDesignated || pathText(path) > maxPathText {
			tool.invalid = true
			break
		}
		types := typesOf(found)
		tool.invalid = tool.invalid || types&typeOther != 0
		tool.params = append(tool.params, designated{"Mcp-Param-" + header, key, slices.Clone(path), types})
	}
	for range strayAnnotations(schema) {
		tool.invalid = true
		break
	}
	if tool.invalid {
		tool.params = nil
	}
	makeRoom(known, maxDesignating)
	known[name] = tool
}

func pathText(path []string) (n int) {
	for _, name := range path {
		n += len(name)
	}
	return n
}

// designatedFor returns what is known for certain of the tool that a call is for: what
// its client was told last, some time before.
func designatedFor(e *judge.Event) *designating {
	known := judge.Of[map[uint64]*designating](e, toolHeaders)
	if len(known) == 0 {
		return nil
	}
	name, ok := e.Msg.Params.Get("name").StrBytes()
	tool := known[judge.Hash(name)]
	if !ok || tool == nil || tool.stale || tool.invalid || !e.OneClient() || !e.Follows(judge.Server, tool.at) {
		return nil
	}
	if tool.changed && !e.Pinned() && e.At.Sub(tool.at) < crossing {
		return nil
	}
	return tool
}

// typesOf reads the types that a schema declares.
func typesOf(schema jsontree.Node) (types typeSet) {
	declared := schema.Get("type")
	if one, ok := declared.Str(); ok {
		if types = typeNamed(one); types == typeNull {
			types |= typeOther // nothing at all can be repeated
		}
		return types
	}
	for one := range declared.Elements() {
		name, _ := one.Str()
		types |= typeNamed(name)
	}
	return types
}

func typeNamed(name string) typeSet {
	switch name {
	case "integer":
		return typeInteger
	case "string":
		return typeString
	case "boolean":
		return typeBoolean
	case "null":
		return typeNull
	}
	return typeOther
}

// isHeaderToken reports whether text can be part of the name of a header.
func isHeaderToken(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return text != ""
}
