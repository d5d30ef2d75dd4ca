package std

import lua "github.com/yuin/gopher-lua"

func siteLibrary() *Library {
	return &Library{
		Name: "site",
		Doc:  "The running script.",
		Values: []Value{{
			Name: "dir", Type: "string", Doc: "The directory of the script, also inside a module.",
			Example: `site.dir`, Result: `"/site"`,
			Get: func(s *instance, _ *lua.LState) lua.LValue { return lua.LString(s.in.SiteDir()) },
		}},
	}
}

func moduleLibrary() *Library {
	return &Library{
		Name: "module",
		Doc:  "The current module, or the script itself.",
		Values: []Value{{
			Name: "dir", Type: "string", Doc: "The directory of the current module or script. Relative paths start there, as in source = \"files/app.conf\".",
			Example: `module.dir`, Result: `"/site"`,
			Get: func(s *instance, L *lua.LState) lua.LValue { return lua.LString(s.in.Caller(L).Dir()) },
		}},
	}
}

// openProperties returns the opener of a library whose values depend on the calling script.
func openProperties(make func() *Library) func(*instance, *lua.LState) lua.LValue {
	return func(s *instance, _ *lua.LState) lua.LValue {
		l := make()
		fields := map[string]func(*lua.LState) lua.LValue{}
		for _, v := range l.Values {
			fields[v.Name] = func(L *lua.LState) lua.LValue { return v.Get(s, L) }
		}
		return s.in.Tables.Properties(l.Name, fields)
	}
}
