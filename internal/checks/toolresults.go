package checks

import (
	"bytes"
	"math"
	"sync"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var toolsEmbeddedResourceCapability = &judge.Check{
	ID:       "tools.embedded-resource-capability",
	Title:    "resources in tool results of a server without resources",
	Why:      "A client that is shown a resource wants to read it again later, and asks a server that never said it can.",
	Fix:      "Declare the resources capability, or send the text as a text block.",
	Convicts: "a tools/call result with a block of type resource while the initialize result does not declare resources",
	Exempts:  "results before the initialize result, or where that was not recorded in full; links to resources",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
		for block := range e.Msg.Result.Get("content").Elements() {
			if !typed(block, "resource") {
				continue
			}
			switch caps := e.Facts.ServerCaps; {
			case e.Facts.Result == 0:
			case caps.Has("resources"):
				e.OK()
			case caps.Lacks("resources"):
				e.Bad("the result embeds a resource, and the server did not declare the resources capability")
			}
			return
		}
	}}},
}

var toolsStructuredContentText = &judge.Check{
	ID:       "tools.structured-content-text",
	Title:    "text beside structured content",
	Why:      "Clients that know no structuredContent show the model the text alone: it is all that they learn of the result.",
	Fix:      "Put the same JSON, as text, into a block of type text.",
	Convicts: "a tools/call result with structuredContent and no block of type text whose text is the same JSON: member order, spacing and the spelling of numbers apart",
	Exempts:  "what the text says, where the call failed or structuredContent is null: there any text will do",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
		value := e.Msg.Result.Get("structuredContent")
		if !value.Exists() {
			return
		}
		hasText, same := false, false
		anyText := value.Kind() == jsontree.Null || isTrue(e.Msg.Result.Get("isError"))
		var want lazyHash
		for block := range e.Msg.Result.Get("content").Elements() {
			if typed(block, "text") {
				hasText = true
				if same = anyText || want.same(value, block.Get("text")); same {
					break
				}
			}
		}
		switch {
		case !hasText:
			e.Bad("structuredContent without a text block")
		case !same:
			e.Bad("structuredContent without a text block that holds the same JSON")
		default:
			e.OK()
		}
	}}},
}

// lazyHash is the hash of a JSON value, made when it is needed first.
type lazyHash struct {
	done bool
	hash uint64
}

// texts are trees for the JSON in text blocks.
var texts = sync.Pool{New: func() any { return new(jsontree.Tree) }}

// same reports whether text holds the JSON value.
func (l *lazyHash) same(value, text jsontree.Node) bool {
	if !maySpell(value.Kind(), text) {
		return false
	}
	spelled, ok := text.StrBytes()
	if !ok || bytes.Equal(spelled, value.Text()) {
		return ok
	}
	t := texts.Get().(*jsontree.Tree)
	defer func() { t.Reset(); texts.Put(t) }()
	if t.Parse(spelled) != nil {
		return false
	}
	if !l.done {
		l.done, l.hash = true, jsonHash(value)
	}
	return jsonHash(t.Root()) == l.hash
}

// maySpell reports whether a string may hold JSON of a kind, by how it begins. It saves
// reading long texts that are just text.
func maySpell(kind jsontree.Kind, text jsontree.Node) bool {
	inner := bytes.TrimLeft(bytes.TrimPrefix(text.Text(), []byte(`"`)), " ")
	if len(inner) == 0 {
		return false
	}
	switch first := inner[0]; kind {
	case jsontree.Object:
		return first == '{' || first == '\\'
	case jsontree.Array:
		return first == '[' || first == '\\'
	default:
		return first != '{' && first != '['
	}
}

// Seeds of the hashes of what has no text of its own.
const (
	hashNull = iota + 1
	hashFalse
	hashTrue
	hashNumber
	hashString
	hashArray
	hashObject
)

// jsonHash hashes a JSON value: the same for members in another order and for numbers
// spelled otherwise.
func jsonHash(n jsontree.Node) uint64 {
	switch n.Kind() {
	case jsontree.String:
		text, _ := n.StrBytes()
		return mixed(hashString, judge.Hash(text))
	case jsontree.Number:
		if value, ok := n.Int(); ok {
			return mixed(hashNumber, uint64(value))
		}
		value, ok := n.Float()
		if !ok {
			return mixed(hashNumber, judge.Hash(n.Text()))
		}
		return mixed(hashNumber, math.Float64bits(value))
	case jsontree.Array:
		h := uint64(hashArray)
		for v := range n.Elements() {
			h = mixed(h, jsonHash(v))
		}
		return h
	case jsontree.Object:
		h := uint64(hashObject)
		for name, v := range n.Members() {
			h += mixed(judge.Hash(name.Bytes()), jsonHash(v))
		}
		return h
	case jsontree.Null:
		return hashNull
	}
	if isTrue(n) {
		return hashTrue
	}
	return hashFalse
}

// outputs are the tools that have an output schema.
type outputs struct {
	asked   map[uint64]uint64 // by hash of the name: seq of the request whose answer said so
	changed uint64            // seq of the last notice that the list changed
}

// maxOutputs is how many are remembered; beyond, all are forgotten.
const maxOutputs = 1 << 14

// promised keeps with a call that its tool has an output schema.
var promised judge.Slot[bool]

var toolsOutputSchemaStructuredResult = &judge.Check{
	ID:       "tools.output-schema-structured-result",
	Title:    "results of tools with an output schema",
	Why:      "Clients check the result against the schema and turn a result without structured content into an error, although the tool did its work.",
	Fix:      "Send structuredContent with every result of the tool that is no error, or take the output schema away.",
	Convicts: "a result, not an error, of a tool that was listed with an output schema before the call, without structuredContent; until 2025-11-25 also one whose structuredContent is no object",
	Exempts:  "failed calls, questions to the client, tasks; tools whose list was said to have changed since; whether the content fits the schema",
	New:      func() any { return &outputs{asked: map[uint64]uint64{}} },
	On: []judge.On{
		{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/list"}, Do: learnOutputs},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{"notifications/tools/list_changed"}, Do: func(e *judge.Event) {
			judge.State[*outputs](e).changed = e.Seq
		}},
		{Kind: judge.Request, From: judge.Client, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
			s := judge.State[*outputs](e)
			name, _ := e.Msg.Params.Get("name").StrBytes()
			if asked, ok := s.asked[judge.Hash(name)]; ok && asked > s.changed {
				promised.Put(e.Request, true)
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
			has, _ := promised.Get(e.Request)
			if !has || judge.State[*outputs](e).changed > e.Request.Seq || isTrue(e.Msg.Result.Get("isError")) || !isComplete(e) {
				return
			}
			switch value := e.Msg.Result.Get("structuredContent"); {
			case !value.Exists():
				e.Badf("tool %s has an output schema, and its result has no structuredContent", quote(e.Request.Target))
			case value.Kind() != jsontree.Object && mcp.HasHandshake(e.Revision):
				e.Badf("tool %s has an output schema, and its structuredContent is no object", quote(e.Request.Target))
			default:
				e.OK()
			}
		}},
	},
}

func learnOutputs(e *judge.Event) {
	s := judge.State[*outputs](e)
	for tool := range e.Msg.Result.Get("tools").Elements() {
		name, ok := tool.Get("name").StrBytes()
		if !ok {
			continue
		}
		h := judge.Hash(name)
		if tool.Get("outputSchema").Kind() != jsontree.Object {
			delete(s.asked, h)
			continue
		}
		makeRoom(s.asked, maxOutputs)
		s.asked[h] = e.Request.Seq
	}
}
