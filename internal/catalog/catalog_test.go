package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"mcpsnoop/internal/jsontree"
)

func page(t *testing.T, text string) jsontree.Node {
	t.Helper()
	tree := new(jsontree.Tree)
	if err := tree.Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return tree.Root()
}

func TestPages(t *testing.T) {
	b := NewBuilder(Tools)
	if b.Listing() != nil {
		t.Fatal("a list before any was told")
	}
	b.Changed()
	b.Page(page(t, `{"tools":[{"name":"a"},{"name":"b","inputSchema":{"a": [1, "x y"]},"outputSchema":{}}],"nextCursor":"1"}`), true)
	first := b.Listing()
	b.Page(page(t, `{"tools":[{"name":"a","description":"other"},{"description":"nameless"}]}`), false)
	second := b.Listing()
	b.Changed()
	b.Page(page(t, `{"oops":true}`), true)
	third := b.Listing()
	b.Page(page(t, `{"tools":[],"nextCursor":null}`), true)
	last := b.Listing()
	for i, c := range []struct {
		got  *Listing
		want string
	}{
		{first, "2 items, 72 bytes, 1 pages, complete false, stale false, 0 repeated"},
		{second, "3 items, 98 bytes, 2 pages, complete true, stale false, 1 repeated"},
		{third, "3 items, 98 bytes, 2 pages, complete true, stale true, 1 repeated"},
		{last, "0 items, 0 bytes, 1 pages, complete true, stale false, 0 repeated"},
	} {
		l := c.got
		got := fmt.Sprintf("%d items, %d bytes, %d pages, complete %v, stale %v, %d repeated",
			len(l.Items), l.Bytes, l.Pages, l.Complete, l.Stale, l.Repeated)
		if got != c.want {
			t.Errorf("listing %d: got  %s\nwant %s", i, got, c.want)
		}
	}
	if i := first.Items[1]; i != (Item{Name: "b", Bytes: 60, SchemaBytes: 15 + 2}) {
		t.Errorf("%+v", i)
	}
	if h := second.Heaviest(); h[0].Name != "b" || h[2].Name != "a" {
		t.Errorf("heaviest %+v", h)
	}
}

func TestKinds(t *testing.T) {
	for method, c := range map[string]struct {
		kind Kind
		page string
	}{
		"tools/list":               {Tools, `{"tools":[{"name":"n"}]}`},
		"prompts/list":             {Prompts, `{"prompts":[{"name":"n","arguments":[{"name":"a"}]}]}`},
		"resources/list":           {Resources, `{"resources":[{"uri":"n","name":"other"}]}`},
		"resources/templates/list": {Templates, `{"resourceTemplates":[{"uriTemplate":"n","name":"other"}]}`},
	} {
		k, ok := KindOf(method)
		b := NewBuilder(k)
		b.Page(page(t, c.page), true)
		if !ok || k != c.kind || b.Listing().Items[0].Name != "n" {
			t.Errorf("%s: %v %v %+v", method, k, ok, b.Listing())
		}
	}
	if _, ok := KindOf("tasks/list"); ok {
		t.Error("tasks are no definitions")
	}
}

func TestWithoutTheFirstPage(t *testing.T) {
	b := NewBuilder(Prompts)
	b.Page(page(t, `{"prompts":[{"name":"n"}]}`), false)
	b.Page(page(t, `{"prompts":[{"name":"m"}]}`), false)
	if l := b.Listing(); l.Complete || len(l.Items) != 2 {
		t.Errorf("%+v", l)
	}
}

func TestCompact(t *testing.T) {
	value := rapid.Custom(func(rt *rapid.T) any {
		return map[string]any{
			rapid.String().Draw(rt, "k"): rapid.SliceOf(rapid.String()).Draw(rt, "v"),
			"n":                          rapid.Float64().Draw(rt, "n"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		v := value.Draw(rt, "value")
		text, err := json.MarshalIndent(v, " ", rapid.SampledFrom([]string{"", "\t", "  "}).Draw(rt, "indent"))
		if err != nil {
			rt.Skip(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			rt.Fatal(err)
		}
		if got := Compact(text); got != compact.Len() {
			rt.Fatalf("%d bytes, want %d of %q", got, compact.Len(), compact.String())
		}
	})
}
