package resource

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Type is a kind of thing that can be managed. The engine handles specs, states and
// providers of all types alike, so the methods of Type take them as any. The functions
// below are made by [Define], which knows the Go types D (spec), S (state) and P (provider),
// and convert back. A spec is always a *D.
type Type struct {
	Name string
	// Source identifies the definition of a type in a script: types with the same name and source
	// are the same.
	Source string

	schema       func() *schema.Schema
	union        func() schema.Union
	new          func() any // *D
	validate     func(spec any) error
	resolvePaths func(spec any, dir string) any
	decide       func(spec, state any) Decision
	zero         any                                                                      // a state: that of an absent thing
	refresh      func(spec, state any, d Decision) Decision                               // nil if the type has no refresh
	desiredText  func(ctx context.Context, v *host.View, spec, state any) (string, error) // nil if the states always have the whole digest
	status       func(ctx context.Context, v *host.View, provider, spec any) (any, error)
	perform      func(ctx context.Context, h *host.Host, provider, spec any, a Action) error
	predict      func(ctx context.Context, v *host.View, provider, spec any) (string, error)
	recall       func(ctx context.Context, v *host.View, provider, spec any, desired DesiredDigest) (any, bool, error)
	inspect      func(ctx context.Context, v *host.View, provider, spec any) (any, error)
	importState  func(state any, im Import) (any, error) // nil if it cannot
	// recreate returns the declarations of [Binding.Recreation]; nil if files are all that there is.
	recreate func(ctx context.Context, v *host.View, provider string, spec, state any) ([]Declaration, error)
}

// A TypeDef is a Type with its Go types. The compiler accepts only providers for these types.
type TypeDef[D Spec[S, P], S any, P Provider[D, S]] struct{ Type *Type }

var commonSchema = sync.OnceValue(func() *schema.Schema { return schema.Of(reflect.TypeFor[Common]()) })

// CommonSchema describes the properties that every type has.
func CommonSchema() *schema.Schema { return commonSchema() }

// Define declares the type of that name, whose properties are the struct D.
func Define[D Spec[S, P], S any, P Provider[D, S]](name string) TypeDef[D, S, P] {
	t := &Type{
		Name:     name,
		schema:   sync.OnceValue(func() *schema.Schema { return schema.Of(reflect.TypeFor[D]()) }),
		new:      func() any { return new(D) },
		validate: func(spec any) error { return (*spec.(*D)).Validate() },
		decide:   func(spec, state any) Decision { return (*spec.(*D)).Decide(state.(S)) },
		zero:     *new(S),
		status: func(ctx context.Context, v *host.View, provider, spec any) (any, error) {
			return provider.(P).Status(ctx, v, *spec.(*D))
		},
		perform: func(ctx context.Context, h *host.Host, provider, spec any, a Action) error {
			return (*spec.(*D)).Perform(ctx, h, provider.(P), a)
		},
		predict: func(ctx context.Context, v *host.View, provider, spec any) (string, error) {
			if f, ok := provider.(Predictor[D]); ok {
				return f.Predict(ctx, v, *spec.(*D))
			}
			return "", nil
		},
	}
	t.union = sync.OnceValue(func() schema.Union { return schema.Union{t.schema(), commonSchema()} })
	if _, ok := any(*new(D)).(Refresher[S]); ok {
		t.refresh = func(spec, state any, d Decision) Decision {
			return any(*spec.(*D)).(Refresher[S]).Refresh(state.(S), d)
		}
	}
	if _, ok := any(*new(D)).(DesiredTexter[S]); ok {
		t.desiredText = func(ctx context.Context, v *host.View, spec, state any) (string, error) {
			return any(*spec.(*D)).(DesiredTexter[S]).DesiredText(ctx, v, state.(S))
		}
	}
	if _, ok := any(new(D)).(PathResolver); ok {
		t.resolvePaths = func(spec any, dir string) any {
			spec.(PathResolver).ResolvePaths(dir)
			return spec
		}
	}
	t.recall = func(ctx context.Context, v *host.View, provider, spec any, desired DesiredDigest) (any, bool, error) {
		r, ok := provider.(HistoricStatus[D, S])
		if !ok {
			return nil, false, nil
		}
		state, err := r.Recall(ctx, v, *spec.(*D), desired)
		return state, true, err
	}
	defineInspect[D, S, P](t)
	defineRecreation[D, S](t)
	return TypeDef[D, S, P]{t}
}

