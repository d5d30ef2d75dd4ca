package repl

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
)

// An environment evaluates texts: it has the types, the facts of the machine, the interpreter with
// its variables, and the catalog of the declared resources. Reset makes all but the options again.
type environment struct {
	opts     Options
	registry *resource.Registry
	builder  *catalog.Builder
	facts    *facts.Facts
	in       *luaapi.Interp
	console  *luaapi.Console

	documented bool // the schemas are
}

// reset starts again: nothing is declared or defined, and the facts are asked for.
func (env *environment) reset() error {
	reg, f, err := env.opts.Reset()
	if err != nil {
		return err
	}
	env.close()
	*env.builder = catalog.Builder{}
	env.registry, env.facts = reg, f
	script := env.opts.Script
	script.Registry, script.Facts = reg, f
	env.in = luaapi.New(script)
	env.console = luaapi.NewConsole(env.in, env.opts.Dir)
	for _, f := range env.opts.Functions {
		name, _, _ := strings.Cut(f.Signature, "(")
		env.console.Define(name, f.Call)
	}
	return nil
}

// close releases the interpreter.
func (env *environment) close() {
	if env.in != nil {
		env.in.Close()
	}
}

// typeNamed returns the existing type with that name, or nil.
func (env *environment) typeNamed(name string) *resource.Type {
	for _, t := range env.registry.Types() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// constructed returns the type whose constructor has that name: file, or std.line of a shipped module, which need not be
// loaded yet. It is nil for other names.
func (env *environment) constructed(name string) *resource.Type {
	short, shipped := strings.CutPrefix(name, "std.")
	if !shipped {
		return env.typeNamed(name)
	}
	if std, ok := env.console.Global("std"); !ok || !env.console.IsStd(std) {
		return nil // a variable of that name
	}
	for _, t := range env.types() {
		if t.Name == short {
			return t
		}
	}
	return nil
}

// types returns the existing types and the types of modules, sorted by name.
func (env *environment) types() []*resource.Type {
	list := slices.Clone(env.registry.Types())
	if env.opts.Types == nil {
		return list
	}
	for _, t := range env.opts.Types() {
		if env.typeNamed(t.Name) == nil {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *resource.Type) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// follow returns the value at a path of names, nil if there is none, and its name in documentation.
func (env *environment) follow(names []string) (lua.LValue, string) {
	if len(names) == 1 && (names[0][0] == '"' || names[0][0] == '\'') {
		return lua.LString(""), "string"
	}
	v, ok := env.console.Global(names[0])
	for _, name := range names[1:] {
		if !ok {
			return nil, ""
		}
		v, ok = env.console.Field(v, name)
	}
	if !ok || v == lua.LNil {
		return nil, ""
	}
	return v, strings.Join(names, ".")
}

// document fills in the documentation of the schemas.
func (env *environment) document() {
	if env.documented || env.opts.Document == nil {
		return
	}
	env.documented = true
	env.report(env.opts.Document())
}

// sources finds the text of a file that was evaluated.
func (env *environment) sources(file string) (string, bool) {
	if text, ok := env.in.Sources()(file); ok || env.opts.Sources == nil {
		return text, ok
	}
	return env.opts.Sources(file)
}

// report prints an error as a run does.
func (env *environment) report(err error) {
	if err != nil {
		diag.Render(env.opts.Out, "", err, env.sources)
	}
}
