package resource

import (
	"errors"
	"fmt"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// KnownAfterRun replaces lazy values in plans.
const KnownAfterRun = "(known after run)"

// lazyProperties returns the names of the properties with lazy values in tab. A property that the catalog
// needs, such as the name, must not be lazy.
func (r *Resource) lazyProperties(tab *schema.Table, spec any) ([]string, error) {
	var names []string
	var errs diag.List
	for i := range tab.Entries {
		e := &tab.Entries[i]
		if e.Val.Kind != schema.Lazy {
			continue
		}
		f := r.Type.schema().Field(e.Key)
		why := ""
		switch {
		case f == nil:
			why = "common properties must be known before the run"
		case f.IsName:
			why = "it names the resource"
		case TraitsOf(spec).Child != nil:
			why = "applied manifests must be known before the run"
		}
		if why != "" {
			errs.Add(&diag.Error{Pos: r.Locate(e.Key), Err: fmt.Errorf("%s: %w", e.Key, diag.SubjectCannot("", "be known later: %s", why))})
			continue
		}
		names = append(names, f.Name)
	}
	return names, errs.Err()
}

// checkName returns the mistakes in the name of r. The other properties are validated once all
// values are known.
func (r *Resource) checkName() error {
	var all, mine diag.List
	all.Add(r.Type.validate(r.Spec))
	for _, e := range all {
		if p, ok := errors.AsType[*PropertyError](e.Err); ok && p.Property == r.Type.schema().Name().Name {
			mine = append(mine, e)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	return r.mistakes(mine)
}

// Properties returns the properties of r that are set or have a default. Late ones are
// [KnownAfterRun].
func (r *Resource) Properties() *schema.Table {
	t := r.Type.Properties().Encode(r.Spec, r.Common)
	for _, name := range r.LazyProperties {
		t.Set(name, schema.StringValue(KnownAfterRun))
	}
	return t
}

// WithSpec returns a copy of r with the complete spec.
func (r *Resource) WithSpec(spec any) *Resource {
	c := *r
	c.Spec, c.LazyProperties, c.Resolve = spec, nil, nil
	return &c
}
