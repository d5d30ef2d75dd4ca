package resource

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
)

// A Registry knows the types and their providers. It does not change.
type Registry struct {
	types     []*Type
	byName    map[string]*Type
	factories map[*Type][]Factory
}

// NewRegistry returns the registry of the given providers and of the types
// that they are for.
func NewRegistry(providers ...Factory) (*Registry, error) {
	reg := &Registry{byName: make(map[string]*Type), factories: make(map[*Type][]Factory)}
	for _, f := range providers {
		switch known := reg.byName[f.Type.Name]; known {
		case f.Type:
		case nil:
			reg.byName[f.Type.Name] = f.Type
			reg.types = append(reg.types, f.Type)
		default:
			return nil, fmt.Errorf("two types are named %s", f.Type.Name)
		}
		if slices.ContainsFunc(reg.factories[f.Type], func(g Factory) bool { return g.Name == f.Name }) {
			return nil, fmt.Errorf("two providers of %s are named %s", f.Type.Name, f.Name)
		}
		reg.factories[f.Type] = append(reg.factories[f.Type], f)
	}
	slices.SortFunc(reg.types, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	return reg, nil
}

// Types returns all types in order of name.
func (reg *Registry) Types() []*Type { return reg.types }

// Type returns the type of that name, or nil.
func (reg *Registry) Type(name string) *Type { return reg.byName[name] }

// TypeNames returns the names of all types in order.
func (reg *Registry) TypeNames() []string {
	names := make([]string, len(reg.types))
	for i, t := range reg.types {
		names[i] = t.Name
	}
	return names
}

// Providers returns the names of the providers of t in order.
func (reg *Registry) Providers(t *Type) []string {
	var names []string
	for _, f := range reg.factories[t] {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// CheckProvider reports a provider= that no provider of the type has.
func (reg *Registry) CheckProvider(r *Resource) error {
	want := r.Common.Provider
	names := reg.Providers(r.Type)
	if want == "" || slices.Contains(names, want) {
		return nil
	}
	e := r.Errorf([]any{"provider"}, "provider: want one of %s, got %q", strings.Join(names, ", "), want)
	e.Hint = diag.DidYouMean(want, names)
	return e
}

// Select returns the provider for r on the machine that f describes: the one
// that r asks for, or of those that suit the one with the lowest priority
// number, then the first in order of name. If none suits, the error lists why.
func (reg *Registry) Select(r *Resource, f *facts.Facts) (Factory, error) {
	var best *Factory
	var lowest int
	var whys []string
	for i := range reg.factories[r.Type] {
		p := &reg.factories[r.Type][i]
		if r.Common.Provider != "" && r.Common.Provider != p.Name {
			continue
		}
		priority, err := p.suits(f, r.Spec)
		if err != nil {
			whys = append(whys, p.Name+": "+err.Error())
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(priority, lowest), strings.Compare(p.Name, best.Name)) < 0 {
			best, lowest = p, priority
		}
	}
	if best == nil {
		slices.Sort(whys)
		return Factory{}, fmt.Errorf("no provider of %s suits this machine: %s", r.Type.Name, strings.Join(whys, "; "))
	}
	return *best, nil
}
