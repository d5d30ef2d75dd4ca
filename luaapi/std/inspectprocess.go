package std

import lua "github.com/yuin/gopher-lua"

// pathMarks are inspect.KEY and inspect.METATABLE.
type pathMarks struct{ key, metatable *lua.LUserData }

func (s *instance) pathMarks(L *lua.LState) *pathMarks {
	if s.marks == nil {
		mark := func(name string) *lua.LUserData {
			ud := L.NewUserData()
			mt := L.CreateTable(0, 2)
			mt.RawSetString("__tostring", L.NewFunction(func(L *lua.LState) int {
				L.Push(lua.LString(name))
				return 1
			}))
			mt.RawSetString("__metatable", lua.LFalse)
			ud.Metatable = mt
			return ud
		}
		s.marks = &pathMarks{mark("inspect.KEY"), mark("inspect.METATABLE")}
	}
	return s.marks
}

// A processor replaces values by the results of a function of the script.
type processor struct {
	*call
	fn      *lua.LFunction
	results map[lua.LValue]lua.LValue
	depth   int
}

func (p *processor) process(item lua.LValue, path []lua.LValue) lua.LValue {
	if item == lua.LNil {
		return item
	}
	if out, ok := p.results[item]; ok {
		return out
	}
	if p.depth++; p.depth > maxDepth {
		p.fail("tables are nested more than %d levels deep", maxDepth)
	}
	defer func() { p.depth-- }()
	steps := p.L.CreateTable(len(path), 0)
	for i, step := range path {
		steps.RawSetInt(i+1, step)
	}
	v := p.invoke(p.fn, item, steps)
	t, ok := v.(*lua.LTable)
	if !ok {
		return v
	}
	out := p.L.CreateTable(0, 0)
	p.results[item] = out
	contents := p.in.Tables.Listing(p.L, t)
	step := func(more ...lua.LValue) []lua.LValue { return append(path[:len(path):len(path)], more...) }
	for k, e := contents.Next(lua.LNil); k != lua.LNil; k, e = contents.Next(k) {
		key := p.process(k, step(k, p.pathMarks(p.L).key))
		if key == lua.LNil {
			continue
		}
		out.RawSet(key, p.process(e, step(key)))
	}
	w := inspector{call: p.call}
	if mt := w.metatable(t); mt != nil {
		if made, ok := p.process(mt, step(p.pathMarks(p.L).metatable)).(*lua.LTable); ok {
			out.Metatable = made
		}
	}
	return out
}
