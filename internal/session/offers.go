package session

import (
	"mcpsnoop/internal/catalog"
	"mcpsnoop/internal/jsontree"
)

// offers follows the lists of tools, prompts and resources over their pages. It is
// empty unless they are wanted.
type offers struct {
	lists [catalog.Kinds]*catalog.Builder
	last  [catalog.Kinds]*catalog.Listing // as last given out, nil after a change
}

func newOffers() (o offers) {
	for k := range catalog.Kinds {
		o.lists[k] = catalog.NewBuilder(k)
	}
	return o
}

// listed takes the result of a list request.
func (o *offers) listed(c *call, result jsontree.Node) {
	k, ok := catalog.KindOf(c.Method)
	if !ok || o.lists[k] == nil {
		return
	}
	o.lists[k].Page(result, !c.paged)
	o.last[k] = nil
}

// changed takes a list_changed.
func (o *offers) changed(method string) {
	kinds := []catalog.Kind{}
	switch method {
	case "notifications/tools/list_changed":
		kinds = []catalog.Kind{catalog.Tools}
	case "notifications/prompts/list_changed":
		kinds = []catalog.Kind{catalog.Prompts}
	case "notifications/resources/list_changed":
		kinds = []catalog.Kind{catalog.Resources, catalog.Templates}
	}
	for _, k := range kinds {
		if o.lists[k] != nil {
			o.lists[k].Changed()
			o.last[k] = nil
		}
	}
}

func (o *offers) catalog() Catalog {
	for k, b := range o.lists {
		if b != nil && o.last[k] == nil {
			o.last[k] = b.Listing()
		}
	}
	return Catalog{
		Tools: o.last[catalog.Tools], Prompts: o.last[catalog.Prompts],
		Resources: o.last[catalog.Resources], Templates: o.last[catalog.Templates],
	}
}
