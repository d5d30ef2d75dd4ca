package catalog

import (
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// MarkSecrets marks the resources that hold secrets. The error lists every secret that is where
// others can read it.
func MarkSecrets(k *secret.Keeper, list []*resource.Resource) error {
	reveals := make(map[*resource.Type]bool)
	some := false
	for _, r := range list {
		is, known := reveals[r.Type]
		if !known {
			is = r.Type.Properties().HoldsSecrets()
			reveals[r.Type] = is
		}
		some = some || r.HoldsSecrets()
		if is {
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
