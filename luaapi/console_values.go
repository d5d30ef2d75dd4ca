package luaapi

import (
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// This file looks into values for completion and documentation, without calling functions
// of scripts.

// Global returns the value of a variable or a global. It is false if there is none of that name.
func (s *Console) Global(name string) (v lua.LValue, ok bool) {
	if v := s.env.RawGetString(name); v != lua.LNil {
		return v, true
	}
	if s.isVariable[name] {
		return lua.LNil, true
	}
	globals := s.in.vm.Env
	if v := globals.RawGetString(name); v != lua.LNil {
		return v, true
	}
	open := s.in.globals.makers[name]
	if open == nil {
		return lua.LNil, false
	}
	defer s.recoverValue(&v, &ok)
	v = open(s.in.vm)
	globals.RawSetString(name, v)
	return v, true
}

// GlobalNames returns the names of all variables and globals in order.
func (s *Console) GlobalNames() []string {
	names := append(slices.Clone(s.in.globals.names), LastValues[0])
	slices.Sort(names)
	return slices.Compact(names)
}

// Field returns a field of a value. It may gather a fact, and it calls no
// function of a script.
func (s *Console) Field(v lua.LValue, name string) (field lua.LValue, ok bool) {
	defer s.recoverValue(&field, &ok)
	switch v := v.(type) {
	case *lua.LTable:
		return s.tableField(v, name)
	case lua.LString:
		field = s.in.Tables.Contents(global(s.in.vm, "string").(*lua.LTable)).RawGetString(name)
	case *lua.LUserData:
		if id, ok := handleOf(v); ok {
			switch name {
			case "type":
				return lua.LString(id.Type), true
			case "name":
				return lua.LString(id.Name), true
			case "id":
				return lua.LString(id.String()), true
			}
			return lua.LNil, false
		}
		if isLive(v) && slices.Contains(liveNames(v.Value), name) {
			field = s.in.vm.GetField(v, name)
		}
	}
	return field, field != nil && field != lua.LNil
}

func (s *Console) tableField(t *lua.LTable, name string) (lua.LValue, bool) {
	if v := s.in.Tables.Contents(t).RawGetString(name); v != lua.LNil {
		return v, true
	}
	if t == global(s.in.vm, "ccm") {
		if get := s.in.globals.fields[name]; get != nil {
			return get(s.in.vm), true
		}
		return lua.LNil, false
	}
	r, ok := s.in.Tables.byProxy[t]
	if !ok || r.missingField == nil {
		return lua.LNil, false
	}
	v, err := r.missingField(lua.LString(name))
	return v, err == nil && v != lua.LNil
}

// recoverValue turns a thrown mistake into the result that there is no value.
func (s *Console) recoverValue(v *lua.LValue, ok *bool) {
	if recover() != nil {
		*v, *ok = lua.LNil, false
		s.in.renew()
	}
}

// FieldNames returns the names of the fields of a value in order. The value of a name may not be
// known yet.
func (s *Console) FieldNames(v lua.LValue) []string {
	var names []string
	switch v := v.(type) {
	case *lua.LTable:
		if r, ok := s.in.Tables.byProxy[v]; ok && r.names != nil {
			return r.names()
		}
		names = stringKeys(s.fieldTable(v))
		if v == global(s.in.vm, "ccm") {
			names = append(names, s.in.globals.fieldNames...)
		}
	case lua.LString:
		names = stringKeys(s.in.Tables.Contents(global(s.in.vm, "string").(*lua.LTable)))
	case *lua.LUserData:
		if _, ok := handleOf(v); ok {
			names = slices.Clone(handleFields)
		} else if isLive(v) {
			names = liveNames(v.Value)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// fieldTable returns the table with the fields of t.
func (s *Console) fieldTable(t *lua.LTable) (list *lua.LTable) {
	list = s.in.Tables.Contents(t)
	r, ok := s.in.Tables.byProxy[t]
	if !ok || r.list == nil {
		return list
	}
	defer func() {
		if recover() != nil {
			s.in.renew()
		}
	}()
	if all, err := r.list(); err == nil {
		return all
	}
	return list
}

// IsFacts reports whether v is the table facts.
func (s *Console) IsFacts(v lua.LValue) bool { return v == global(s.in.vm, "facts") }

// IsStd reports whether v is the table std.
func (s *Console) IsStd(v lua.LValue) bool { return v == global(s.in.vm, "std") }

// Handle returns the ID of the resource that v is a handle of.
func (s *Console) Handle(v lua.LValue) (id string, ok bool) {
	h, ok := handleOf(v)
	return h.String(), ok
}

// IsLive reports whether v is a live value.
func (s *Console) IsLive(v *lua.LUserData) bool { return isLive(v) }

// Text returns the text of a value that defines one: a handle, a live value, or a table with
// __tostring.
func (s *Console) Text(v lua.LValue) (text string, ok bool) {
	if t, isTable := v.(*lua.LTable); isTable && t.Metatable == lua.LNil {
		return "", false
	}
	if v.Type() != lua.LTTable && v.Type() != lua.LTUserData || s.in.vm.GetMetaField(v, "__tostring") == lua.LNil {
		return "", false
	}
	top := s.in.vm.GetTop()
	defer func() {
		if recover() != nil {
			text, ok = "", false
			s.in.renew()
		}
	}()
	text = s.in.vm.ToStringMeta(v).String()
	s.in.vm.SetTop(top)
	return text, true
}

// HasText reports whether a table has a metamethod __tostring.
func (s *Console) HasText(t *lua.LTable) bool {
	return t.Metatable != lua.LNil && s.in.vm.GetMetaField(t, "__tostring") != lua.LNil
}

// A Function describes a function that is written in Lua.
type Function struct {
	Parameters []string // the last may be ...
	File       string
	Line       int
	// Comment is the comment right above the function, without its dashes.
	Comment string
}

// Function describes a function. It returns false for functions that are written in Go.
func (s *Console) Function(fn *lua.LFunction) (Function, bool) { return s.in.source.function(fn) }

// function is [Console.Function].
func (st *sourceMap) function(fn *lua.LFunction) (Function, bool) {
	if fn.IsG {
		return Function{}, false
	}
	f := Function{File: fn.Proto.SourceName, Line: fn.Proto.LineDefined}
	for i := range int(fn.Proto.NumParameters) {
		name := "arg" + strconv.Itoa(i+1)
		if i < len(fn.Proto.DbgLocals) {
			name = fn.Proto.DbgLocals[i].Name
		}
		f.Parameters = append(f.Parameters, name)
	}
	if fn.Proto.IsVarArg != 0 {
		f.Parameters = append(f.Parameters, "...")
	}
	if p := st.lineOf(f.Line, f.File); p.Line > 0 {
		f.File, f.Line = p.File, p.Line
	}
	if text, ok := st.text(f.File); ok {
		f.Comment = syntax.CommentAbove(text, f.Line)
	}
	return f, true
}
