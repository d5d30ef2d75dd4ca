package resource

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
)

// A Prospect is what a plan can tell of the success of a resource that is pending.
type Prospect struct {
	// Caveat is what is to be said besides, such as the version that would be
	// installed.
	Caveat string
	// Err says why it is going to fail.
	Err error
	// Look is what was looked for; nothing if its kind is a path and its name is "".
	Look host.Look
	// HangsOn lists paths: if something changes there, another prospect may come of
	// it.
	HangsOn []string
	// Brings lists the names of further resources of the type that come with it, as
	// dependencies do.
	Brings []string
}

// ForeseesMany reports whether the provider implements [Foreseeing].
func (f Binding) ForeseesMany() bool {
	return f.Type.foreseesMany != nil && f.Type.foreseesMany(f.impl)
}

// ForeseeAll tells the prospects of many resources at once. The last result is
// false if the provider cannot.
func (f Binding) ForeseeAll(ctx context.Context, v *host.View, specs []any) (list []Prospect, ok bool) {
	if f.Type.foreseeAll == nil {
		return nil, false
	}
	return f.Type.foreseeAll(ctx, v, f.impl, specs)
}

func foreseeAll[P any](ctx context.Context, v *host.View, prov any, specs []any) ([]Prospect, bool) {
	f, ok := prov.(Foreseeing[P])
	if !ok {
		return nil, false
	}
	wants := make([]P, len(specs))
	for i, p := range specs {
		wants[i] = *p.(*P)
	}
	return f.ForeseeAll(ctx, v, wants), true
}
