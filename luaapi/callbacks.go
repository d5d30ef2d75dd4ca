package luaapi

import (
	"context"

	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// Some values are known only while the machine is converged. The function of ccm.lazy returns
// such a value right before its resource is converged. The function of ccm.after is called right
// after its resource. In both, handles have the results of their resources.

// callbacks are the functions that scripts gave to ccm.lazy and ccm.after.
type callbacks struct {
	registered    bool // there is at least one
	running       int  // number of these functions that are running
	lazyMetatable *lua.LTable
	results       map[resource.ID]Result
	after         map[resource.ID][]afterCall
}

// A lazyValue is the userdata of ccm.lazy.
type lazyValue struct{ fn *lua.LFunction }

// String describes the value in messages.
func (*lazyValue) String() string { return "a value that is known later" }

// An afterCall is the call of a function once the resource of its handle is done.
type afterCall struct {
	handle *lua.LUserData
	fn     *lua.LFunction
}

// A Result is the outcome of a resource in a run, for scripts.
type Result struct {
	Outcome string // the word for it
	Changed bool
	Failed  bool
	// Planned is set if the result is one of a plan: nothing was performed.
	Planned bool
	// Command is the result of its command; nil if none was run.
	Command *host.Result
}

// Results are the outcomes of resources for the functions of ccm.lazy and ccm.after.
type Results struct{ in *Interp }

// Results returns the results of the interpreter.
func (in *Interp) Results() Results { return Results{in} }

// Needed reports whether scripts have called ccm.lazy or ccm.after. If so, the
// interpreter stays open, and [Results.Set] has to be called for each resource.
func (r Results) Needed() bool { return r.in.callbacks.registered }

// Clear begins a run or plan, in which no resource has a result yet.
func (r Results) Clear() { r.in.callbacks.results = nil }

// Set sets the result of a resource for its handles, and then calls the functions
// of ccm.after for it. It returns every mistake in them.
func (r Results) Set(ctx context.Context, id resource.ID, res Result) error {
	in := r.in
	if !in.callbacks.registered {
		return nil
	}
	if in.callbacks.results == nil {
		in.callbacks.results = make(map[resource.ID]Result)
	}
	in.callbacks.results[id] = res
	if res.Planned || ctx.Err() != nil {
		return nil
	}
	var errs diag.List
	for _, w := range in.callbacks.after[id] {
		_, err := in.callback(ctx, w.fn, 0, w.handle)
		errs.Add(err)
	}
	return errs.Err()
}

// callback calls a function in which handles have results.
func (in *Interp) callback(ctx context.Context, fn *lua.LFunction, results int, args ...lua.LValue) ([]lua.LValue, error) {
	in.callbacks.running++
	defer func() { in.callbacks.running-- }()
	return in.Invoke(ctx, fn, results, args...)
}

// makeLazy is ccm.lazy.
func (in *Interp) makeLazy(L *lua.LState) int {
	fn, ok := L.Get(1).(*lua.LFunction)
	if !ok || L.GetTop() > 1 {
		in.report.throw(L, "use ccm.lazy(function() return ... end)", "ccm.lazy: %w", diag.Expected("a function").Got("%s", kindOf(L.Get(1))))
	}
	if in.callbacks.lazyMetatable == nil {
		in.openLazies()
	}
	in.callbacks.registered = true
	L.Push(&lua.LUserData{Value: &lazyValue{fn}, Env: in.vm.Env, Metatable: in.callbacks.lazyMetatable})
	return 1
}

// openLazies makes the metatable of lazy values: nothing can be done with one but
// to give it to a property.
func (in *Interp) openLazies() {
	mt := in.vm.CreateTable(0, 8)
	refuse := in.vm.NewFunction(func(L *lua.LState) int {
		in.report.throw(L, "use the value inside the function of ccm.lazy", "a value of ccm.lazy is unknown until its resource is applied")
		return 0
	})
	for _, event := range []string{"__index", "__newindex", "__concat", "__call", "__len", "__lt", "__le", "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm"} {
		mt.RawSetString(event, refuse)
	}
	mt.RawSetString("__tostring", in.vm.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LString(resource.KnownAfterRun))
		return 1
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	in.callbacks.lazyMetatable = mt
}

// callAfter is ccm.after.
func (in *Interp) callAfter(L *lua.LState) int {
	handles, isHandle := groupOf(L.Get(1))
	if _, one := handleOf(L.Get(1)); one {
		handles, isHandle = handleGroup{L.Get(1)}, true
	}
	fn, isFunction := L.Get(2).(*lua.LFunction)
	const form = "use ccm.after(handle, function() ... end)"
	switch {
	case !isHandle:
		in.report.throw(L, form, "ccm.after: %w", diag.Expected("a resource handle").Got("%s", kindOf(L.Get(1))))
	case !isFunction || L.GetTop() > 2:
		in.report.throw(L, form, "ccm.after: %w", diag.Expected("a function after the handle").Got("%s", kindOf(L.Get(2))))
	case in.invoked > 0:
		in.report.throw(L, "", "ccm.after: the run has already started")
	}
	if in.callbacks.after == nil {
		in.callbacks.after = make(map[resource.ID][]afterCall)
	}
	in.callbacks.registered = true
	for _, h := range handles {
		id, _ := handleOf(h)
		in.callbacks.after[id] = append(in.callbacks.after[id], afterCall{h.(*lua.LUserData), fn})
	}
	return 0
}

// resultField returns a field of the result of a handle.
func (in *Interp) resultField(L *lua.LState, handle *lua.LUserData, field string) lua.LValue {
	id, _ := handleOf(handle)
	r, _ := handle.Value.(*resource.Resource)
	ofCommand := !slices.Contains([]string{"changed", "failed", "outcome"}, field)
	if ofCommand && r != nil && !resource.TraitsOf(r.Spec).VerifiesItself {
		in.report.throw(L, "only resources that run a command have this field", "%s: %w", id, diag.Unknown("field", field, nil))
	}
	res, ok := in.callbacks.results[id]
	if in.callbacks.running == 0 && (in.console == nil || !ok) {
		in.report.throw(L, "use it inside ccm.lazy(function() ... end) or ccm.after(handle, function() ... end)",
			"%s.%s is used too early: the value is known only after the resource was applied", id, field)
	}
	if !ok {
		in.report.throw(L, "require it, or declare it earlier", "%s.%s is not known yet: the resource has not been applied", id, field)
	}
	switch field {
	case "changed":
		return lua.LBool(res.Changed)
	case "failed":
		return lua.LBool(res.Failed)
	case "outcome":
		return lua.LString(res.Outcome)
	}
	switch {
	case res.Command == nil:
		return lua.LNil
	case field == "stdout":
		return lua.LString(strings.TrimRight(string(res.Command.Stdout), "\n"))
	case field == "stderr":
		return lua.LString(strings.TrimRight(string(res.Command.Stderr), "\n"))
	}
	return lua.LNumber(res.Command.Code)
}

// property converts the value of a property for the decoder. A value that is lazy, or has a lazy
// part, becomes one that is known later.
func (cv *converter) property(v lua.LValue) schema.Value {
	cv.hasLazy = false
	val := cv.value(v, 0)
	if cv.hasLazy {
		return schema.Value{Kind: schema.Lazy, X: val}
	}
	return val
}

// resolver returns a function that completes the spec of a declaration with the values of
// its lazy properties. Mistakes have their positions in the script.
func (in *Interp) resolver(t *resource.Type, entries []schema.Entry, where *locator, from resource.Origin) func(context.Context) (any, error) {
	entries = slices.Clone(entries)
	return func(ctx context.Context) (any, error) {
		tab := &schema.Table{Entries: slices.Clone(entries), Positions: where}
		var errs diag.List
		for i := range tab.Entries {
			e := &tab.Entries[i]
			if e.Val.Kind != schema.Lazy {
				continue
			}
			var err error
			if e.Val, err = in.resolve(ctx, e.Val.X.(schema.Value)); err == nil {
				if path, f := findUnsupported(tab.Entries[i : i+1]); f != "" {
					err = fmt.Errorf("%s: %w", path[:1], diag.SubjectCannot("a property", "hold %s", f))
				}
			}
			if err == nil && e.Val.Kind == schema.Nil {
				err = in.lazyNil(where, e.Key)
			}
			n := len(errs)
			errs.Add(err)
			for _, mistake := range errs[n:] {
				if mistake.Pos.IsZero() {
					mistake.Pos = where.Locate(schema.Path{e.Key}, false)
				}
			}
		}
		if err := errs.Err(); err != nil {
			return nil, err
		}
		r, err := t.Decode(tab, from)
		if err != nil {
			return nil, err
		}
		return r.Spec, nil
	}
}

// resolve returns v with each lazy value replaced by the result of its function.
func (in *Interp) resolve(ctx context.Context, v schema.Value) (schema.Value, error) {
	switch v.Kind {
	case schema.Opaque:
		l, ok := v.X.(*lazyValue)
		if !ok {
			return v, nil
		}
		out, err := in.callback(ctx, l.fn, 1)
		if err != nil {
			return v, err
		}
		val := in.convert.property(out[0])
		if val.Kind == schema.Lazy {
			return v, fmt.Errorf("the function of ccm.lazy: %w", diag.Expected("the value itself").Got("a lazy value"))
		}
		return val, nil
	case schema.List:
		items := slices.Clone(v.Items())
		for i := range items {
			var err error
			if items[i], err = in.resolve(ctx, items[i]); err != nil {
				return v, err
			}
		}
		return schema.ListValue(items...), nil
	case schema.Map:
		tab := &schema.Table{Entries: slices.Clone(v.Table().Entries)}
		for i := range tab.Entries {
			var err error
			if tab.Entries[i].Val, err = in.resolve(ctx, tab.Entries[i].Val); err != nil {
				return v, err
			}
		}
		return schema.MapValue(tab), nil
	}
	return v, nil
}
