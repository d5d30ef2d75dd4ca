package choria

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A comparison compares the target with a rendering. The lists have paths relative to the target
// in order; names of directories end in a slash.
type comparison struct {
	target                           string
	changed, missing, stable, purged []string
	blocked                          []string // obstacles, with their kinds
	removableDirs                    []string // directories that will be empty, "." for the target
	// ends are the absolute paths that links in the place of files lead to, if these are followed.
	ends map[string]string
}

// file returns the absolute path of the file that is compared with, or written for, a rendered one.
func (c *comparison) file(rel string) string {
	if end, ok := c.ends[rel]; ok {
		return end
	}
	return c.path(rel)
}

// path returns the absolute path of a relative one.
func (c *comparison) path(rel string) string { return strings.TrimSuffix(c.target, "/") + "/" + rel }

func (c *comparison) paths(rels []string) []string {
	var all []string
	for _, rel := range rels {
		all = append(all, c.path(rel))
	}
	return all
}

// compare looks at the target without following any link in it.
func (r rendering) compare(ctx context.Context, v *host.View, want resources.Scaffold) (*comparison, error) {
	c := &comparison{target: want.Name, ends: make(map[string]string)}
	cache := lstatCache{v: v, target: c, seen: make(map[string]safepath.Info)}
	absent := want.Ensure == resources.ScaffoldAbsent
	rendered := make(map[string]bool, len(r.files))
	for _, f := range r.files {
		rendered[f.Rel] = true
		at, info, err := cache.look(f.Rel)
		if err == nil && at == f.Rel && info.Kind == safepath.Symlink && !absent && want.Links == resources.LinksFollow {
			if c.ends[f.Rel], err = host.FollowLink(v, c.path(f.Rel)); err == nil {
				info, err = v.Lstat(c.ends[f.Rel])
			}
		}
		switch {
		case err != nil:
			return c, err
		case at == f.Rel && info.Kind == safepath.Symlink && !absent && want.Links == resources.LinksReplace:
			c.changed = append(c.changed, f.Rel)
		case at == f.Rel && info.Kind == safepath.Regular:
			if err := c.compareContent(ctx, v, r, f, info); err != nil {
				return c, err
			}
		case absent: // missing
		case info.Kind == safepath.Missing:
			c.changed, c.missing = append(c.changed, f.Rel), append(c.missing, f.Rel)
		default:
			c.block(at, info.Kind)
		}
	}
	if !absent {
		if err := c.emptyDirs(cache, r.dirs); err != nil {
			return c, err
		}
	}
	entries, err := c.purge(ctx, v, want, rendered)
	if absent {
		c.removableDirs = r.emptied(c, entries)
	}
	return c, err
}

