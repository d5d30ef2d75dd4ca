package spec

import (
	"cmp"
	"context"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/contract"
	"github.com/luaccm/ccm/runtime/schema"
)

// suiteKeys are the allowed keys of the table of suite.
var suiteKeys = []string{"starts", "wants", "fails", "phrases"}

// suite is suite(type, { starts, wants, fails, phrases }): a test for each spec
// from each start, in which the type is held to the contract of all types.
func (r *runner) suite(L *lua.LState, word string) int {
	if r.running {
		r.in.Throw(L, "", "%s: tests cannot be declared inside a running test", word)
	}
	name, _ := L.Get(1).(lua.LString)
	t := r.Registry.Type(string(name))
	if t == nil {
		err := diag.Unknown("resource type", L.Get(1).String(), r.Registry.TypeNames())
		r.in.Throw(L, cmp.Or(diag.HintOf(err), "require the module that defines the type first"), "suite: %w", err)
	}
	o := optionReader{r.in, L}
	given := o.table("the suite", L.Get(2))
	s := contract.Suite{Binding: r.Registry.Bindings(t)[0], Starts: map[string]func(string) (host.Runner, error){}, Wants: map[string]any{}}
	for k, v := given.Next(lua.LNil); k != lua.LNil; k, v = given.Next(k) {
		switch key := k.String(); key {
		case "starts":
			o.each(key, v, func(name string, v lua.LValue) {
				g := o.given(v)
				s.Starts[name] = func(root string) (host.Runner, error) { return r.Imagine(root, g) }
			})
		case "wants":
			o.each(key, v, func(name string, v lua.LValue) { s.Wants[name] = r.spec(L, t, name, v) })
		case "fails":
			s.Fails = o.texts(key, v)
		case "phrases":
			s.Phrases = make(map[string][]string)
			o.each(key, v, func(name string, v lua.LValue) { s.Phrases[name] = o.list(key, v) })
		default:
			r.in.Throw(L, "", "suite: %w", diag.Unknown("key", key, suiteKeys))
		}
	}
	if len(s.Starts) == 0 || len(s.Wants) == 0 {
		r.in.Throw(L, `such as { starts = { empty = {} }, wants = { ... } }`, "suite: %w", diag.Expected("starts and wants"))
	}
	trials, err := s.Trials()
	if err != nil {
		r.in.Throw(L, "", "suite: %w", err)
	}
	b := &block{name: string(name), parent: r.current}
	r.current.parts = append(r.current.parts, part{block: b})
	r.current = b
	defer func() { r.current = b.parent }()
	for _, trial := range trials {
		r.add(L, &test{name: trial.Name, trial: &trial})
	}
	return 0
}

// spec returns the spec of properties that are given as in a script.
func (r *runner) spec(L *lua.LState, t *resource.Type, name string, v lua.LValue) any {
	tab := new(schema.Table)
	optionReader{r.in, L}.each("wants", v, func(key string, v lua.LValue) {
		val, ok := toValue(r.in, v, 0)
		if !ok {
			r.in.Throw(L, "", "suite: wants.%s: %w", name, diag.Expected("plain values").Got("%s as %s", r.in.Show(v), key))
		}
		if key == "1" {
			key = t.Schema().Name().Name
		}
		tab.Entries = append(tab.Entries, schema.Entry{Key: key, Val: val})
	})
	x, err := t.Decode(tab, resource.Origin{Pos: r.in.Caller(L).Pos(), Dir: r.in.Caller(L).Dir()})
	if err != nil {
		var list diag.List
		list.Add(err)
		texts := make([]string, len(list))
		for i, e := range list {
			texts[i] = e.Message()
		}
		r.in.Throw(L, "", "suite: wants.%s: %s", name, strings.Join(texts, "; "))
	}
	return x.Spec
}

// try runs a trial.
func (r *runner) try(ctx context.Context, t *test) error {
	root, err := r.Scratch()
	if err == nil {
		err = t.trial.Run(ctx, root, r.Clock)
	}
	if err == nil {
		return nil
	}
	return &diag.Error{Pos: t.pos, Err: &failedError{err.Error()}}
}
