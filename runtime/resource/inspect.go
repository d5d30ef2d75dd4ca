package resource

import (
	"context"
	"errors"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/schema"
)

// A Wish is what the states of types made of [Functions] can say instead of being
// [Importable]: the properties for which the state is as wanted, without the name.
// It is nil if there is nothing.
type Wish interface{ Wish() *schema.Table }

// An Import is what making properties of a state can use.
type Import struct {
	Name string
	View *host.View
	// Aside keeps content that would be out of place in a script, and returns the
	// path that stands for it there.
	Aside func(content []byte) (path string, err error)
	// Sensitive is set if the resource is known to hold secrets, or to have held some.
	Sensitive bool
	// Warn tells of what was put aside because it may be secret.
	Warn func(message string)
}

// ErrNotImportable says that no properties can be made of states of a type.
var ErrNotImportable = errors.New("cannot be imported")

// Inspect reports the present state of a resource in full.
func (f Binding) Inspect(ctx context.Context, v *host.View, spec any) (state any, err error) {
	defer f.recovered(&err)
	return f.Type.inspect(ctx, v, f.impl, spec)
}

// Names returns names of resources of the factory's type that begin with prefix,
// as far as the provider knows any.
func (f Binding) Names(ctx context.Context, v *host.View, prefix string) (names []string, err error) {
	defer f.recovered(&err)
	if l, ok := f.impl.(Lister); ok {
		return l.Names(ctx, v, prefix)
	}
	return nil, nil
}

// Ask makes a resource of what a command line wrote, for [Binding.Inspect]: what
// is left out is no mistake, save where the type requires it.
func (t *Type) Ask(tab *schema.Table, from Origin) (*Resource, error) {
	r := &Resource{Type: t, Pos: from.Pos, Where: tab.Where, ID: ID{t.Name, nameIn(t.schema(), tab)}}
	spec := t.new()
	r.Common = new(Common)
	if err := t.mix().Decode(tab, spec, r.Common); err != nil {
		return nil, r.mistakes(err)
	}
	if r.Spec = spec; t.locate != nil && from.Dir != "" {
		r.Spec = t.locate(spec, from.Dir)
	}
	var all, given diag.List
	all.Add(t.validate(r.Spec))
	for _, e := range all {
		// What is wrong for want of a property is no mistake here.
		if p, ok := errors.AsType[*PropertyError](e.Err); ok {
			if _, ok := tab.Get(p.Property); ok {
				given = append(given, e)
			}
		}
	}
	if len(given) > 0 {
		return nil, r.mistakes(given)
	}
	return r, nil
}

// Import makes a resource of a state. The error is [ErrNotImportable] if no
// state of the type can be imported.
func (t *Type) Import(state any, im Import) (*Resource, error) {
	if t.importing == nil {
		return nil, ErrNotImportable
	}
	spec, err := t.importing(state, im)
	if err != nil {
		return nil, err
	}
	return &Resource{ID: ID{t.Name, im.Name}, Type: t, Spec: spec, Common: NothingCommon}, nil
}

// Importable reports whether states of t can be imported.
func (t *Type) Importable() bool { return t.importing != nil }

// inspecting fills in what t knows of the abilities above.
func inspecting[P Spec[S, V], S any, V Provider[P, S]](t *Type) {
	t.inspect = func(ctx context.Context, v *host.View, prov, p any) (any, error) {
		if x, ok := prov.(Inspector[P, S]); ok {
			return x.Inspect(ctx, v, *p.(*P))
		}
		return t.status(ctx, v, prov, p)
	}
	if _, ok := any(*new(S)).(Importable[P]); ok {
		t.importing = func(state any, im Import) (any, error) {
			spec, err := state.(Importable[P]).Import(im)
			return &spec, err
		}
	}
}
