package site

import (
	"context"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// NamesOf returns names of resources of a type that begin with a prefix, as far as the provider
// knows the possible names: packages, users. It is nil where any path is possible.
func NamesOf(ctx context.Context, v *host.View, fs *facts.Facts, reg *resource.Registry, t *resource.Type, prefix string) ([]string, error) {
	provider, err := reg.Select(t.NewSkipped(prefix, "", nil, resource.Origin{}), fs)
	if err != nil {
		return nil, err
	}
	return provider.Names(ctx, v, prefix)
}

// NamesOnMachine is NamesOf for a type that is built in.
func NamesOnMachine(ctx context.Context, v *host.View, fs *facts.Facts, typ, prefix string) ([]string, error) {
	reg, err := NewRegistry(&TemplateEnv{Facts: fs})
	if err != nil {
		return nil, err
	}
	t := reg.Type(typ)
	if t == nil {
		return nil, UnknownType(reg, typ)
	}
	return NamesOf(ctx, v, fs, reg, t, prefix)
}
