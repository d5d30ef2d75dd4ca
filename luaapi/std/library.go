package std

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// A Library is a global table of functions, or a global function.
type Library struct {
	Name string
	// Doc describes the library.
	Doc string
	// Funcs are its functions. A function with the name of the library is called by a call of the
	// library itself.
	Funcs []Func
	// Values are the fields that are no functions.
	Values []Value
}

// A Func is a function of the library, declared once.
type Func struct {
	// Signature has the name, the parameters and the results, with types of LuaLS: split(text: string,
	// separator: string, limit?: integer): string[]. Arguments are checked against it before Fn is
	// called.
	Signature string
	// Doc describes the function and its mistakes, except those about arguments of the wrong type.
	Doc string
	// Example is an expression of Lua, or statements and then an expression on the last line. Result
	// has its values as inspect writes them, separated by commas.
	Example, Result string
	// Fn is the implementation.
	Fn func(c *call) int
}

// Name returns the name of f without the name of its library.
func (f *Func) Name() string {
	name, _, _ := strings.Cut(f.Signature, "(")
	return name
}

// Names returns the names of the values and functions of l.
func (l *Library) Names() []string {
	var names []string
	for _, v := range l.Values {
		names = append(names, v.Name)
	}
	for i := range l.Funcs {
		names = append(names, l.Funcs[i].Name())
	}
	return names
}

// A Value is a field of a library.
type Value struct {
	Name, Type, Doc string
	Example, Result string
	Get             func(s *instance, L *lua.LState) lua.LValue
}

// index lists the libraries in the order of the reference. A library is made at its first use, so
// that a run without libraries does not pay for them.
var index = [...]struct {
	name string
	open func(s *instance, L *lua.LState) lua.LValue
	make func() *Library
}{
	{"str", openTable(strLibrary), strLibrary},
	{"tbl", openTable(tblLibrary), tblLibrary},
	{"path", openTable(pathLibrary), pathLibrary},
	{"fs", openTable(fsLibrary), fsLibrary},
	{"json", openTable(jsonLibrary), jsonLibrary},
	{"yaml", openTable(yamlLibrary), yamlLibrary},
	{"toml", openTable(tomlLibrary), tomlLibrary},
	{"re", openTable(reLibrary), reLibrary},
	{"template", openTable(templateLibrary), templateLibrary},
	{"version", openTable(versionLibrary), versionLibrary},
	{"net", openTable(netLibrary), netLibrary},
	{"hash", openTable(hashLibrary), hashLibrary},
	{"base64", openTable(base64Library), base64Library},
	{"time", openTable(timeLibrary), timeLibrary},
	{"inspect", openInspect, inspectLibrary},
	{"log", openTable(logLibrary), logLibrary},
	{"http", openTable(httpLibrary), httpLibrary},
	{"capture", openFunc(captureLibrary), captureLibrary},
	{"data", openData, dataLibrary},
	{"lookup", openFunc(lookupLibrary), lookupLibrary},
	{"registrations", openFunc(registrationsLibrary), registrationsLibrary},
	{"secret", openSecret, secretLibrary},
	{"site", openProperties(siteLibrary), siteLibrary},
	{"module", openProperties(moduleLibrary), moduleLibrary},
}

// Libraries returns all libraries, and last the functions that the library adds to the table ccm.
func Libraries() []*Library {
	list := make([]*Library, 0, len(index)+1)
	for _, l := range index {
		list = append(list, l.make())
	}
	return append(list, ccmLibrary())
}

// openTable returns the opener of a library that is a table.
func openTable(make func() *Library) func(*instance, *lua.LState) lua.LValue {
	return func(s *instance, L *lua.LState) lua.LValue {
		l := make()
		return s.in.Tables.Library(l.Name, s.contents(L, l))
	}
}

// openFunc returns the opener of a library that is one function.
func openFunc(make func() *Library) func(*instance, *lua.LState) lua.LValue {
	return func(s *instance, L *lua.LState) lua.LValue {
		l := make()
		return L.NewFunction(s.function("", &l.Funcs[0]))
	}
}

// contents returns the fields of a library.
func (s *instance) contents(L *lua.LState, l *Library) *lua.LTable {
	t := L.CreateTable(0, len(l.Funcs)+len(l.Values))
	for i := range l.Funcs {
		f := &l.Funcs[i]
		t.RawSetString(f.Name(), L.NewFunction(s.function(l.Name, f)))
	}
	for _, v := range l.Values {
		t.RawSetString(v.Name, v.Get(s, L))
	}
	return t
}

// function returns f as a function of Lua.
func (s *instance) function(library string, f *Func) lua.LGFunction {
	name := f.Name()
	if library != "" {
		name = library + "." + name
	}
	var sig *signature // made at the first call
	fn := func(L *lua.LState) int {
		if sig == nil {
			sig = mustParse(f.Signature)
		}
		c := &call{instance: s, L: L, name: name}
		sig.check(c)
		return f.Fn(c)
	}
	if !derives[library] {
		return fn
	}
	return s.in.Derived(fn)
}

// derives tells for each library whether its functions only compute results from their arguments:
// the result of a secret is then a secret, too.
var derives = map[string]bool{
	"str": true, "tbl": true, "path": true, "json": true, "yaml": true, "toml": true, "re": true, "template": true, "version": true,
	"net": true, "hash": true, "base64": true, "time": true,
	"fs": false, "inspect": false, "log": false, "http": false, "capture": false, "data": false, "lookup": false, "registrations": false,
	"secret": false, "site": false, "module": false, "ccm": false,
}
