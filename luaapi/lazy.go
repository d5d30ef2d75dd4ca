package luaapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// Some values are known only when the machine is being converged. ccm.lazy
// stands for one until its resource's turn has come; ccm.after calls a function
// when a resource was dealt with. In both, handles tell what became of theirs.

// later is what an interpreter knows of values that are known later.
type later struct {
	awaited  bool // a script has called ccm.lazy or ccm.after
	asking   int  // functions of these that are running
	lazySeen bool // a value was converted that holds a lazy one
	lazies   *lua.LTable
	results  map[resource.ID]Fate
	after    map[resource.ID][]waiting
}

// A lazy value is what ccm.lazy returns, in a userdata.
type lazy struct{ fn *lua.LFunction }

// String says what it is, with its article.
func (*lazy) String() string { return "a value that is known later" }

// A waiting function is called when the resource of its handle was dealt with.
type waiting struct {
	handle *lua.LUserData
	fn     *lua.LFunction
}

// A Fate is what became of a resource in a run.
type Fate struct {
	Outcome string // the word for it
	Changed bool
	Failed  bool
	// Planned says that nothing was to be done about it, as in a plan.
	Planned bool
	// Ran is how its command ended; nil if none was run.
	Ran *host.Result
}

// Awaits reports whether scripts wait for what is known later. If so, the
// interpreter stays open, and wants to be told.
func (in *Interp) Awaits() bool { return in.awaited }

// Forget begins a run or plan: nothing is known of any resource.
func (in *Interp) Forget() { in.results = nil }

// Tell lets handles know what became of a resource, and then calls the functions
// that wait for that. It returns every mistake in them.
func (in *Interp) Tell(ctx context.Context, id resource.ID, res Fate) error {
	if !in.awaited {
		return nil
	}
	if in.results == nil {
		in.results = make(map[resource.ID]Fate)
	}
	in.results[id] = res
	if res.Planned || ctx.Err() != nil {
		return nil
	}
	var errs diag.List
	for _, w := range in.after[id] {
		_, err := in.ask(ctx, w.fn, 0, w.handle)
		errs.Add(err)
	}
	return errs.Err()
}

// ask calls a function in which handles tell what became of their resources.
func (in *Interp) ask(ctx context.Context, fn *lua.LFunction, results int, args ...lua.LValue) ([]lua.LValue, error) {
	in.asking++
	defer func() { in.asking-- }()
	return in.Invoke(ctx, fn, results, args...)
}

// makeLazy is ccm.lazy.
func (in *Interp) makeLazy(L *lua.LState) int {
	fn, ok := L.Get(1).(*lua.LFunction)
	if !ok || L.GetTop() > 1 {
		in.throw(L, "write ccm.lazy(function() return ... end)", "ccm.lazy: want a function, got %s", kindOf(L.Get(1)))
	}
	if in.lazies == nil {
		in.openLazies()
	}
	in.awaited = true
	L.Push(&lua.LUserData{Value: &lazy{fn}, Env: in.vm.Env, Metatable: in.lazies})
	return 1
}

// openLazies makes the metatable of lazy values: nothing can be done with one but
// to give it to a property.
func (in *Interp) openLazies() {
	mt := in.vm.CreateTable(0, 8)
	refuse := in.vm.NewFunction(func(L *lua.LState) int {
		in.throw(L, "write what is to be done with it inside of its function", "a value of ccm.lazy is known only when the turn of its resource has come")
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
	in.lazies = mt
}

// callAfter is ccm.after.
func (in *Interp) callAfter(L *lua.LState) int {
	id, isHandle := handleOf(L.Get(1))
	fn, isFunction := L.Get(2).(*lua.LFunction)
	const form = "write ccm.after(handle, function() ... end)"
	switch {
	case !isHandle:
		in.throw(L, form, "ccm.after: want the handle of a resource, got %s", kindOf(L.Get(1)))
	case !isFunction || L.GetTop() > 2:
		in.throw(L, form, "ccm.after: want a function behind the handle, got %s", kindOf(L.Get(2)))
	case in.invoked > 0:
		in.throw(L, "", "ccm.after: the machine is being converged already")
	}
	if in.after == nil {
		in.after = make(map[resource.ID][]waiting)
	}
	in.awaited = true
	in.after[id] = append(in.after[id], waiting{L.CheckUserData(1), fn})
	return 0
}

// known returns a field of a handle that tells what became of its resource.
func (in *Interp) known(L *lua.LState, handle *lua.LUserData, field string) lua.LValue {
	id, _ := handleOf(handle)
	r, _ := handle.Value.(*resource.Resource)
	ofCommand := !slices.Contains([]string{"changed", "failed", "outcome"}, field)
	if ofCommand && r != nil && !resource.JudgedByPerform(r.Spec) {
		in.throw(L, "only what runs a command has it", "%s has no field %q", id, field)
	}
	res, ok := in.results[id]
	if in.asking == 0 && (in.session == nil || !ok) {
		in.throw(L, "use it inside of ccm.lazy(function() ... end) or ccm.after(handle, function() ... end)",
			"%s.%s is used too early: it is known only after the resource was dealt with", id, field)
	}
	if !ok {
		in.throw(L, "require it, or declare it earlier", "%s.%s is not known yet: the resource was not dealt with so far", id, field)
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
	case res.Ran == nil:
		return lua.LNil
	case field == "stdout":
		return lua.LString(strings.TrimRight(string(res.Ran.Stdout), "\n"))
	case field == "stderr":
		return lua.LString(strings.TrimRight(string(res.Ran.Stderr), "\n"))
	}
	return lua.LNumber(res.Ran.Code)
}

// property converts the value of a property for the decoder. One that is lazy, or
// holds something that is, becomes one that is known later.
func (in *Interp) property(v lua.LValue) schema.Value {
	in.lazySeen = false
	val := in.value(v, 0)
	if in.lazySeen {
		return schema.Value{Kind: schema.Later, X: val}
	}
	return val
}

// resolver returns what finds the whole spec of a declaration when its turn has
// come. The mistakes in it have their places in the script.
func (in *Interp) resolver(t *resource.Type, entries []schema.Entry, where *place, from resource.Origin) func(context.Context) (any, error) {
	entries = slices.Clone(entries)
	return func(ctx context.Context) (any, error) {
		tab := &schema.Table{Entries: slices.Clone(entries), Where: where}
		var errs diag.List
		for i := range tab.Entries {
			e := &tab.Entries[i]
			if e.Val.Kind != schema.Later {
				continue
			}
			var err error
			if e.Val, err = in.resolve(ctx, e.Val.X.(schema.Value)); err == nil {
				if path, f := foreignIn(tab.Entries[i : i+1]); f != "" {
					err = fmt.Errorf("%s: a property cannot hold %s", path[:1], f)
				}
			}
			if err == nil && e.Val.Kind == schema.Nil {
				err = in.doubtLazy(where, e.Key)
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

// resolve returns v with the results of the functions in the place of what is
// lazy in it.
func (in *Interp) resolve(ctx context.Context, v schema.Value) (schema.Value, error) {
	switch v.Kind {
	case schema.Opaque:
		l, ok := v.X.(*lazy)
		if !ok {
			return v, nil
		}
		out, err := in.ask(ctx, l.fn, 1)
		if err != nil {
			return v, err
		}
		val := in.property(out[0])
		if val.Kind == schema.Later {
			return v, errors.New("the function of ccm.lazy returned a lazy value; want the value itself")
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
