package resource

import (
	"errors"
	"fmt"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// KnownAfterRun is what a plan prints for a value that is known later.
const KnownAfterRun = "(known after run)"

// later returns the properties whose values in tab are known later. Those by
// which the resource has its place in the catalog are not among them.
func (r *Resource) later(tab *schema.Table, spec any) ([]string, error) {
	var names []string
	var errs diag.List
	for i := range tab.Entries {
		e := &tab.Entries[i]
		if e.Val.Kind != schema.Later {
			continue
		}
		f := r.Type.schema().Field(e.Key)
		why := ""
		switch _, applies := spec.(Applying); {
		case f == nil:
			why = "every type has it, and it has to be known before the run"
		case f.IsName:
			why = "it names the resource"
		case applies:
			why = "what is applied has to be known before the run"
		}
		if why != "" {
			errs.Add(&diag.Error{Pos: r.Locate(e.Key), Err: fmt.Errorf("%s: cannot be known later: %s", e.Key, why)})
			continue
		}
		names = append(names, f.Name)
	}
	return names, errs.Err()
}

// checkName finds what is wrong with the name of r, whose other properties are
// not all known.
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

// Properties returns the properties of r that were given or have a default. What
// is known later is [KnownAfterRun].
func (r *Resource) Properties() *schema.Table {
	t := r.Type.Properties().Encode(r.Spec, r.Common)
	for _, name := range r.Later {
		t.Set(name, schema.StringValue(KnownAfterRun))
	}
	return t
}

// Resolved returns r with a spec in which everything is known.
func (r *Resource) Resolved(spec any) *Resource {
	c := *r
	c.Spec, c.Later, c.Resolve = spec, nil, nil
	return &c
}
