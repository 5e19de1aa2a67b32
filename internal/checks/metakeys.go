package checks

import (
	"bytes"
	"fmt"
	"slices"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var baseMetaKeyFormat = &judge.Check{
	ID:       "base.meta-key-format",
	Title:    "keys of _meta",
	Why:      "Prefixes keep what different parties put into _meta apart; strict peers refuse a message with other keys.",
	Fix:      "Name the key letters-and-digits, or put a prefix before a slash in front: com.example/name.",
	Convicts: "a key of a _meta whose prefix is not made of labels joined by dots, each beginning with a letter and ending with a letter or digit, or whose name does not begin and end with a letter or digit",
	Exempts:  "what only looks like _meta: in arguments, structured content and error data. Keys that are not known under prefixes kept for the protocol are noted, once each",
	New:      func() any { return new(notedKeys) },
	On: []judge.On{
		{Kind: judge.Request | judge.Notification | judge.Result, Do: func(e *judge.Event) { metaKeys(e, e.Meta(), "_meta") }},
		{Kind: judge.Result, Methods: metaListMethods, Do: metaOfLists},
		{Kind: judge.Result, Methods: []string{"tools/call", "resources/read", "sampling/createMessage"}, Do: metaOfContent},
		{Kind: judge.Result, Methods: []string{"prompts/get"}, Do: func(e *judge.Event) { metaOfMessages(e, e.Msg.Result) }},
		{Kind: judge.Request, Methods: []string{"sampling/createMessage"}, Do: func(e *judge.Event) { metaOfMessages(e, e.Msg.Params) }},
	},
}

// metaListMethods are answered by lists of things with a _meta of their own, under metaLists.
var (
	metaListMethods = []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list", "roots/list"}
	metaLists       = map[string]string{
		"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts", "roots/list": "roots",
	}
)

func metaOfLists(e *judge.Event) {
	list := metaLists[e.Method]
	for item := range e.Msg.Result.Get(list).Elements() {
		if meta := item.Get("_meta"); meta.Exists() {
			name, ok := item.Get("name").Str()
			if !ok {
				name, _ = item.Get("uri").Str()
			}
			metaKeys(e, meta, fmt.Sprintf("_meta of %s in %s", quote(name), list))
		}
	}
}

// metaOfContent takes the content of a result: a block or a list of them.
func metaOfContent(e *judge.Event) {
	content := e.Msg.Result.Get("content")
	if e.Method == "resources/read" {
		content = e.Msg.Result.Get("contents")
	}
	metaOfBlocks(e, content)
}

func metaOfMessages(e *judge.Event, in jsontree.Node) {
	for message := range in.Get("messages").Elements() {
		metaOfBlocks(e, message.Get("content"))
	}
}

func metaOfBlocks(e *judge.Event, content jsontree.Node) {
	metaOfBlock(e, content)
	for block := range content.Elements() {
		metaOfBlock(e, block)
	}
}

func metaOfBlock(e *judge.Event, block jsontree.Node) {
	metaKeys(e, block.Get("_meta"), "_meta of a content block")
	metaKeys(e, block.Path("resource", "_meta"), "_meta of an embedded resource")
	for inner := range block.Get("content").Elements() { // of a tool's result, in sampling
		metaKeys(e, inner.Get("_meta"), "_meta of a content block")
	}
}

// metaKeys judges all keys of a _meta.
func metaKeys(e *judge.Event, meta jsontree.Node, where string) {
	for name := range meta.Members() {
		key := name.Bytes()
		if wrong := metaKeyFault(key); wrong != "" {
			e.Badf("key %s in %s: %s", quote(key), where, wrong)
			continue
		}
		e.OK()
		if isReservedKey(key, e.Revision) && judge.State[*notedKeys](e).first(key) {
			e.Notef("key %s in %s: its prefix is kept for the protocol, which defines no such key", quote(key), where)
		}
	}
}

// metaKeyFault says what is wrong with a key, "" if nothing is.
func metaKeyFault(key []byte) string {
	prefix, name, ok := bytes.Cut(key, []byte{'/'})
	if !ok {
		prefix, name = nil, key
	}
	if ok {
		for label := range bytes.SplitSeq(prefix, []byte{'.'}) {
			switch {
			case len(label) == 0:
				return "its prefix has an empty label"
			case !isMetaLetter(label[0]):
				return "a label of its prefix does not begin with a letter"
			case label[len(label)-1] == '-':
				return "a label of its prefix ends with a hyphen"
			case slices.ContainsFunc(label, func(c byte) bool { return !isMetaSign(c) && c != '-' }):
				return "a label of its prefix holds other characters than letters, digits and hyphens"
			}
		}
	}
	switch {
	case len(name) == 0:
	case !isMetaSign(name[0]) || !isMetaSign(name[len(name)-1]):
		return "its name does not begin and end with a letter or digit"
	case slices.ContainsFunc(name, func(c byte) bool { return !isMetaSign(c) && c != '-' && c != '_' && c != '.' }):
		return "its name holds other characters than letters, digits, hyphens, underscores and dots"
	}
	return ""
}

func isMetaLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isMetaSign(c byte) bool   { return isMetaLetter(c) || c >= '0' && c <= '9' }

// isReservedKey reports whether a key has a prefix that is kept for the protocol, and is none
// that we know. Until 2025-06-18 that is one with mcp or modelcontextprotocol before
// another label, later one with either as its second label.
func isReservedKey(key []byte, r mcp.Revision) bool {
	prefix, _, ok := bytes.Cut(key, []byte{'/'})
	if !ok || !bytes.Contains(prefix, []byte("mcp")) && !bytes.Contains(prefix, []byte("modelcontextprotocol")) {
		return false
	}
	reserved, place := false, 0
	for rest, more := prefix, true; more; place++ {
		var label []byte
		label, rest, more = bytes.Cut(rest, []byte{'.'})
		where := place == 1
		if r == mcp.V2025_06_18 {
			where = more
		}
		reserved = reserved || where && isProtocol(label)
	}
	return reserved && r != mcp.NoRevision && !slices.ContainsFunc(knownKeys, func(known string) bool { return known == string(key) })
}

func isProtocol(label []byte) bool {
	return string(label) == "mcp" || string(label) == "modelcontextprotocol"
}

var knownKeys = []string{
	mcp.MetaProtocolVersion, mcp.MetaClientCapabilities, mcp.MetaClientInfo, mcp.MetaLogLevel, mcp.MetaServerInfo, mcp.MetaSubscriptionID,
	mcp.MetaRelatedTask, mcp.MetaImmediateResponse, mcp.TasksExtension, mcp.AppsExtension,
}

// notedKeys are the keys that were noted.
type notedKeys struct{ hashes []uint64 }

// maxNotedKeys is how many keys of a session are noted.
const maxNotedKeys = 64

func (n *notedKeys) first(key []byte) bool {
	h := judge.Hash(key)
	if len(n.hashes) >= maxNotedKeys || slices.Contains(n.hashes, h) {
		return false
	}
	n.hashes = append(n.hashes, h)
	return true
}
