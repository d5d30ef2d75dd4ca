// Package reference documents types, libraries and functions of modules, as text and as JSON: see
// [Find] and [FindFunctions].
package reference

import (
	"fmt"
	"io"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/site"
)

// A Reference is the documentation of a topic.
type Reference struct {
	WriteText func(w io.Writer)
	// JSON is the JSON Schema of the properties, or the entries of a library.
	JSON any
}

// Find returns the reference of a topic: a type such as file, a property such as
// file.mode, a library such as str, or a function such as str.split.
func Find(reg *resource.Registry, topic string) (Reference, error) {
	// A type has the name of its module too.
	name, property, hasProperty := strings.Cut(strings.TrimPrefix(topic, "std."), ".")
	t := reg.Type(name)
	switch {
	case t == nil:
		return findLibrary(reg, topic)
	case !hasProperty:
		return Reference{func(w io.Writer) { writeType(w, reg, t) }, t.Properties().JSONSchema()}, nil
	}
	for _, s := range t.Properties() {
		if f := s.Field(property); f != nil {
			return Reference{func(w io.Writer) { writeField(w, f) }, f.JSONSchema()}, nil
		}
	}
	return Reference{}, diag.At(diag.Pos{}, fmt.Errorf("type %s: %w", name, diag.Unknown("property", property, t.Properties().Names())))
}

// findLibrary returns the reference of a library or of one of its functions.
func findLibrary(reg *resource.Registry, name string) (Reference, error) {
	library, field, _ := strings.Cut(name, ".")
	for _, lib := range std.Libraries() {
		entries := lib.Entries()
		if lib.Name == name && (len(entries) > 1 || entries[0].Name != name) {
			return Reference{lib.WriteText, entries}, nil
		}
		for _, entry := range entries {
			if entry.Name == name {
				return Reference{entry.WriteText, entry}, nil
			}
		}
		if lib.Name == library {
			err := diag.At(diag.Pos{}, diag.None("function %q in %s", field, library))
			err.Hint = diag.DidYouMean(field, lib.Names())
			return Reference{}, err
		}
	}
	site.AddShipped(reg)
	known := reg.TypeNames()
	for _, lib := range std.Libraries() {
		known = append(known, lib.Name)
	}
	err := diag.At(diag.Pos{}, diag.Unknown("resource type or library", library, known))
	if err.Hint == "" {
		err.Hint = "list types with: ccm docs"
	}
	return Reference{}, err
}

// AllTypes returns the built-in types and those of shipped modules, with documentation.
func AllTypes() []*resource.Type {
	reg, err := site.Documented()
	if err != nil {
		return nil
	}
	site.AddShipped(reg)
	return reg.Types()
}

// LibraryNames returns the names of libraries and of their functions.
func LibraryNames() []string {
	var names []string
	for _, lib := range std.Libraries() {
		names = append(names, lib.Name)
		for _, entry := range lib.Entries() {
			if entry.Name != lib.Name {
				names = append(names, entry.Name)
			}
		}
	}
	return names
}

// ShortOf returns the first sentence of a type's documentation.
func ShortOf(t *resource.Type) string {
	doc := strings.Join(strings.Fields(t.Schema().Doc), " ")
	short, _, _ := strings.Cut(strings.TrimSuffix(doc, "."), ". ")
	short = strings.TrimPrefix(short, t.Schema().GoType.Name()+" ")
	return strings.ToUpper(short[:1]) + short[1:]
}
