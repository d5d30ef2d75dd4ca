package catalog

import (
	"fmt"
	"path"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// isGlob reports whether a name may be a pattern.
func isGlob(id resource.ID) bool { return strings.ContainsAny(id.String(), "*?[") }

// glob returns the indices of the resources whose type and name, or alias, match a pattern. If
// there are none, it returns an error.
func (c *Catalog) glob(pattern resource.ID) (found []int, err error) {
	for i, r := range c.Resources {
		ok, err := matchID(pattern, r.ID)
		if err == nil && !ok && r.Common.Alias != "" {
			ok, err = matchID(pattern, resource.ID{Type: r.ID.Type, Name: r.Common.Alias})
		}
		if err != nil {
			return nil, diag.Errorf(diag.Pos{}, "--target: %s: %w", pattern, err)
		}
		if ok {
			found = append(found, i)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	e := diag.At(diag.Pos{}, fmt.Errorf("--target: %w", diag.None("resource matches %s", pattern)))
	if near := diag.Nearest(pattern.String(), c.likeGlob(pattern.String())); near != "" {
		e.WithHint("did you mean %s?", near)
	} else if dir, ok := strings.CutSuffix(pattern.Name, "/*"); ok {
		deep := resource.ID{Type: pattern.Type, Name: dir + "/**"}
		if _, err := c.glob(deep); err == nil {
			e.WithHint("* does not match /, use %s for everything below", deep)
		}
	}
	return nil, e
}

// likeGlob returns the names of the resources, with their last part replaced by that of the
// pattern. The names are suggestions for a typo in the type or directory of a pattern.
func (c *Catalog) likeGlob(pattern string) []string {
	at := strings.LastIndexAny(pattern, "/#")
	names := c.Names()
	for i, name := range names {
		names[i] = name[:strings.LastIndexByte(name, pattern[at])+1] + pattern[at+1:]
	}
	return names
}

// matchID reports whether a resource matches a pattern. In types and between the slashes of names
// the syntax is that of path.Match; ** matches any number of names with their slashes. The name *
// matches any name.
func matchID(pattern, id resource.ID) (bool, error) {
	ok, err := path.Match(pattern.Type, id.Type)
	if err != nil {
		return false, err
	}
	name := pattern.Name
	if name == "*" {
		name = "**"
	}
	matches, err := matchParts(strings.Split(name, "/"), strings.Split(id.Name, "/"))
	return ok && matches, err
}

func matchParts(pattern, name []string) (bool, error) {
	for i, p := range pattern {
		if p == "**" {
			for k := i; k <= len(name); k++ {
				if ok, err := matchParts(pattern[i+1:], name[k:]); ok || err != nil {
					return ok, err
				}
			}
			return false, nil
		}
		if i >= len(name) {
			return false, nil
		}
		if ok, err := path.Match(p, name[i]); !ok || err != nil {
			return false, err
		}
	}
	return len(pattern) == len(name), nil
}
