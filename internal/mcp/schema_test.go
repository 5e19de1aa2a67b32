package mcp

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// schema is a part of an official JSON Schema, as far as these tests read it.
type schema struct {
	Ref        string            `json:"$ref"`
	Const      any               `json:"const"` // methods are strings, codes numbers
	AnyOf      []schema          `json:"anyOf"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
}

// document is the schema of a revision: its definitions by name.
type document map[string]schema

// load reads the official schema of a revision. The test is skipped where the
// project stands alone.
func load(t *testing.T, r Revision) (d document, text string) {
	t.Helper()
	data, err := os.ReadFile("../../../shared/schema/" + r.String() + "/schema.json")
	if os.IsNotExist(err) {
		t.Skip("no official schemas beside the project")
	}
	var file struct {
		Defs        document `json:"$defs"`
		Definitions document `json:"definitions"`
	}
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if file.Defs == nil {
		file.Defs = file.Definitions
	}
	return file.Defs, string(data)
}

// method returns the method a definition of a message is for, "" for others.
func (s schema) method() string { m, _ := s.Properties["method"].Const.(string); return m }

func (d document) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/"); ok {
		return d[name[strings.LastIndexByte(name, '/')+1:]]
	}
	return s
}

// union returns the methods that a definition stands for, with their definitions.
func (d document) union(name string) map[string]schema {
	found := map[string]schema{}
	def := d[name]
	for _, s := range append([]schema{def}, def.AnyOf...) {
		s = d.resolve(s)
		if m := s.method(); m != "" {
			found[m] = s
		}
	}
	return found
}

func sameNames(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\nthe table has  %v\nthe schema has %v", what, got, want)
	}
}

func TestMethodsAgainstSchemas(t *testing.T) {
	for _, r := range Known() {
		d, _ := load(t, r)
		var all []string
		for _, def := range d {
			if m := def.method(); m != "" {
				all = append(all, m)
			}
		}
		var table, nested []string
		sides := map[string][]string{}
		for _, m := range Methods() {
			if m.Extension.Has(r) {
				continue
			}
			if m.In().Has(r) || m.Nested.Has(r) {
				table = append(table, m.Name)
			}
			if m.Nested.Has(r) {
				nested = append(nested, m.Name)
			}
			kind := "Request"
			if m.Notification {
				kind = "Notification"
			}
			if m.From(Client, r) {
				sides["Client"+kind] = append(sides["Client"+kind], m.Name)
			}
			if m.From(Server, r) {
				sides["Server"+kind] = append(sides["Server"+kind], m.Name)
			}
		}
		sameNames(t, r.String(), table, slices.Compact(slices.Sorted(slices.Values(all))))
		for _, name := range []string{"ClientRequest", "ClientNotification", "ServerRequest", "ServerNotification"} {
			sameNames(t, r.String()+" "+name, sides[name], slices.Collect(maps.Keys(d.union(name))))
		}
		sameNames(t, r.String()+" InputRequest", nested, slices.Collect(maps.Keys(d.union("InputRequest"))))
	}
}

func TestTargetsAgainstSchemas(t *testing.T) {
	for _, r := range Known() {
		d, _ := load(t, r)
		for _, name := range []string{"ClientRequest", "ClientNotification", "ServerRequest", "ServerNotification"} {
			for method, def := range d.union(name) {
				params := d.resolve(def.Properties["params"])
				if target := TargetParam(method); target != "" && !slices.Contains(params.Required, target) && !inParts(params, target) {
					t.Errorf("%v: %s does not require %s", r, method, target)
				}
			}
		}
	}
}

// inParts reports whether params are put together of parts (the task types of
// 2025-11-25), which this reader does not follow.
func inParts(params schema, _ string) bool { return params.Properties == nil }

// Lists and cacheable results have the members that the table says.
func TestResultsAgainstSchemas(t *testing.T) {
	for _, r := range Known() {
		d, _ := load(t, r)
		for defName, def := range d {
			base, isRequest := strings.CutSuffix(defName, "Request")
			result, hasResult := d[base+"Result"]
			m := Lookup(def.method())
			if !isRequest || !hasResult || m == nil || !m.In().Has(r) {
				continue
			}
			_, pages := result.Properties["nextCursor"]
			if pages != (m.List != "") || m.List != "" && !slices.Contains(result.Required, m.List) {
				t.Errorf("%v: %s lists %q, its result requires %v", r, m.Name, m.List, result.Required)
			}
			if caches := slices.Contains(result.Required, "ttlMs"); PerRequest(r) && caches != m.Cacheable {
				t.Errorf("%v: cacheable %s: table %v, schema %v", r, m.Name, m.Cacheable, caches)
			}
			if typed := slices.Contains(result.Required, "resultType"); typed != PerRequest(r) && len(result.Required) > 0 {
				t.Errorf("%v: result of %s requires %v", r, m.Name, result.Required)
			}
		}
	}
}

// Results that ask for input are alternatives to these results, in the schema too.
func TestInputAgainstSchemas(t *testing.T) {
	d, _ := load(t, V2026_07_28)
	var table, schemas []string
	for _, m := range Methods() {
		if m.AsksInput {
			table = append(table, m.Name)
		}
	}
	for method, def := range d.union("ClientRequest") {
		params := d.resolve(def.Properties["params"])
		if _, ok := params.Properties["inputResponses"]; ok {
			schemas = append(schemas, method)
		}
	}
	sameNames(t, "methods that may ask for input", table, schemas)
}

func TestCapabilitiesAgainstSchemas(t *testing.T) {
	for _, r := range Known() {
		d, _ := load(t, r)
		for side, def := range map[Side]string{Client: "ClientCapabilities", Server: "ServerCapabilities"} {
			var table []string
			for _, c := range Capabilities(side, r) {
				table = append(table, c.Path)
			}
			sameNames(t, r.String()+" "+def, table, leaves(d, d[def], "", table))
		}
	}
}

// leaves returns the paths of all properties, but for those that only lead to
// others and are none of known.
func leaves(d document, s schema, prefix string, known []string) (paths []string) {
	for name, property := range s.Properties {
		path := prefix + name
		below := leaves(d, property, path+".", known)
		if len(below) == 0 || slices.Contains(known, path) {
			paths = append(paths, path)
		}
		paths = append(paths, below...)
	}
	return paths
}

func TestCodesAndKeysAgainstSchemas(t *testing.T) {
	_, nov := load(t, V2025_11_25)
	_, jul := load(t, V2026_07_28)
	for what, in := range map[string]string{
		"-32042": nov, "-32020": jul, "-32021": jul, "-32022": jul, "-32700": jul, "-32600": jul, "-32601": jul, "-32602": jul, "-32603": jul,
		MetaProgressToken: nov, MetaRelatedTask: nov, MetaProtocolVersion: jul, MetaClientCapabilities: jul, MetaClientInfo: jul, MetaLogLevel: jul,
		MetaServerInfo: jul, MetaSubscriptionID: jul,
	} {
		if !strings.Contains(in, what) {
			t.Errorf("no %s in the schema", what)
		}
	}
}
