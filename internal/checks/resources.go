package checks

import (
	"bytes"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
)

var resourcesURISchemeRFC3986 = &judge.Check{
	ID:       "resources.uri-scheme-rfc3986",
	Title:    "schemes of resource URIs",
	Why:      "Clients choose by the scheme how to fetch and show a resource. Libraries refuse a URI without a proper one, or take it for a relative path.",
	Fix:      "Begin each URI with a letter, then letters, digits, +, - or dots, then a colon.",
	Convicts: "a URI in a resource list, in contents of resources/read, in a resource link or embedded resource, or in notifications/resources/updated, or a URI template, that does not begin so",
	Exempts:  "the rest of a URI; templates whose scheme is itself an expression",
	On: []judge.On{
		{Kind: judge.Result, From: judge.Server, Methods: []string{"resources/list"}, Do: func(e *judge.Event) {
			for r := range e.Msg.Result.Get("resources").Elements() {
				judgeScheme(e, r.Get("uri"), "listed resource")
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"resources/templates/list"}, Do: func(e *judge.Event) {
			for t := range e.Msg.Result.Get("resourceTemplates").Elements() {
				judgeTemplate(e, t.Get("uriTemplate"))
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"resources/read"}, Do: func(e *judge.Event) {
			for c := range e.Msg.Result.Get("contents").Elements() {
				judgeScheme(e, c.Get("uri"), "contents")
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
			for block := range e.Msg.Result.Get("content").Elements() {
				judgeSchemeOf(e, block)
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"prompts/get"}, Do: func(e *judge.Event) {
			eachPromptContent(e, func(block jsontree.Node) { judgeSchemeOf(e, block) })
		}},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{methodUpdated}, Do: func(e *judge.Event) {
			judgeScheme(e, e.Msg.Params.Get("uri"), "updated resource")
		}},
	},
}

// linkedURI returns the URI of a block that links to a resource or embeds one.
func linkedURI(block jsontree.Node) (uri jsontree.Node, what string) {
	switch {
	case typed(block, "resource_link"):
		return block.Get("uri"), "resource link"
	case typed(block, "resource"):
		return block.Path("resource", "uri"), "embedded resource"
	}
	return uri, ""
}

func judgeSchemeOf(e *judge.Event, block jsontree.Node) {
	uri, what := linkedURI(block)
	judgeScheme(e, uri, what)
}

func judgeScheme(e *judge.Event, uri jsontree.Node, what string) {
	text, ok := uri.StrBytes()
	switch {
	case !ok:
	case hasScheme(text):
		e.OK()
	default:
		e.Badf("URI %s of %s has no scheme as RFC 3986 wants it", quote(text), what)
	}
}

func judgeTemplate(e *judge.Event, template jsontree.Node) {
	text, ok := template.StrBytes()
	if !ok {
		return
	}
	literal, _, expression := bytes.Cut(text, []byte("{"))
	switch {
	case hasScheme(literal):
		e.OK()
	case expression && (len(literal) == 0 || schemeChars(literal)): // the scheme is for whoever fills it in
	default:
		e.Badf("URI template %s has no scheme as RFC 3986 wants it", quote(text))
	}
}

var resourcesBlobBase64 = &judge.Check{
	ID:       "resources.blob-base64",
	Title:    "binary contents of resources",
	Why:      "A decoder refuses what is no base64, or makes other bytes of it.",
	Fix:      "Encode blob with the standard alphabet and with padding, without line breaks.",
	Convicts: "a blob in contents of resources/read, or in a resource embedded in a tool result, that is no string of padded standard base64",
	Exempts:  "an empty blob; embedded resources of prompts, which are prompts.embedded-resource-shape's",
	On: []judge.On{
		{Kind: judge.Result, From: judge.Server, Methods: []string{"resources/read"}, Do: func(e *judge.Event) {
			for c := range e.Msg.Result.Get("contents").Elements() {
				judgeBlob(e, c)
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
			for block := range e.Msg.Result.Get("content").Elements() {
				if typed(block, "resource") {
					judgeBlob(e, block.Get("resource"))
				}
			}
		}},
	},
}

func judgeBlob(e *judge.Event, contents jsontree.Node) {
	blob := contents.Get("blob")
	if !blob.Exists() {
		return
	}
	if fault := base64Fault(blob); fault != "" {
		uri, _ := contents.Get("uri").Str()
		e.Badf("blob of %s %s", quote(uri), fault)
		return
	}
	e.OK()
}

// maxMentioned is how many URIs are remembered that a server spoke of outside its lists.
// Beyond, nothing follows from a URI not being there.
const maxMentioned = 1 << 14

// mentions are URIs that a server spoke of outside its lists.
type mentions struct {
	uris   map[uint64]struct{}
	forgot bool
}

func (m *mentions) add(uri jsontree.Node) {
	if text, ok := uri.StrBytes(); ok {
		if len(m.uris) >= maxMentioned {
			m.forgot = true
			return
		}
		m.uris[judge.Hash(text)] = struct{}{}
	}
}

// nowhere keeps with a request that the URI it reads is in none of the server's lists.
var nowhere judge.Slot[bool]

var resourcesReadContentsNonEmpty = &judge.Check{
	ID:    "resources.read-contents-non-empty",
	Title: "empty contents of resources that do not exist",
	Why:   "To the client it looks as if the resource were there and empty, so that nobody notices the wrong URI.",
	Fix:   "Answer a URI that you do not know with an error.",
	Convicts: "an empty contents array for a URI that a complete resources/list does not hold, where resources/templates/list was empty and no link named it; " +
		"if the revision was pinned, any empty contents array",
	Exempts: "other resources, which may exist and be empty: those are notes",
	New:     func() any { return &mentions{uris: map[uint64]struct{}{}} },
	On: []judge.On{
		{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
			for block := range e.Msg.Result.Get("content").Elements() {
				uri, _ := linkedURI(block)
				judge.State[*mentions](e).add(uri)
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"prompts/get"}, Do: func(e *judge.Event) {
			m := judge.State[*mentions](e)
			eachPromptContent(e, func(block jsontree.Node) {
				uri, _ := linkedURI(block)
				m.add(uri)
			})
		}},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{methodUpdated}, Do: func(e *judge.Event) {
			judge.State[*mentions](e).add(e.Msg.Params.Get("uri"))
		}},
		{Kind: judge.Request, From: judge.Client, Methods: []string{"resources/read"}, Do: func(e *judge.Event) {
			if uri, ok := e.Msg.Params.Get("uri").StrBytes(); ok && isNowhere(e, judge.Hash(uri)) {
				nowhere.Put(e.Request, true)
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"resources/read"}, Do: func(e *judge.Event) {
			contents, filled := e.Msg.Result.Get("contents"), false
			for c := range contents.Elements() {
				judge.State[*mentions](e).add(c.Get("uri"))
				filled = true
			}
			absent, _ := nowhere.Get(e.Request)
			switch {
			case contents.Kind() != jsontree.Array:
			case filled:
				e.OK()
			case absent:
				e.Badf("empty contents for %s, which is in none of the server's lists", quote(e.Request.Target))
			case e.Pinned():
				e.Badf("empty contents for %s", quote(e.Request.Target))
			default:
				e.Notef("empty contents for %s: it is there and empty, or the server should have said that it is not", quote(e.Request.Target))
			}
		}},
	},
}

// isNowhere reports whether a URI is certain to be none that the server told of.
func isNowhere(e *judge.Event, uri uint64) bool {
	l, m := listsOf(e), judge.State[*mentions](e)
	resources, templates := &l.of[resourceList], &l.of[templateList]
	if !e.FromStart() || !e.Ordered() || !e.OneClient() || m.forgot || !e.Whole() || !resources.fresh() || !templates.fresh() || templates.last.digest.n > 0 {
		return false
	}
	_, listed := resources.last.names[uri]
	_, mentioned := m.uris[uri]
	return !listed && !mentioned
}
