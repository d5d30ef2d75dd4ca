package luatype

import (
	"path"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// undeclared is host.undeclared(directory, options): the paths below the directory that no resource
// of the run declares. For an undeclared directory only the directory itself is listed. A declared
// path includes its content. Options.exclude are patterns of paths to keep. File systems mounted
// below the directory are kept, too.
func (c *call) undeclared() int {
	dir := c.path(1)
	x := c.comparison(c.options(2, "exclude"))
	keep, err := c.declaredBelow(dir)
	c.must(err)
	top, err := c.view.Lstat(dir)
	c.must(err)
	entries, err := c.view.Tree(c.in.Context(), dir, safepath.MaxNames)
	c.must(err)
	mounts, err := c.view.MountsBelow(dir)
	c.must(err)
	// Kept paths and the directories above them.
	stays := map[string]bool{".": true}
	kept := make(map[string]bool) // including all content
	for _, e := range entries {
		c.must(c.in.Context().Err())
		matters, err := x.matters(e)
		c.must(err)
		mounted := mounts.Hold(e.Rel) || e.Kind == safepath.Directory && e.Dev != 0 && top.Dev != 0 && e.Dev != top.Dev
		if kept[path.Dir(e.Rel)] || keep[e.Rel] || !matters || mounted {
			kept[e.Rel] = true
			for up := e.Rel; !stays[up]; up = path.Dir(up) {
				stays[up] = true
			}
		}
	}
	list := c.L.CreateTable(0, 0)
	for _, e := range entries {
		if !stays[e.Rel] && stays[path.Dir(e.Rel)] {
			list.Append(lua.LString(e.Rel))
		}
	}
	return c.give(list)
}

// declaredBelow returns the paths below a directory, relative to it, that resources declare. A
// directory may have several names because of links.
func (c *call) declaredBelow(dir string) (map[string]bool, error) {
	paths, err := resource.DeclaredPaths(c.in.Context())
	if err != nil {
		return nil, err
	}
	real := func(dir string) string {
		found, err := c.view.Canonical(dir)
		if err != nil {
			return dir // does not exist
		}
		return found
	}
	parents := make(map[string]string)
	at, below := real(dir), make(map[string]bool)
	for _, p := range paths {
		parent := path.Dir(p)
		if _, ok := parents[parent]; !ok {
			parents[parent] = real(parent)
		}
		for _, p := range []string{p, path.Join(parents[parent], path.Base(p))} {
			for _, dir := range []string{dir, at} {
				if rel, ok := strings.CutPrefix(p, dir+"/"); ok {
					below[rel] = true
				}
			}
		}
	}
	return below, nil
}