// dirsOf returns the directories in the target that are removed with files if they are empty
// then.
func (r rendering) dirsOf(files []string) map[string]bool {
	dirs := make(map[string]bool)
	for _, rel := range files {
		for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	for _, dir := range r.dirs {
		for ; dir != "."; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return dirs
}

// emptied returns the directories that have only rendered files. Entries is everything in the
// target.
func (r rendering) emptied(c *comparison, entries []safepath.TreeEntry) (list []string) {
	files := slices.Concat(c.changed, c.stable)
	gone, dirs := make(map[string]bool), r.dirsOf(files)
	for _, rel := range files {
		gone[rel] = true
	}
	holds := map[string]bool{}
	slices.SortStableFunc(entries, func(a, b safepath.TreeEntry) int { return cmp.Compare(depth(b.Rel), depth(a.Rel)) })
	for _, e := range entries {
		switch {
		case e.Kind == safepath.Directory && dirs[e.Rel] && !holds[e.Rel]:
			list = append(list, e.Rel)
		case e.Kind == safepath.Directory || !gone[e.Rel]:
			holds[path.Dir(e.Rel)] = true
		}
	}
	if !holds["."] {
		list = append(list, ".")
	}
	return list
}

func depth(rel string) int { return strings.Count(rel, "/") }

// compareContent compares a file with the rendered one. Permissions count if post has set them.
func (c *comparison) compareContent(ctx context.Context, v *host.View, r rendering, f safepath.TreeEntry, have safepath.Info) error {
	same := false
	if f.Mode == fileMode || f.Mode == have.Mode {
		var err error
		if same, err = r.same(ctx, v, c.file(f.Rel), f.Rel); err != nil && !errors.Is(err, overlay.ErrNotKnown) {
			return err
		}
	}
	if same {
		c.stable = append(c.stable, f.Rel)
	} else {
		c.changed = append(c.changed, f.Rel)
	}
	return nil
}

// same reports whether a file has the content rendered for a path.
func (r rendering) same(ctx context.Context, v *host.View, file, rel string) (bool, error) {
	if r.sums == nil {
		return v.Sources().Matches(ctx, file, r.path(rel))
	}
	sum, err := v.Sum(ctx, file)
	return resource.DesiredDigest{Text: r.sums[rel], Key: r.key}.IsOf(sum), err
}

// emptyDirs adds the empty directories of the source that are missing.
func (c *comparison) emptyDirs(l lstatCache, dirs []string) error {
	for _, dir := range dirs {
		at, info, err := l.look(dir)
		switch {
		case err != nil:
			return err
		case info.Kind == safepath.Missing:
			c.changed, c.missing = append(c.changed, dir+"/"), append(c.missing, dir+"/")
		case info.Kind != safepath.Directory:
			c.block(at, info.Kind)
		}
	}
	return nil
}

// purge lists the files in the target that were not rendered; without purge the list may be
// incomplete. It returns everything in the target.
func (c *comparison) purge(ctx context.Context, v *host.View, want resources.Scaffold, rendered map[string]bool) ([]safepath.TreeEntry, error) {
	info, err := v.Lstat(c.target)
	if err != nil || info.Kind != safepath.Directory {
		return nil, err
	}
	mounts, err := v.MountsBelow(c.target)
	if err != nil {
		return nil, err
	}
	entries, err := v.Tree(ctx, c.target, safepath.MaxNames)
	for _, e := range entries {
		if e.Kind != safepath.Directory && !rendered[e.Rel] && !mounts.Hold(e.Rel) {
			c.purged = append(c.purged, e.Rel)
		}
	}
	_, tooMany := errors.AsType[*safepath.TooManyNamesError](err)
	absent := want.Ensure == resources.ScaffoldAbsent
	if !want.Purge && (errors.Is(err, fs.ErrPermission) || tooMany && !absent) {
		err = nil
	}
	return entries, err
}

func (c *comparison) block(rel string, kind safepath.FileKind) {
	text := kind.String() + " at " + c.path(rel)
	if !slices.Contains(c.blocked, text) {
		c.blocked = append(c.blocked, text)
	}
}

// An lstatCache looks at paths in the target, at each only once.
type lstatCache struct {
	v      *host.View
	target *comparison
	seen   map[string]safepath.Info
}

// look describes the entry at rel, or the first entry above it in the target that is no
// directory.
func (l lstatCache) look(rel string) (at string, info safepath.Info, err error) {
	if dir := path.Dir(rel); dir != "." {
		if at, info, err = l.look(dir); err != nil || info.Kind != safepath.Directory {
			return at, info, err
		}
	}
	info, ok := l.seen[rel]
	if !ok {
		info, err = l.v.Lstat(l.target.path(rel))
		l.seen[rel] = info
	}
	return rel, info, err
}

// removeEmpty removes those directories that are empty, the deepest first, and the target last.
func (c *comparison) removeEmpty(h *host.Host, dirs []string) error {
	slices.SortFunc(dirs, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(b), depth(a)), cmp.Compare(a, b))
	})
	var errs []error
	for _, dir := range dirs {
		empty, err := isEmpty(h, c.path(dir))
		if err == nil && empty {
			err = h.RemoveBelow(c.target, dir)
		}
		if err != nil {
			h.Log().Error("remove", "path", c.path(dir), "error", err)
			errs = append(errs, err)
		}
	}
	empty, err := isEmpty(h, c.target)
	if err == nil && empty {
		err = h.Remove(c.target)
	}
	if err != nil { // nothing of the scaffold is left in it
		h.Log().Debug("the target is kept", "path", c.target, "error", err)
	}
	return errors.Join(errs...)
}

// isEmpty reports whether a path is an empty directory, and not a link to one.
func isEmpty(h *host.Host, dir string) (bool, error) {
	info, err := h.Lstat(dir)
	if err != nil || info.Kind != safepath.Directory {
		return false, err
	}
	names, err := h.ReadDir(dir)
	return len(names) == 0, err
}
