package machine

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// String returns the item on one line, such as file#/etc/motd: no package owns it.
func (i Item) String() string { return quoted(i.ID() + ": " + i.Reason) }

// Undescribed returns the items of a scan, all of them, that the resources of a site do not describe, less the unmanaged ones. A file
// counts as described if a resource manages it or names its path, a key if a resource has it, and anything else by type
// and name. Names that may contain a secret are replaced in the result and in the scan.
func Undescribed(ctx context.Context, v *host.View, s *Scan, declared []*resource.Resource, unmanaged Unmanaged) ([]Item, error) {
	list, err := resource.DeclaredPaths(resource.WithDeclared(ctx, func() []*resource.Resource { return declared }))
	if err != nil {
		return nil, err
	}
	paths, names, trees := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, name := range list {
		for paths[name] = true; name != "/" && name != "."; { // the directories above it are described, too
			if name = path.Dir(name); paths[name+"/"] {
				break
			}
			paths[name+"/"] = true
		}
	}
	for _, r := range declared {
		names[r.ID.String()] = true
		if r.Spec == nil || r.Type == nil {
			continue
		}
		for _, e := range r.Type.Properties().Encode(r.Spec, r.Common).Entries {
			switch e.Key {
			case "service", "host", "key", "unit":
				names[r.ID.Type+"#"+e.Val.S] = true
			case "source", "purge", "recurse":
				if r.ID.Type == "directory" || r.ID.Type == "git" || r.ID.Type == "archive" {
					trees[path.Clean(r.ID.Name)] = true
				}
			}
		}
	}
	found := []Item{} // not null in JSON
	for _, i := range s.All() {
		described := names[i.ID()]
		switch i.Kind {
		case File, Link, Unit:
			described = described || paths[i.Path]
			for at := i.Path; at != "/" && !described; at = path.Dir(at) {
				described = trees[at]
			}
		case Directory:
			described = described || paths[i.Path] || paths[i.Path+"/"]
		case Service:
			described = described || names["service#"+strings.TrimSuffix(i.Name, ".service")] || names["unit#"+i.Name]
		case AuthorizedKey:
			described = paths[i.Path] && !names["authorized_key#"+i.Name] && !hasType(declared, "authorized_key")
			for name := range names {
				described = described || strings.HasPrefix(name, "authorized_key#"+i.Value)
			}
		case Hostname, Timezone:
			described = hasType(declared, string(i.Kind))
		}
		if !described && !unmanaged.has(i) {
			found = append(found, i)
		}
	}
	w := &Writer{View: v, read: map[string]*content{}}
	w.readContents(s)
	for _, list := range [][]Item{found, s.Items, s.rest} {
		for n, i := range list {
			list[n].Name, list[n].Path = w.shown(i.Name), w.shown(i.Path)
		}
	}
	s.LeftOut = slices.DeleteFunc(s.LeftOut, func(l LeftOut) bool { return l.Reason == tooMany }) // they were compared
	for n, l := range s.LeftOut {
		s.LeftOut[n].Name = w.shown(l.Name)
	}
	return found, nil
}

// hasType reports whether a resource has a type.
func hasType(list []*resource.Resource, typ string) bool {
	for _, r := range list {
		if r.ID.Type == typ {
			return true
		}
	}
	return false
}
