package resource

import (
	"context"

	"github.com/luaccm/ccm/runtime/host"
)

// An Inventory has the names of all existing things of a type; nil if they are not known.
type Inventory []string

// Inventory lists all existing things of the type; nil if the provider is no [Companions].
func (b Binding) Inventory(ctx context.Context, v *host.View) (list Inventory, err error) {
	defer b.recoverError(&err)
	if b.Type.inventory == nil {
		return nil, nil
	}
	return b.Type.inventory(ctx, v, b.impl)
}

// CompanionText names the things that came or went between two inventories, besides the resources
// with these specs, on which an action was performed; "" if there are none.
func (b Binding) CompanionText(specs []any, before, after Inventory) string {
	if before == nil || after == nil {
		return ""
	}
	came, went := after.without(before), before.without(after)
	if len(came)+len(went) == 0 {
		return ""
	}
	return b.Type.companionText(b.impl, specs, came, went)
}

// without returns the names that other does not have.
func (list Inventory) without(other Inventory) []string {
	known := make(map[string]bool, len(other))
	for _, name := range other {
		known[name] = true
	}
	var rest []string
	for _, name := range list {
		if !known[name] {
			rest = append(rest, name)
		}
	}
	return rest
}

func inventory[D any](ctx context.Context, v *host.View, provider any) (Inventory, error) {
	if f, ok := provider.(Companions[D]); ok {
		return f.Inventory(ctx, v)
	}
	return nil, nil
}

func companionTextOf[D any](provider any, specs []any, came, went []string) string {
	return provider.(Companions[D]).CompanionText(specsOf[D](specs), came, went)
}
