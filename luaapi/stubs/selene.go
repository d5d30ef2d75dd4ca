package stubs

import (
	"fmt"
	"io"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
)

// SeleneConfig returns selene.toml.
func SeleneConfig() []byte {
	return []byte("# " + Mark + "\nstd = \"ccm\"\n")
}

// Selene writes ccm.yml, the standard library as selene knows it.
func (l *Language) Selene(w io.Writer) {
	fmt.Fprintf(w, "# %s\n---\nname: ccm\nbase: lua51\nglobals:\n", Mark)
	for _, name := range l.missing() {
		fmt.Fprintf(w, "  %s:\n    removed: true\n", name)
	}
	for _, g := range l.added() {
		lib := l.library(g.Name)
		switch {
		case lib == nil || g.Name == "data" || callable(lib) && !onlyFunction(lib):
			if g.Name != "ccm" { // as for std, whose fields have fields of their own
				fmt.Fprintf(w, "  %s:\n    any: true\n", g.Name)
				continue
			}
		case onlyFunction(lib):
			writeArgs(w, lib.Name, &lib.Funcs[0])
			continue
		}
		known := make(map[string]bool)
		if lib != nil {
			for _, v := range lib.Values {
				known[v.Name] = true
				fmt.Fprintf(w, "  %s.%s:\n    property: read-only\n", g.Name, v.Name)
			}
			for i := range lib.Funcs {
				known[lib.Funcs[i].Name()] = true
				writeArgs(w, g.Name+"."+lib.Funcs[i].Name(), &lib.Funcs[i])
			}
		}
		for _, f := range g.Fields {
			if !known[f] {
				fmt.Fprintf(w, "  %s.%s:\n    any: true\n", g.Name, f)
			}
		}
	}
}

func (l *Language) library(name string) *std.Library {
	for _, lib := range l.Libraries {
		if lib.Name == name {
			return lib
		}
	}
	return nil
}

// callable reports whether a library can itself be called.
func callable(lib *std.Library) bool {
	for i := range lib.Funcs {
		if lib.Funcs[i].Name() == lib.Name {
			return true
		}
	}
	return false
}

func onlyFunction(lib *std.Library) bool {
	return callable(lib) && len(lib.Funcs) == 1 && len(lib.Values) == 0
}

func writeArgs(w io.Writer, name string, f *std.Func) {
	params := f.Params()
	if len(params) == 0 {
		fmt.Fprintf(w, "  %s:\n    args: []\n", name)
		return
	}
	fmt.Fprintf(w, "  %s:\n    args:\n", name)
	for _, p := range params {
		if p.Name == "..." {
			fmt.Fprint(w, "      - required: false\n        type: \"...\"\n")
			continue
		}
		required := ""
		if p.Optional {
			required = "required: false\n        "
		}
		fmt.Fprintf(w, "      - %stype: %s\n", required, seleneType(p.Type))
	}
}

// seleneType returns selene's name for a type of LuaLS. Selene has no unions.
func seleneType(t string) string {
	switch {
	case t == "string", t == "number", t == "table":
		return t
	case t == "integer":
		return "number"
	case t == "boolean":
		return "bool"
	case strings.HasPrefix(t, "fun(") && !strings.Contains(t, "|"):
		return "function"
	case (strings.HasSuffix(t, "[]") || strings.HasPrefix(t, "table<")) && !strings.Contains(t, "|"):
		return "table"
	}
	return "any"
}
