package luaapi

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/schema"
)

const (
	// maxDepth is how deep the tables of a property can be nested.
	maxDepth = 100
	// maxValues is how many values a property can hold. A table that holds the same table
	// twice, and so on, has exponentially many.
	maxValues = 1 << 20
)

// unsupportedValue describes a value that no property can hold.
type unsupportedValue string

// String returns the description with its article.
func (f unsupportedValue) String() string { return string(f) }

// A converter turns values of Lua into values for the decoder.
type converter struct {
	tables         *Tables
	count          int  // values of the property that is being converted
	hasUnsupported bool // a value was converted that no property can hold
	hasLazy        bool // a value was converted that holds a lazy one
}

// value converts a Lua value for the decoder. A table whose keys are 1 to n is
// a list. Tables are walked with Next, which keeps the order in which they were
// filled; ForEach does not.
func (cv *converter) value(v lua.LValue, depth int) schema.Value {
	if depth == 0 {
		cv.count = 0
	}
	if cv.count++; cv.count > maxValues {
		return cv.unsupportedValue(unsupportedValue(fmt.Sprintf("more than %d values", maxValues)))
	}
	switch v := v.(type) {
	case lua.LString:
		return cv.text(string(v))
	case lua.LBool:
		return schema.BoolValue(bool(v))
	case lua.LNumber:
		return schema.NumberValue(float64(v))
	case *lua.LTable:
		return cv.tableValue(cv.tables.Contents(v), depth)
	case *lua.LUserData:
		if _, ok := v.Value.(Null); ok {
			return schema.Value{}
		}
		if _, ok := v.Value.(*lazyValue); ok {
			cv.hasLazy = true
			return schema.Value{Kind: schema.Opaque, X: v.Value}
		}
		if g, ok := groupOf(v); ok {
			return schema.ListValue(cv.values(g, depth)...)
		}
		if id, ok := handleOf(v); ok {
			if id.Name == "" {
				id.Name = "?" // the mistake is reported already
			}
			return schema.Value{Kind: schema.Ref, S: id.String()}
		}
	case *lua.LNilType:
		return schema.Value{}
	}
	return cv.unsupportedValue(unsupportedValue(article(v.Type().String())))
}

// text converts a string. An encrypted value is refused: the machine would get its text, and
// not the secret.
func (cv *converter) text(s string) schema.Value {
	if data.IsSealed(s) {
		return cv.unsupportedValue("an encrypted value, which would be used in its encrypted form (decrypt tables with secret.values, documents with data.read)")
	}
	return schema.StringValue(s)
}

// unsupportedValue returns a value that no property can hold.
func (cv *converter) unsupportedValue(f unsupportedValue) schema.Value {
	cv.hasUnsupported = true
	return schema.Value{Kind: schema.Opaque, X: f}
}

// values converts the handles of a group, which count one by one in a list.
func (cv *converter) values(g handleGroup, depth int) []schema.Value {
	list := make([]schema.Value, len(g))
	for i, h := range g {
		list[i] = cv.value(h, depth+1)
	}
	return list
}

func (cv *converter) tableValue(t *lua.LTable, depth int) schema.Value {
	if depth == maxDepth {
		return cv.unsupportedValue(unsupportedValue("a table that contains itself, or tables nested too deeply"))
	}
	n := t.Len()
	k, v := t.Next(position(n))
	if k == lua.LNil && n > 0 {
		items := make([]schema.Value, 0, n)
		for i := range n {
			item := t.RawGetInt(i + 1)
			if g, ok := groupOf(item); ok {
				items = append(items, cv.values(g, depth)...)
				continue
			}
			items = append(items, cv.value(item, depth+1))
		}
		return schema.ListValue(items...)
	}
	if n > 0 {
		return cv.unsupportedValue(unsupportedValue("a table with names and positions"))
	}
	tab := &schema.Table{}
	for ; k != lua.LNil; k, v = t.Next(k) {
		tab.Entries = append(tab.Entries, schema.Entry{Key: keyText(k), Val: cv.value(v, depth+1)})
	}
	return schema.MapValue(tab)
}

// position returns the key after which Next returns the fields behind position n.
func position(n int) lua.LValue {
	if n == 0 {
		return lua.LNil
	}
	return lua.LNumber(n)
}

// keyText returns how messages speak of a key.
func keyText(k lua.LValue) string {
	switch k := k.(type) {
	case lua.LString:
		return string(k)
	case lua.LNumber, lua.LBool:
		return k.String()
	}
	if _, ok := groupOf(k); ok {
		return handleText(k)
	}
	if id, ok := handleOf(k); ok {
		return id.String()
	}
	return k.Type().String()
}

// findUnsupported returns the way to the first value in entries that no property can
// hold.
func findUnsupported(entries []schema.Entry) (schema.Path, unsupportedValue) {
	for i := range entries {
		if path, f := unsupportedAt(entries[i].Val); f != "" {
			return append(schema.Path{entries[i].Key}, path...), f
		}
	}
	return nil, ""
}

func unsupportedAt(v schema.Value) (schema.Path, unsupportedValue) {
	switch v.Kind {
	case schema.Opaque:
		f, _ := v.X.(unsupportedValue)
		return nil, f
	case schema.List:
		for i, item := range v.Items() {
			if path, f := unsupportedAt(item); f != "" {
				return append(schema.Path{i}, path...), f
			}
		}
	case schema.Map:
		return findUnsupported(v.Table().Entries)
	case schema.Lazy:
		return unsupportedAt(v.X.(schema.Value))
	}
	return nil, ""
}
