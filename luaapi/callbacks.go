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

// Results are the outcomes of resources, and the functions of ccm.lazy and ccm.after that get them.
type Results struct {
	ev            *evaluator
	registered    bool // there is at least one function
	running       int  // number of these functions that are running
	lazyMetatable *lua.LTable
	byID          map[resource.ID]Result
	after         map[resource.ID][]afterCall
	lazyNils      map[diag.Pos]bool // that were reported
}

// Results returns the results of the interpreter.
func (in *Interp) Results() *Results { return in.results }

// Needed reports whether scripts have called ccm.lazy or ccm.after. If so, the
// interpreter stays open, and [Results.Set] has to be called for each resource.
func (rs *Results) Needed() bool { return rs.registered }

// Clear begins a run or plan, in which no resource has a result yet.
func (rs *Results) Clear() { rs.byID = nil }

// Set sets the result of a resource for its handles, and then calls the functions
// of ccm.after for it. It returns every mistake in them.
func (rs *Results) Set(ctx context.Context, id resource.ID, res Result) error {
	if !rs.registered {
		return nil
	}
	if rs.byID == nil {
		rs.byID = make(map[resource.ID]Result)
	}
	rs.byID[id] = res
	if res.Planned || ctx.Err() != nil {
		return nil
	}
	var errs diag.List
	for _, w := range rs.after[id] {
		_, err := rs.callback(ctx, w.fn, 0, w.handle)
		errs.Add(err)
	}
	return errs.Err()
}

// callback calls a function in which handles have results.
func (rs *Results) callback(ctx context.Context, fn *lua.LFunction, results int, args ...lua.LValue) ([]lua.LValue, error) {
	rs.running++
	defer func() { rs.running-- }()
	return rs.ev.Invoke(ctx, fn, results, args...)
}

// makeLazy is ccm.lazy.
func (rs *Results) makeLazy(L *lua.LState) int {
	fn, ok := L.Get(1).(*lua.LFunction)
	if !ok || L.GetTop() > 1 {
		rs.ev.report.throw(L, "use ccm.lazy(function() return ... end)", "ccm.lazy: %w", diag.Expected("a function").Got("%s", kindOf(L.Get(1))))
	}
	if rs.lazyMetatable == nil {
		rs.openLazies()
	}
	rs.registered = true
	L.Push(&lua.LUserData{Value: &lazyValue{fn}, Env: rs.ev.vm.Env, Metatable: rs.lazyMetatable})
	return 1
}

// openLazies makes the metatable of lazy values: nothing can be done with one but
// to give it to a property.
func (rs *Results) openLazies() {
	mt := rs.ev.vm.CreateTable(0, 8)
	refuse := rs.ev.vm.NewFunction(func(L *lua.LState) int {
		rs.ev.report.throw(L, "use the value inside the function of ccm.lazy", "a value of ccm.lazy is unknown until its resource is applied")
		return 0
	})
	for _, event := range []string{"__index", "__newindex", "__concat", "__call", "__len", "__lt", "__le", "__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm"} {
		mt.RawSetString(event, refuse)
	}
	mt.RawSetString("__tostring", rs.ev.vm.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LString(resource.KnownAfterRun))
		return 1
	}))
	mt.RawSetString("__metatable", lua.LFalse)
	rs.lazyMetatable = mt
}

// callAfter is ccm.after.
func (rs *Results) callAfter(L *lua.LState) int {
	handles, isHandle := groupOf(L.Get(1))
	if _, one := handleOf(L.Get(1)); one {
		handles, isHandle = handleGroup{L.Get(1)}, true
	}
	fn, isFunction := L.Get(2).(*lua.LFunction)
	const form = "use ccm.after(handle, function() ... end)"
	switch {
	case !isHandle:
		rs.ev.report.throw(L, form, "ccm.after: %w", diag.Expected("a resource handle").Got("%s", kindOf(L.Get(1))))
	case !isFunction || L.GetTop() > 2:
		rs.ev.report.throw(L, form, "ccm.after: %w", diag.Expected("a function after the handle").Got("%s", kindOf(L.Get(2))))
	case rs.ev.invoked > 0:
		rs.ev.report.throw(L, "", "ccm.after: the run has already started")
	}
	if rs.after == nil {
		rs.after = make(map[resource.ID][]afterCall)
	}
	rs.registered = true
	for _, h := range handles {
		id, _ := handleOf(h)
		rs.after[id] = append(rs.after[id], afterCall{h.(*lua.LUserData), fn})
	}
	return 0
}

// field returns a field of the result of a handle.
func (rs *Results) field(L *lua.LState, handle *lua.LUserData, field string) lua.LValue {
	id, _ := handleOf(handle)
	r, _ := handle.Value.(*resource.Resource)
	ofCommand := !slices.Contains([]string{"changed", "failed", "outcome"}, field)
	if ofCommand && r != nil && !resource.TraitsOf(r.Spec).VerifiesItself {
		rs.ev.report.throw(L, "only resources that run a command have this field", "%s: %w", id, diag.Unknown("field", field, nil))
	}
	res, ok := rs.byID[id]
	if rs.running == 0 && (rs.ev.entries == nil || !ok) {
		rs.ev.report.throw(L, "use it inside ccm.lazy(function() ... end) or ccm.after(handle, function() ... end)",
			"%s.%s is used too early: the value is known only after the resource was applied", id, field)
	}
	if !ok {
		rs.ev.report.throw(L, "require it, or declare it earlier", "%s.%s is not known yet: the resource has not been applied", id, field)
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
func (rs *Results) resolver(t *resource.Type, entries []schema.Entry, where *locator, from resource.Origin) func(context.Context) (any, error) {
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
			if e.Val, err = rs.resolve(ctx, e.Val.X.(schema.Value)); err == nil {
				if path, f := findUnsupported(tab.Entries[i : i+1]); f != "" {
					err = fmt.Errorf("%s: %w", path[:1], diag.SubjectCannot("a property", "hold %s", f))
				}
			}
			if err == nil && e.Val.Kind == schema.Nil {
				err = rs.lazyNil(where, e.Key)
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
func (rs *Results) resolve(ctx context.Context, v schema.Value) (schema.Value, error) {
	switch v.Kind {
	case schema.Opaque:
		l, ok := v.X.(*lazyValue)
		if !ok {
			return v, nil
		}
		out, err := rs.callback(ctx, l.fn, 1)
		if err != nil {
			return v, err
		}
		val := rs.ev.convert.property(out[0])
		if val.Kind == schema.Lazy {
			return v, fmt.Errorf("the function of ccm.lazy: %w", diag.Expected("the value itself").Got("a lazy value"))
		}
		return val, nil
	case schema.List:
		items := slices.Clone(v.Items())
		for i := range items {
			var err error
			if items[i], err = rs.resolve(ctx, items[i]); err != nil {
				return v, err
			}
		}
		return schema.ListValue(items...), nil
	case schema.Map:
		tab := &schema.Table{Entries: slices.Clone(v.Table().Entries)}
		for i := range tab.Entries {
			var err error
			if tab.Entries[i].Val, err = rs.resolve(ctx, tab.Entries[i].Val); err != nil {
				return v, err
			}
		}
		return schema.MapValue(tab), nil
	}
	return v, nil
}
