package machine

import (
	"context"
	"fmt"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// Import returns the declaration of one resource in its present state. If user is not "", the resource is a service of
// that user.
func Import(ctx context.Context, reg *resource.Registry, t *resource.Type, im resource.Import, user string, fs *facts.Facts) (d manifest.ResolvedResource, err error) {
	asked := &schema.Table{Entries: []schema.Entry{{Key: t.Schema().Name().Name, Val: schema.StringValue(im.Name)}}}
	if user != "" { // another user may have the same service, so the user is part of the resource's name
		asked.Set("service", schema.StringValue(im.Name))
		asked.Set("scope", schema.StringValue(string(resources.UserService)))
		asked.Set("user", schema.StringValue(user))
		im.Name += "-" + user
	}
	r, err := t.DecodeQuery(asked, resource.Origin{})
	if err != nil {
		return d, err
	}
	if err := reg.MayWork(im.View, r); err != nil {
		return d, err
	}
	provider, err := reg.Select(r, fs)
	if err != nil {
		return d, err
	}
	state, err := provider.Inspect(ctx, im.View, r.Spec)
	if err != nil {
		return d, err
	}
	im.Spec = r.Spec
	if r, err = t.Import(state, im); err != nil {
		return d, err
	}
	tab := t.Properties().Encode(r.Spec, r.Common)
	return manifest.ResolvedResource{Type: t, Name: im.Name, Properties: withoutDefaults(t, tab)}, nil
}

// withoutDefaults returns properties without the name, and without values that mean the same as no value.
func withoutDefaults(t *resource.Type, tab *schema.Table) *schema.Table {
	out := new(schema.Table)
	for _, e := range tab.Entries {
		f := t.Schema().Field(e.Key)
		if f != nil && (f.IsName || f.Default != "" && e.Val.Kind != schema.List && fmt.Sprint(e.Val.Go()) == f.Default) {
			continue
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}
