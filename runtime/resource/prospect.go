package resource

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
)

// A Prospect is the expected success of a pending resource.
type Prospect struct {
	// Caveat is a remark, such as the version that would be installed.
	Caveat string
	// Err is the error with which it is going to fail.
	Err error
	// Look is the lookup that it depends on; none if its kind is a path and its name is "".
	Look host.Look
	// DependsOn lists paths whose change may change the prospect.
	DependsOn []string
	// Installs lists the names of further resources of the type that are installed with
	// it, such as dependencies.
	Installs []string
}

// ForeseesMany reports whether the provider implements [BatchForecaster].
func (f Binding) ForeseesMany() bool {
	return f.Type.foreseesMany != nil && f.Type.foreseesMany(f.impl)
}

// ForeseeAll returns the prospects of many resources at once. It is not ok if the provider
// cannot.
func (f Binding) ForeseeAll(ctx context.Context, v *host.View, specs []any) (list []Prospect, ok bool) {
	if f.Type.foreseeAll == nil {
		return nil, false
	}
	return f.Type.foreseeAll(ctx, v, f.impl, specs)
}

func foreseeAll[P any](ctx context.Context, v *host.View, prov any, specs []any) ([]Prospect, bool) {
	f, ok := prov.(BatchForecaster[P])
	if !ok {
		return nil, false
	}
	wants := make([]P, len(specs))
	for i, p := range specs {
		wants[i] = *p.(*P)
	}
	return f.ForeseeAll(ctx, v, wants), true
}
