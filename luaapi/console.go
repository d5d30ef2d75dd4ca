package luaapi

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Console evaluates texts that a person types, one after the other, like parts of one script.
// Top-level variables of a text, with local or without, are visible to later texts. A second
// declaration of a resource replaces that of an earlier text. A text with a mistake declares
// nothing.
type Console struct {
	in         *Interp
	env        *lua.LTable
	isVariable map[string]bool // the variables, also nil ones
	names      []string        // the same in the order of their definition
	defaults   map[*resource.Type]*defaults
	dir        string // of relative paths in typed texts
	entries    *entries

	// State of the text that is being evaluated:
	values         []lua.LValue
	undefinedNames []string        // undefined names that it assigned to
	definable      map[string]bool // names that it may define
	newNames       []string        // names that it defined
}

// A Replacement is a resource that a later text has declared again.
type Replacement struct{ Old, New *resource.Resource }

// An Evaluation is the result of a text.
type Evaluation struct {
	// Entry is the number of the text, from 1.
	Entry int
	// Values are the results of the expression, or of the final return.
	Values []lua.LValue
	// Declared lists the resources that the text added to the catalog.
	Declared []*resource.Resource
	// Replacements lists the resources that it declared again.
	Replacements []Replacement
	// Variables lists the variables that the text has defined.
	Variables []string
}

// LastValues are the variables with the values of the last expressions and final returns, the
// latest first.
var LastValues = []string{"_", "_1", "_2", "_3", "_4", "_5", "_6", "_7", "_8", "_9"}

// NewConsole returns a console without texts. It takes over in. Relative paths start from dir.
func NewConsole(in *Interp, dir string) *Console {
	s := &Console{
		in: in, dir: dir,
		isVariable: make(map[string]bool),
		defaults:   make(map[*resource.Type]*defaults),
		entries:    &entries{opts: in.opts, byResource: make(map[*resource.Resource]int)},
	}
	for _, name := range LastValues {
		s.isVariable[name] = true
	}
	in.entries = s.entries
	in.modules.setScript(filepath.Join(".", "repl"))
	s.openEnvironment()
	return s
}

// Interp returns the interpreter.
func (s *Console) Interp() *Interp { return s.in }

// Eval evaluates a text that a person typed: an expression, or statements. Its
// name in messages is repl:N. The error is a [diag.List].
func (s *Console) Eval(ctx context.Context, text string) (Evaluation, error) {
	return s.EvalAs(ctx, fmt.Sprintf("repl:%d", s.entries.count+1), text)
}

// EvalAs is Eval under another name.
func (s *Console) EvalAs(ctx context.Context, name, text string) (Evaluation, error) {
	res, err := s.run(ctx, parseInput(name, text), name, s.dir)
	if err == nil && len(res.Values) > 0 && res.Values[0] != lua.LNil {
		s.keepValue(res.Values[0])
	}
	return res, err
}

// Load evaluates a script. The name is its file name: relative paths in it and later searches for
// modules start from its directory.
func (s *Console) Load(ctx context.Context, name, text string) (Evaluation, error) {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return Evaluation{}, err
	}
	s.in.modules.setScript(name)
	return s.run(ctx, parseScript(name, text), name, dir)
}

func (s *Console) run(ctx context.Context, p *input, name, dir string) (res Evaluation, err error) {
	in := s.in
	in.report.reset()
	s.entries.count++
	res = Evaluation{Entry: s.entries.count}
	s.values, s.entries.replacements, s.undefinedNames = nil, nil, nil
	before := slices.Clone(in.opts.Builder.Resources())
	fn, c, err := s.compile(p, name, dir)
	if err != nil {
		in.report.mistakes.Add(err)
		return res, in.report.mistakes.Err()
	}
	s.allow(p.stmts)
	c.defaults = maps.Clone(s.defaults)
	err = in.evaluate(ctx, fn)
	s.definable, res.Variables = nil, s.newNames
	in.report.mistakes.Add(err)
	if err := in.report.mistakes.Err(); err != nil {
		s.restore(before)
		s.undefine(res.Variables)
		for _, name := range s.undefinedNames {
			s.env.RawSetString(name, lua.LNil)
		}
		return res, err
	}
	s.defaults = c.defaults
	res.Values, res.Replacements = s.values, s.entries.replacements
	s.entries.record(&res)
	return res, nil
}

