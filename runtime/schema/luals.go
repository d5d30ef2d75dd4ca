package schema

import (
	"fmt"
	"io"
	"reflect"
	"strings"
)

// A LuaTyper is a type with a syntax of its own whose values need not be strings in scripts.
// LuaType is its type in the notation of the Lua language server.
type LuaTyper interface{ LuaType() string }

// LuaType returns the type of the values of f in the notation of the Lua language
// server (LuaLS). The tables of an Object are of the class of that name.
func (f *Field) LuaType(class string) string {
	if f.Values != nil {
		return luaUnion(f.Values)
	}
	switch f.Kind {
	case Bool:
		return "boolean"
	case Int:
		return "integer"
	case Float:
		return "number"
	case Any:
		return "any"
	case Object:
		return class
	case Map:
		return "table<string, " + f.Elem.LuaType(class) + ">"
	case List:
		elem := f.Elem.LuaType(class)
		list := elem + "[]"
		if strings.Contains(elem, "|") {
			list = "(" + elem + ")[]"
		}
		if f.Elem.Kind == Object || f.Elem.Kind == Map || f.Elem.Kind == Any {
			return list
		}
		if f.Pairs {
			list += "|table<string, " + elem + ">"
		}
		return elem + "|" + list
	}
	if t, ok := reflect.New(elemType(f.goType)).Interface().(LuaTyper); ok {
		return t.LuaType()
	}
	if known := f.Suggestions(); len(known) > 0 {
		return luaUnion(known) + "|string"
	}
	if f.Words {
		return "string|string[]"
	}
	if f.Scalar {
		return "string|integer|boolean"
	}
	return "string"
}

func luaUnion(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, "|")
}

// A LuaClass is a table of properties, to be written for LuaLS.
type LuaClass struct {
	// Name is the name of the class, Doc its description.
	Name, Doc string
	// Extends is the class that has further properties, "" for none.
	Extends string
	// Schema has the properties; nil if there are only those of Extends.
	Schema *Schema
	// Pick determines which properties are written; nil for all.
	Pick func(f *Field) bool
	// Positions is the type of the values without a name, "" for none.
	Positions string
	// Partial makes every property optional. The classes of objects in it are those of the complete
	// class.
	Partial bool
}

// Write writes the annotations of the class, after the classes of its objects. The class is exact:
// the editor reports unknown properties.
func (c LuaClass) Write(w io.Writer) {
	fields := c.fields()
	for _, f := range fields {
		if obj := f.object(); obj != nil && !c.Partial {
			LuaClass{Name: c.objectClass(f), Doc: obj.Doc, Schema: obj}.Write(w)
		}
	}
	WriteLuaDoc(w, c.Doc)
	line := "---@class (exact) " + c.Name
	if c.Extends != "" {
		line += ": " + c.Extends
	}
	fmt.Fprintln(w, line)
	if c.Positions != "" {
		fmt.Fprintf(w, "---@field [integer] %s\n", c.Positions)
	}
	for _, f := range fields {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			c.writeField(w, f, name)
		}
	}
	fmt.Fprintln(w)
}

// fields returns the properties that are written.
func (c LuaClass) fields() []*Field {
	var out []*Field
	if c.Schema == nil {
		return nil
	}
	for i := range c.Schema.Fields {
		if f := &c.Schema.Fields[i]; c.Pick == nil || c.Pick(f) {
			out = append(out, f)
		}
	}
	return out
}

func (c LuaClass) writeField(w io.Writer, f *Field, name string) {
	optional := "?"
	if f.Required && f.Default == "" && len(f.Aliases) == 0 && !c.Partial {
		optional = ""
	}
	doc := strings.Join(strings.Fields(f.Doc), " ")
	switch {
	case name != f.Name:
		doc = "The same as " + f.Name + "."
	case f.Default != "":
		doc = strings.TrimSpace(doc + " Default: " + f.Default + ".")
	}
	line := fmt.Sprintf("---@field %s%s %s", luaFieldName(name), optional, f.LuaType(c.objectClass(f)))
	fmt.Fprintln(w, strings.TrimSpace(line+" "+doc))
}

// luaFieldName returns the name of a field for an annotation.
func luaFieldName(name string) string {
	if IsIdentifier(strings.ToLower(name)) {
		return name
	}
	return fmt.Sprintf("[%q]", name)
}

// object returns the properties of the tables in f, or nil.
func (f *Field) object() *Schema {
	if f.Object != nil {
		return f.Object
	}
	return f.ElemObject()
}

// objectClass returns the name of the class of the tables in f. The class of a Go type is the same
// wherever the type occurs.
func (c LuaClass) objectClass(f *Field) string {
	obj := f.object()
	switch {
	case obj == nil:
		return ""
	case obj.IsDynamic():
		return c.Name + "." + f.Name
	}
	return "ccm." + obj.GoType.Name()
}

// WriteLuaDoc writes a text as the comment of the following declaration.
func WriteLuaDoc(w io.Writer, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(w, strings.TrimRight("---"+line, " "))
	}
}