// Schema describes the properties of t.
func (t *Type) Schema() *schema.Schema { return t.schema() }

// Properties describes the properties of t and those that every type has.
func (t *Type) Properties() schema.Union { return t.union() }

// Refreshable reports whether resources of t can act on a change elsewhere.
func (t *Type) Refreshable() bool { return t.refresh != nil }

// Origin is where a declaration comes from.
type Origin struct {
	Pos   diag.Pos
	Dir   string // directory of the script or manifest, for relative paths
	Calls []diag.Note
	Skip  string // why the resource is not managed, or ""
	Scope *Scope // the script or manifest that declares it, or nil
}

// Decode makes a resource of a table in a script or manifest. The error is a [diag.List]
// of every mistake of decoding or, if there is none, of validation.
func (t *Type) Decode(tab *schema.Table, from Origin) (*Resource, error) {
	r := &Resource{Type: t, Pos: from.Pos, Dir: from.Dir, Positions: tab.Positions, Calls: from.Calls, Skip: from.Skip, Scope: from.Scope}
	r.ID = ID{t.Name, nameIn(t.schema(), tab)}
	spec := t.new()
	err := t.union().Decode(tab, spec, &r.Common)
	if r.Common == nil {
		r.Common = EmptyCommon
	}
	if err != nil {
		return nil, r.mistakes(err)
	}
	r.ID.Name = t.schema().NameOf(spec)
	lazy, err := r.lazyProperties(tab, spec)
	if err != nil {
		return nil, r.mistakes(err)
	}
	if t.resolvePaths != nil && from.Dir != "" {
		spec = t.resolvePaths(spec, from.Dir)
	}
	r.Spec = spec
	if r.LazyProperties = lazy; len(lazy) > 0 {
		if err := r.checkName(); err != nil {
			return nil, err
		}
		return r, nil
	}
	if err := r.validate(); err != nil {
		return nil, r.mistakes(err)
	}
	return r, nil
}

// DecodeInvalid returns the readable part of a resource that [Type.Decode] has refused: its name and its
// references. It takes the resource's place when references are checked, so that one mistake does
// not hide others.
func (t *Type) DecodeInvalid(tab *schema.Table, from Origin) *Resource {
	r := &Resource{Type: t, Pos: from.Pos, Dir: from.Dir, Positions: tab.Positions, Calls: from.Calls, Scope: from.Scope}
	r.ID = ID{t.Name, nameIn(t.schema(), tab)}
	_ = t.union().Decode(tab, t.new(), &r.Common) // the mistakes were reported by Decode
	if r.Common == nil {
		r.Common = EmptyCommon
	}
	return r
}

// validate returns the mistakes in the properties of r.
func (r *Resource) validate() error {
	err := r.Type.validate(r.Spec)
	if w, ok := r.Spec.(CommonValidator); ok {
		err = errors.Join(err, w.ValidateWith(*r.Common))
	}
	return errors.Join(err, r.Common.check())
}

// NewSkipped makes a resource that is not managed; from has the reason. It has only a name and an
// alias, and is not validated.
func (t *Type) NewSkipped(name, alias string, where schema.Locator, from Origin) *Resource {
	return &Resource{
		ID: ID{t.Name, name}, Type: t, Spec: t.new(), Common: &Common{Alias: alias},
		Pos: from.Pos, Dir: from.Dir, Positions: where, Calls: from.Calls, Skip: from.Skip, Scope: from.Scope,
	}
}

// nameIn returns the name of a resource before decoding, for messages.
func nameIn(s *schema.Schema, tab *schema.Table) string {
	if len(tab.Entries) > 0 {
		f := s.Name()
		for i := range tab.Entries {
			if s.Field(tab.Entries[i].Key) == f {
				return tab.Entries[i].Val.S
			}
		}
	}
	return ""
}

// A PropertyError is a mistake in one property, for Validate to return.
type PropertyError struct {
	Property string
	Err      error
	Hint     string
}

// Error returns property: error.
func (e *PropertyError) Error() string { return e.Property + ": " + e.Err.Error() }

// Unwrap returns the error without the property.
func (e *PropertyError) Unwrap() error { return e.Err }

// PropertyErrorf returns a PropertyError. It keeps the hint of an error among args.
func PropertyErrorf(property, format string, args ...any) *PropertyError {
	err := fmt.Errorf(format, args...)
	return &PropertyError{Property: property, Err: err, Hint: diag.HintOf(err)}
}

