package std

import lua "github.com/yuin/gopher-lua"

func siteLibrary() *Library {
	return &Library{
		Name: "site",
		Doc:  "The script that is run.",
		Values: []Value{{
			Name: "dir", Type: "string", Doc: "Its directory, also where a module asks.",
			Example: `site.dir`, Result: `"/site"`,
			Get: func(s *instance, _ *lua.LState) lua.LValue { return lua.LString(s.in.SiteDir()) },
		}},
	}
}

func moduleLibrary() *Library {
	return &Library{
		Name: "module",
		Doc:  "The module that asks; in the script itself that is the script.",
		Values: []Value{{
			Name: "dir", Type: "string", Doc: "Its directory. Relative paths that it writes begin there, as in source = \"files/app.conf\".",
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
