package std

import (
	"path/filepath"

	lua "github.com/yuin/gopher-lua"
)

func ccmLibrary() *Library {
	return &Library{
		Name: "ccm",
		Doc:  "The paths and values of the running script.",
		Values: []Value{{
			Name: "cwd", Type: "string", Doc: "The working directory.",
			Example: `ccm.cwd`, Result: `"/home/ann"`,
		}, {
			Name: "dir", Type: "string", Doc: "The directory of the script, or of the module that reads it. Relative paths start there.",
			Example: `ccm.dir`, Result: `"/site"`,
		}},
		Funcs: []Func{{
			Signature: `abs(path: string): string`,
			Doc:       "Returns the absolute form of a path that is relative to the working directory, such as an argument of the script.",
			Example:   `ccm.abs("out/motd")`, Result: `"/home/ann/out/motd"`,
			Fn: func(c *call) int {
				if filepath.IsAbs(c.str(1)) {
					return c.giveStr(filepath.Clean(c.str(1)))
				}
				return c.giveStr(filepath.Join(c.Cwd, c.str(1)))
			},
		}, {
			Signature: `inspect(value: any, options?: { depth?: integer, newline?: string, indent?: string, process?: fun(item: any, path: any[]): any }): string`,
			Doc:       "The same as inspect.",
			Example:   `ccm.inspect({ 1, 2 })`, Result: `"{ 1, 2 }"`,
			Fn: inspectCall,
		}, {
			Signature: `print(...: any): any`,
			Doc:       "Prints each value as inspect formats it, and returns the values, so that it can wrap an expression.",
			Example:   `ccm.print("a") .. "b"`, Result: `"ab"`,
			Fn: func(c *call) int {
				n := c.L.GetTop()
				text := ""
				for i := 1; i <= n; i++ {
					if i > 1 {
						text += "\t"
					}
					text += inspect(c, c.L.Get(i), inspectOptions{})
				}
				c.in.Print(text)
				return n
			},
		}},
	}
}

// fields adds the fields of ccmLibrary to the table ccm.
func (s *instance) fields() {
	s.in.Field("cwd", func(*lua.LState) lua.LValue { return lua.LString(s.Cwd) })
	s.in.Field("dir", func(L *lua.LState) lua.LValue { return lua.LString(s.in.Caller(L).Dir()) })
	var made map[string]lua.LValue
	for _, name := range [...]string{"abs", "inspect", "print"} {
		s.in.Field(name, func(L *lua.LState) lua.LValue {
			if made == nil {
				made = make(map[string]lua.LValue)
				lib := ccmLibrary()
				for i := range lib.Funcs {
					made[lib.Funcs[i].Name()] = L.NewFunction(s.function("ccm", &lib.Funcs[i]))
				}
			}
			return made[name]
		})
	}
}
