package resource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

// A Registry holds the types and their providers. Only a [Registry.Layer] can change.
type Registry struct {
	types     []*Type
	byName    map[string]*Type
	bindings  map[*Type][]Binding
	layer     bool
	find      func(reg *Registry, name string)
	searching bool
	model     func(f *Functions)
}

// NewRegistry returns a registry with the given providers and their types.
func NewRegistry(providers ...Binding) (*Registry, error) {
	reg := &Registry{byName: make(map[string]*Type), bindings: make(map[*Type][]Binding)}
	for _, b := range providers {
		switch known := reg.byName[b.Type.Name]; known {
		case b.Type:
		case nil:
			reg.byName[b.Type.Name] = b.Type
			reg.types = append(reg.types, b.Type)
		default:
			return nil, diag.Duplicate("type %s", b.Type.Name)
		}
		if slices.ContainsFunc(reg.bindings[b.Type], func(other Binding) bool { return other.Name == b.Name }) {
			return nil, diag.Duplicate("provider %s of type %s", b.Name, b.Type.Name)
		}
		reg.bindings[b.Type] = append(reg.bindings[b.Type], b)
	}
	reg.sort()
	return reg, nil
}

func (reg *Registry) sort() {
	slices.SortFunc(reg.types, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
}

// Layer returns a copy of reg for one run, to which the types of scripts can be added. Reg does
// not change.
func (reg *Registry) Layer() *Registry {
	return &Registry{
		types: slices.Clone(reg.types), byName: maps.Clone(reg.byName), bindings: maps.Clone(reg.bindings), layer: true, find: reg.find, model: reg.model,
	}
}

// WithFinder returns a layer that calls find for an unknown type. Find may add the type to the
// layer.
func (reg *Registry) WithFinder(find func(reg *Registry, name string)) *Registry {
	l := reg.Layer()
	l.find = find
	return l
}

// WithModel returns a layer for an imagined machine: model replaces functions of each type made
// of [Functions] before it is added.
func (reg *Registry) WithModel(model func(f *Functions)) *Registry {
	l := reg.Layer()
	l.model = model
	return l
}

// Add adds the type of a provider to a layer and returns the type. It must not be called while
// other goroutines use the layer. If the layer has a type of the same name and source, Add
// returns that one: several scripts of a run may define one type.
func (reg *Registry) Add(b Binding) (*Type, error) {
	known := reg.byName[b.Type.Name]
	switch {
	case !reg.layer:
		return nil, diag.SubjectCannot(fmt.Sprintf("the type %s", b.Type.Name), "be defined here")
	case known != nil && known.Source != "" && known.Source == b.Type.Source:
		return known, nil
	case known != nil:
		return nil, diag.Exists(fmt.Sprintf("type %s", b.Type.Name), "")
	}
	if f, ok := b.impl.(*Functions); ok && reg.model != nil {
		modeled := *f
		reg.model(&modeled)
		var err error
		if b, err = modeled.Bind(); err != nil {
			return nil, err
		}
	}
	reg.byName[b.Type.Name] = b.Type
	// The old list stays as it is, because Types may have returned it.
	reg.types = append(slices.Clip(reg.types), b.Type)
	reg.bindings[b.Type] = []Binding{b}
	reg.sort()
	return b.Type, nil
}

// Replace is Add for a type whose name another type may have, as in a session. Resources of the
// old type keep it.
func (reg *Registry) Replace(b Binding) (*Type, error) {
	if old := reg.byName[b.Type.Name]; reg.layer && old != nil && old.Source != "" {
		delete(reg.byName, b.Type.Name)
		reg.types = slices.DeleteFunc(slices.Clone(reg.types), func(t *Type) bool { return t == old })
	}
	return reg.Add(b)
}

// Types returns all types in order of name.
func (reg *Registry) Types() []*Type { return reg.types }

// Type returns the type of that name, or nil.
func (reg *Registry) Type(name string) *Type {
	if t := reg.byName[name]; t != nil || reg.find == nil || reg.searching {
		return t
	}
	reg.searching = true
	defer func() { reg.searching = false }()
	reg.find(reg, name)
	return reg.byName[name]
}

// TypeNames returns the names of all types in order.
func (reg *Registry) TypeNames() []string {
	names := make([]string, len(reg.types))
	for i, t := range reg.types {
		names[i] = t.Name
	}
	return names
}

// ProviderNames returns the names of the providers of t in order.
func (reg *Registry) ProviderNames(t *Type) []string {
	var names []string
	for _, b := range reg.bindings[t] {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	return names
}

// Bindings returns the providers of t.
func (reg *Registry) Bindings(t *Type) []Binding { return slices.Clone(reg.bindings[t]) }

// CheckProvider returns the mistake that the property provider does not name a provider of the
// type.
func (reg *Registry) CheckProvider(r *Resource) error {
	want := r.Common.Provider
	if want == "" {
		return nil
	}
	names := reg.ProviderNames(r.Type)
	if slices.Contains(names, want) {
		return nil
	}
	e := r.Errorf([]any{"provider"}, "provider: %w", diag.Expected("one of %s", strings.Join(names, ", ")).Got("%q", want))
	e.Hint = diag.DidYouMean(want, names)
	return e
}

// MayWork returns the reason why no provider can manage r on the machine of v, whichever suits it: the machine is only a
// directory, and they are all Live. Nil if one can.
func (reg *Registry) MayWork(v *host.View, r *Resource) error {
	if v.ActsBelowRoot() {
		return nil
	}
	live := false
	for _, b := range reg.bindings[r.Type] {
		if r.Common.Provider == "" || r.Common.Provider == b.Name {
			if live = b.Describe().Live; !live {
				break
			}
		}
	}
	if !live {
		return nil
	}
	return &host.RootError{Refused: r.Type.Name + " does not work", Root: v.Root()}
}

// Select returns the provider of r on the machine that f describes. It is the one that r asks
// for, or the suitable one with the lowest priority number. Two with the same number are an error
// that names both. If none suits, the error lists the reasons.
func (reg *Registry) Select(r *Resource, f *facts.Facts) (Binding, error) {
	var best []*Binding
	var lowest int
	var whys, missing []string
	for i := range reg.bindings[r.Type] {
		p := &reg.bindings[r.Type][i]
		if r.Common.Provider != "" && r.Common.Provider != p.Name {
			continue
		}
		priority, err := p.Suits(f, r.Spec)
		notFound, lacks := errors.AsType[*command.NotFoundError](err)
		switch {
		case lacks && r.Common.Provider == "":
			missing = append(missing, notFound.Name)
		case err != nil:
			whys = append(whys, p.Name+": "+err.Error())
		case len(best) == 0 || priority < lowest:
			best, lowest = append(best[:0], p), priority
		case priority == lowest:
			best = append(best, p)
		}
	}
	switch len(best) {
	case 0:
		slices.Sort(whys)
		if len(missing) > 0 {
			slices.Sort(missing)
			whys = append(whys, "there is no command "+strings.Join(missing, ", "))
		}
		where := "on this machine"
		if v := f.View(); v != nil && v.Root() != "/" {
			where = "in " + v.Root()
		}
		return Binding{}, diag.None("provider of %s works %s: %s", r.Type.Name, where, strings.Join(whys, "; "))
	case 1:
		return *best[0], nil
	}
	names := make([]string, len(best))
	for i, p := range best {
		names[i] = p.Name
	}
	slices.Sort(names)
	return Binding{}, fmt.Errorf("%s work equally well on this machine: choose one, as provider = %q", strings.Join(names, " and "), names[0])
}

// Usual returns the name of the provider of a resource of t that asks for none and whose
// properties suit every provider. The error is the reason why no provider does.
func (reg *Registry) Usual(t *Type, f *facts.Facts) (string, error) {
	b, err := reg.Select(&Resource{Type: t, Spec: t.new(), Common: EmptyCommon}, f)
	return b.Name, err
}
