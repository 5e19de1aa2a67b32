// Package catalog holds what a server offers: the definitions of its tools,
// prompts, resources and resource templates, as its lists told them page by page,
// and what they cost in bytes.
package catalog

import (
	"cmp"
	"slices"

	"mcpsnoop/internal/jsontree"
)

// Kind is which of its lists a server told.
type Kind uint8

// The kinds of lists.
const (
	Tools Kind = iota
	Prompts
	Resources
	Templates
	Kinds // how many there are
)

// KindOf returns the kind of list a method asks for.
func KindOf(method string) (k Kind, ok bool) {
	switch method {
	case "tools/list":
		return Tools, true
	case "prompts/list":
		return Prompts, true
	case "resources/list":
		return Resources, true
	case "resources/templates/list":
		return Templates, true
	}
	return 0, false
}

// members names, for each kind, the member of the result that holds the list, and
// the member of an item that names it.
var members = [Kinds][2]string{{"tools", "name"}, {"prompts", "name"}, {"resources", "uri"}, {"resourceTemplates", "uriTemplate"}}

// Item is one definition. Bytes are those of its JSON text without blanks between
// tokens; SchemaBytes are of inputSchema and outputSchema, or of a prompt's arguments.
type Item struct {
	Name             string // or URI, or URI template; cut at 512 bytes
	Bytes            int
	DescriptionBytes int
	SchemaBytes      int
}

// Listing is a list as far as it was told. It does not change.
type Listing struct {
	Items    []Item // in the order told; of several of one name the first
	Bytes    int    // of all items
	Pages    int
	Complete bool // the last page named no further one
	Stale    bool // the server has said since that the list changed
	Repeated int  // items left out because their name had been told before
	Omitted  int  // items left out because there are too many
}

// Heaviest returns the items by bytes, most first, equal ones by name.
func (l *Listing) Heaviest() []Item {
	items := slices.Clone(l.Items)
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return items
}

// Limits, so that no server can fill memory.
const (
	maxItems = 50_000
	maxName  = 512
)

// Builder follows one kind of list over its pages.
type Builder struct {
	kind  Kind
	now   Listing
	told  bool
	whole bool // from the first page on
	names map[string]struct{}
}

// NewBuilder returns a builder that has been told nothing.
func NewBuilder(k Kind) *Builder { return &Builder{kind: k} }

// Page takes the result of a list request. first says that the request named no
// cursor: the list begins anew.
func (b *Builder) Page(result jsontree.Node, first bool) {
	list := result.Get(members[b.kind][0])
	if list.Kind() != jsontree.Array {
		return
	}
	if first || !b.told {
		// A new slice: listings given out hold the old one.
		b.now = Listing{}
		b.names = make(map[string]struct{}, list.Len())
		b.whole = first
	}
	b.told = true
	b.now.Pages++
	b.now.Complete = b.whole && result.Get("nextCursor").Kind() != jsontree.String
	for item := range list.Elements() {
		b.add(item)
	}
}

func (b *Builder) add(node jsontree.Node) {
	name, _ := node.Get(members[b.kind][1]).StrBytes()
	name = name[:min(len(name), maxName)]
	if _, ok := b.names[string(name)]; ok {
		b.now.Repeated++
		return
	}
	if len(b.now.Items) >= maxItems {
		b.now.Omitted++
		return
	}
	item := Item{
		Name:             string(name),
		Bytes:            Compact(node.Text()),
		DescriptionBytes: Compact(node.Get("description").Text()),
		SchemaBytes: Compact(node.Get("inputSchema").Text()) + Compact(node.Get("outputSchema").Text()) +
			Compact(node.Get("arguments").Text()),
	}
	b.names[item.Name] = struct{}{}
	b.now.Items = append(b.now.Items, item)
	b.now.Bytes += item.Bytes
}

// Changed notes that the server said its list changed.
func (b *Builder) Changed() { b.now.Stale = b.told }

// Listing returns the list as it stands, nil if none was told. Later pages do not
// change it.
func (b *Builder) Listing() *Listing {
	if !b.told {
		return nil
	}
	l := b.now
	l.Items = l.Items[:len(l.Items):len(l.Items)]
	return &l
}

// Compact returns how long a valid JSON text is without the blanks between its tokens.
func Compact(text []byte) int {
	n := len(text)
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case inString:
			if c == '\\' {
				i++
			}
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			n--
		}
	}
	return n
}
