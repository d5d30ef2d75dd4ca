package catalog

import (
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// Hide notes which of the resources hold secrets, and returns every one that is
// where it could be read.
func Hide(k *secret.Keeper, list []*resource.Resource) error {
	reveals := make(map[*resource.Type]bool)
	some := false
	for _, r := range list {
		is, known := reveals[r.Type]
		if !known {
			is = r.Type.Properties().HoldsSecrets()
			reveals[r.Type] = is
		}
		if is {
			some = true
			r.AddSecrets(k)
		}
	}
	if !some && !k.Any() {
		return nil
	}
	var errs diag.List
	for _, r := range list {
		errs.Add(r.MarkSensitive(k))
	}
	return errs.Err()
}