// HomeHint returns the hint for a path that begins with ~/, which only shells replace by the home directory; "" for
// another path.
func HomeHint(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return ""
	}
	return fmt.Sprintf("use env.HOME .. %q", "/"+rest)
}

// mistakes adds the subject and the place to every mistake in err.
func (r *Resource) mistakes(err error) error {
	subject := r.ID.String()
	if r.ID.Name == "" {
		subject = r.ID.Type
	}
	var list diag.List
	list.Add(err)
	for i, e := range list {
		c := *e
		c.Subject, c.Notes = subject, r.Calls
		if c.Pos.IsZero() {
			c.Pos = r.Pos
			if p, ok := errors.AsType[*PropertyError](c.Err); ok {
				c.Pos, c.Hint = r.Locate(p.Property), p.Hint
			}
		}
		list[i] = &c
	}
	return list.Err()
}

// A Binding is a provider that is registered for a type under a name.
type Binding struct {
	Name string
	Type *Type

	impl  any
	bulk  *Bulk[any, any]
	suits func(f *facts.Facts, spec any) (int, error)
}

// Suitability reports whether a provider can manage want on the machine that f describes: its
// priority (the lowest wins), or the reason why it cannot.
type Suitability[D any] func(f *facts.Facts, want D) (priority int, err error)

// Always is the Suitability of a provider that can always manage its resources.
func Always[D any](priority int) Suitability[D] {
	return func(*facts.Facts, D) (int, error) { return priority, nil }
}

// Provide binds the provider impl to the type.
func (t TypeDef[D, S, P]) Provide(name string, suits Suitability[D], impl P) Binding {
	bulk := bulkOf[D, S](impl)
	return Binding{
		Name: name, Type: t.Type, impl: impl, bulk: &bulk,
		suits: func(f *facts.Facts, spec any) (int, error) { return suits(f, *spec.(*D)) },
	}
}

// Suits returns the priority of the provider for a spec on the machine that f describes, or the
// reason why the provider cannot manage it.
func (b Binding) Suits(f *facts.Facts, spec any) (priority int, err error) { return b.suits(f, spec) }

// Status reports the present state of a resource.
func (b Binding) Status(ctx context.Context, v *host.View, spec any) (state any, err error) {
	defer b.recoverError(&err)
	return b.Type.status(ctx, v, b.impl, spec)
}

// recoverError turns a panic of a provider into an error of the resource, so that the run
// goes on.
func (b Binding) recoverError(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("provider %s of %s is broken: %v\n%s", b.Name, b.Type.Name, x, debug.Stack())
	}
}

// Predict returns the error with which the actions for a resource are going to fail, if the
// provider can predict it, and a caveat about what it could not check.
func (b Binding) Predict(ctx context.Context, v *host.View, spec any) (caveat string, err error) {
	defer b.recoverError(&err)
	return b.Type.predict(ctx, v, b.impl, spec)
}

// Perform performs one action.
func (b Binding) Perform(ctx context.Context, h *host.Host, spec any, a Action) (err error) {
	defer b.recoverError(&err)
	return b.Type.perform(ctx, h, b.impl, spec, a)
}

// Decide compares a state with a spec. Refresh means that a resource changed to which this one
// subscribes.
func (t *Type) Decide(spec, state any, refresh bool) Decision {
	d := t.decide(spec, state)
	if refresh && t.refresh != nil && d.Err == nil {
		d = t.refresh(spec, state, d)
	}
	return d
}

// DecideFresh decides for the state of a thing that another resource has just installed.
// It is not ok if that state is not known.
func (t *Type) DecideFresh(v *host.View, spec any) (Decision, bool) {
	fresh := TraitsOf(spec).FreshState
	if fresh == nil {
		return Decision{}, false
	}
	return t.decide(spec, fresh(v)), true
}

// DecideZero decides for the zero state of the type: the thing is absent.
func (t *Type) DecideZero(spec any) Decision { return t.decide(spec, t.zero) }

// BoundsOf returns the one path that spec manages. Looks means that its state depends only on that
// path, acts that its actions change only that path (see [PathConfined]).
func BoundsOf(spec any) (path string, looks, acts bool) {
	if b, ok := spec.(PathConfined); ok {
		return b.Bounds()
	}
	return "", false, false
}

// Same reports whether two bindings are of the same provider and type.
func (b Binding) Same(other Binding) bool { return b.Type == other.Type && b.Name == other.Name }
