package resource

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// A purge removes what no resource of a run declares. Status gets the declared resources by its
// context.

type declaredKey struct{}

// WithDeclared returns a context for Status and Perform. In it, list returns all declared
// resources, also those that are skipped or not selected.
func WithDeclared(ctx context.Context, list func() []*Resource) context.Context {
	return context.WithValue(ctx, declaredKey{}, list)
}

// pathProperties are properties that hold paths. A lazy value in one of them makes the declared
// paths unknown.
var pathProperties = []string{"path", "paths", "creates", "extract_parent"}

// DeclaredPaths returns the paths that declared resources manage or have among their properties.
// It is an error if they are not known, as outside of a run or a plan.
func DeclaredPaths(ctx context.Context) (paths []string, err error) {
	list, ok := ctx.Value(declaredKey{}).(func() []*Resource)
	if !ok {
		return nil, diag.None("declared resources outside of a run or plan")
	}
	for _, r := range list() {
		for _, name := range r.LazyProperties {
			if slices.Contains(pathProperties, name) {
				return nil, fmt.Errorf("%s of %s is known later, so declared paths are not known yet (apply this after it: require = %[2]s)", name, r.ID)
			}
		}
		if path.IsAbs(r.ID.Name) {
			paths = append(paths, path.Clean(r.ID.Name))
		}
		if r.Spec == nil {
			continue
		}
		if p, ok := r.Spec.(*Properties); ok && p.functions.Effects != nil {
			effects, _, err := p.functions.Effects(p, nil)
			if err != nil {
				return nil, diag.Cannot("determine", fmt.Sprintf("what %s creates", r.ID), err)
			}
			for _, e := range effects {
				paths = append(paths, e.Path)
			}
		}
		if b, ok := r.Spec.(EffectBound); ok {
			bound, _ := b.ConfinedTo()
			paths = append(paths, bound...)
		}
		if r.Type != nil {
			paths = appendPaths(paths, schema.MapValue(r.Type.Properties().Encode(r.Spec, r.Common)))
		}
	}
	return paths, nil
}

// appendPaths adds all absolute paths in a value.
func appendPaths(paths []string, v schema.Value) []string {
	switch x := v.Go().(type) {
	case string:
		if strings.HasPrefix(x, "/") && !strings.ContainsAny(x, "\n\x00") {
			paths = append(paths, path.Clean(x))
		}
	case []any, map[string]any:
		for _, item := range v.Items() {
			paths = appendPaths(paths, item)
		}
		if t := v.Table(); t != nil {
			for _, e := range t.Entries {
				paths = appendPaths(paths, e.Val)
			}
		}
	}
	return paths
}
