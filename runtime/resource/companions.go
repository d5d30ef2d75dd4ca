package resource

import (
	"context"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/schema"
)

// An Inventory has the names of all existing things of a type; nil if they are not known.
type Inventory []string

// Inventory lists all existing things of the type; nil if the provider does not know them.
func (b Binding) Inventory(ctx context.Context, v *host.View) (list Inventory, err error) {
	defer b.recoverError(&err)
	if b.bulk.Inventory == nil {
		return nil, nil
	}
	return b.bulk.Inventory(ctx, v)
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
	return b.bulk.CompanionText(specs, came, went)
}

// CompanionRecreation returns the declarations that make things again that went with resources of these
// specs, which were removed. How they were, such as their versions, is not known.
func (b Binding) CompanionRecreation(specs []any, before, after Inventory) (list []Declaration) {
	if before == nil || after == nil || b.Type.recreate == nil {
		return nil
	}
	fields := b.Type.Schema()
	own := make(map[string]bool, len(specs))
	for _, spec := range specs {
		own[fields.NameOf(spec)] = true
	}
	for _, entry := range before.without(after) {
		name := entry[strings.LastIndexByte(entry, ' ')+1:] // the state of a package may stand before it
		if own[name] {
			continue
		}
		d := Declaration{Type: b.Type.Name, Properties: new(schema.Table), Note: "its version before the removal is not known"}
		d.Properties.Set(fields.Name().Name, schema.StringValue(name))
		d.Properties.Set("provider", schema.StringValue(b.Name))
		list = append(list, d)
	}
	return list
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
