package checks

import (
	"iter"

	"mcpsnoop/internal/jsontree"
)

// annotations yields the annotated properties that are reached through properties alone,
// by the names on the way, which hold for the call only.
func annotations(schema jsontree.Node) iter.Seq2[[]string, jsontree.Node] {
	return func(yield func([]string, jsontree.Node) bool) {
		walkProperties(schema, nil, yield)
	}
}

func walkProperties(schema jsontree.Node, path []string, yield func([]string, jsontree.Node) bool) bool {
	if len(path) >= maxWalk {
		return true
	}
	for name, property := range schema.Get("properties").Members() {
		at := append(path, name.String())
		if property.Kind() != jsontree.Object || !annotates(property) {
			continue
		}
		if property.Get(annotation).Exists() && !yield(at, property) || !walkProperties(property, at, yield) {
			return false
		}
	}
	return true
}

// strayAnnotations yields what annotated schemas stand under that are not reached through
// properties alone: the first keyword on the way that leads astray, "" for the schema
// itself. What is data, not schema, holds no annotations.
func strayAnnotations(schema jsontree.Node) iter.Seq[string] {
	return func(yield func(string) bool) {
		if isAnnotated(schema) && !yield("") {
			return
		}
		walkSchema(schema, "", 0, yield)
	}
}

// isAnnotated reports whether a schema is annotated. An object would be a property of that name
// that somebody put a level too high.
func isAnnotated(schema jsontree.Node) bool {
	note := schema.Get(annotation)
	return note.Exists() && note.Kind() != jsontree.Object
}

// walkSchema looks below a schema. under is the keyword that led astray, if one did.
func walkSchema(schema jsontree.Node, under string, depth int, yield func(string) bool) bool {
	if schema.Kind() != jsontree.Object || depth >= maxWalk || !annotates(schema) {
		return true
	}
	for name, value := range schema.Members() {
		keyword := name.String()
		led := under
		if led == "" && keyword != "properties" {
			led = keyword
		}
		ok := true
		switch keyword {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			for _, one := range value.Members() {
				ok = ok && visitSchema(one, led, depth, yield)
			}
		case "allOf", "anyOf", "oneOf", "prefixItems", "items":
			for one := range value.Elements() {
				ok = ok && visitSchema(one, led, depth, yield)
			}
			ok = ok && visitSchema(value, led, depth, yield)
		case "additionalItems", "contains", "unevaluatedItems", "additionalProperties", "unevaluatedProperties",
			"propertyNames", "not", "if", "then", "else", "contentSchema":
			ok = visitSchema(value, led, depth, yield)
		}
		if !ok {
			return false
		}
	}
	return true
}

func visitSchema(schema jsontree.Node, led string, depth int, yield func(string) bool) bool {
	if schema.Kind() != jsontree.Object {
		return true
	}
	if led != "" && isAnnotated(schema) && !yield(led) {
		return false
	}
	return walkSchema(schema, led, depth+1, yield)
}