// keepValue makes v the last value, and those before it older by one.
func (s *Console) keepValue(v lua.LValue) {
	for i := len(LastValues) - 1; i > 0; i-- {
		s.env.RawSetString(LastValues[i], s.env.RawGetString(LastValues[i-1]))
	}
	s.env.RawSetString(LastValues[0], v)
}

// restore resets the catalog to the resources before a text with a mistake.
func (s *Console) restore(before []*resource.Resource) {
	b := s.in.opts.Builder
	if slices.Equal(before, b.Resources()) {
		return
	}
	*b = catalog.Builder{}
	for _, r := range before {
		// They were in the catalog together before.
		_, _ = b.Add(r)
	}
}

// Adopt handles the resources that fn adds to the catalog like those of a text. If fn fails, they
// are removed.
func (s *Console) Adopt(fn func() error) (res Evaluation, err error) {
	s.entries.count++
	res.Entry = s.entries.count
	before := slices.Clone(s.in.opts.Builder.Resources())
	if err := fn(); err != nil {
		s.restore(before)
		return res, err
	}
	s.entries.record(&res)
	return res, nil
}

// Drop removes a resource from the catalog.
func (s *Console) Drop(r *resource.Resource) {
	s.in.opts.Builder.Remove(r)
	delete(s.entries.byResource, r)
}

// Entry returns the number of the text that declared r, 0 for none.
func (s *Console) Entry(r *resource.Resource) int { return s.entries.byResource[r] }

// Variables returns the names of the variables in the order in which they were
// defined.
func (s *Console) Variables() []string { return s.names }

// Set sets a variable, and defines it if needed.
func (s *Console) Set(name string, v lua.LValue) {
	s.add(name)
	s.env.RawSetString(name, v)
}

// Get returns the value of a variable, or nil.
func (s *Console) Get(name string) lua.LValue { return s.env.RawGetString(name) }

// Sources finds the texts that were evaluated.
func (s *Console) Sources() diag.Sources { return s.in.shown }

// Call calls a function within the limits of an evaluation.
func (s *Console) Call(ctx context.Context, fn lua.LValue, args ...lua.LValue) (results []lua.LValue, err error) {
	s.in.report.reset()
	err = s.in.evaluate(ctx, s.in.vm.NewFunction(func(L *lua.LState) int {
		L.Push(fn)
		for _, a := range args {
			L.Push(a)
		}
		L.Call(len(args), lua.MultRet)
		for i := 1; i <= L.GetTop(); i++ {
			results = append(results, L.Get(i))
		}
		return 0
	}))
	s.in.report.mistakes.Add(err)
	return results, s.in.report.mistakes.Err()
}

// Define adds a function to the console. Its result becomes a [Console.Live] value; an error is a
// mistake at the place of the call. The arguments are plain: strings, numbers, bools, nil and the
// IDs of handles.
func (s *Console) Define(name string, fn func(ctx context.Context, args []any) (any, error)) {
	s.in.globals.names = append(s.in.globals.names, name)
	s.in.vm.Env.RawSetString(name, s.in.vm.NewFunction(func(L *lua.LState) int {
		args := make([]any, L.GetTop())
		for i := range args {
			switch v := L.Get(i + 1).(type) {
			case lua.LString:
				args[i] = string(v)
			case lua.LNumber:
				args[i] = float64(v)
			case lua.LBool:
				args[i] = bool(v)
			case *lua.LNilType:
			default:
				id, ok := handleOf(v)
				if !ok {
					s.in.report.throw(L, "", "%s: argument %d: %w", name, i+1, diag.Expected("a string or a handle").Got("%s", kindOf(v)))
				}
				args[i] = id.String()
			}
		}
		v, err := fn(s.in.report.ctx, args)
		if err != nil {
			s.throwAll(L, err)
		}
		L.Push(s.Live(v))
		return 1
	}))
}

// throwAll throws the first mistake of err and notes the others.
func (s *Console) throwAll(L *lua.LState, err error) {
	var list diag.List
	list.Add(err)
	s.in.report.mistakes = append(s.in.report.mistakes, list[1:]...)
	if !list[0].Pos.IsZero() {
		s.in.report.raise(L, list[0])
	}
	s.in.report.throwError(L, err)
}
