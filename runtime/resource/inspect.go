package resource

import (
	"context"
	"errors"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/schema"
)

// An Import has the options of an import.
type Import struct {
	Name string
	View *host.View
	// Spec is the spec with which the state was asked for, nil if only the name was given.
	Spec any
	// StoreFile stores content that is too long for a script in a file, and returns the path
	// to use in the script.
	StoreFile func(content []byte) (path string, err error)
	// Sensitive is set if the resource holds secrets, or held some.
	Sensitive bool
	// Warn reports content that was stored in a file because it may be secret.
	Warn func(message string)
}

// ErrNotImportable is the error that states of a type cannot be imported.
var ErrNotImportable = diag.SubjectCannot("", "be imported")

// Inspect reports the present state of a resource in full.
func (b Binding) Inspect(ctx context.Context, v *host.View, spec any) (state any, err error) {
	defer b.recoverError(&err)
	return b.Type.inspect(ctx, v, b.impl, spec)
}

// Names returns the names that begin with prefix of existing resources of the type, as far as the
// provider knows them.
func (b Binding) Names(ctx context.Context, v *host.View, prefix string) (names []string, err error) {
	defer b.recoverError(&err)
	if l, ok := b.impl.(Lister); ok {
		return l.Names(ctx, v, prefix)
	}
	return nil, nil
}

// DecodeQuery makes a resource of some of its properties, for [Binding.Inspect]. A missing
// property is a mistake only if the type requires it of every resource.
func (t *Type) DecodeQuery(tab *schema.Table, from Origin) (*Resource, error) {
	r := &Resource{Type: t, Pos: from.Pos, Positions: tab.Positions, ID: ID{t.Name, nameIn(t.schema(), tab)}}
	spec := t.new()
	r.Common = new(Common)
	if err := t.union().Decode(tab, spec, r.Common); err != nil {
		return nil, r.mistakes(err)
	}
	if r.Spec = spec; t.resolvePaths != nil && from.Dir != "" {
		r.Spec = t.resolvePaths(spec, from.Dir)
	}
	var all, given diag.List
	all.Add(r.validate())
	for _, e := range all {
		// Mistakes in properties that were not given do not count.
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
	if t.importState == nil {
		return nil, ErrNotImportable
	}
	spec, err := t.importState(state, im)
	if err != nil {
		return nil, err
	}
	return &Resource{ID: ID{t.Name, im.Name}, Type: t, Spec: spec, Common: EmptyCommon}, nil
}

// Importable reports whether states of t can be imported: the name has to be the only required
// property.
func (t *Type) Importable() bool {
	return t.importState != nil && !slices.ContainsFunc(t.schema().Fields, func(f schema.Field) bool { return f.Required && !f.IsName })
}

// defineInspect sets the functions of t for Inspect, Names and Import.
func defineInspect[D Spec[S, P], S any, P Provider[D, S]](t *Type) {
	t.inspect = func(ctx context.Context, v *host.View, provider, spec any) (any, error) {
		if x, ok := provider.(Inspector[D, S]); ok {
			return x.Inspect(ctx, v, *spec.(*D))
		}
		return t.status(ctx, v, provider, spec)
	}
	if _, ok := any(*new(S)).(Importer[D]); ok {
		t.importState = func(state any, im Import) (any, error) {
			spec, err := state.(Importer[D]).Import(im)
			return &spec, err
		}
	}
}
