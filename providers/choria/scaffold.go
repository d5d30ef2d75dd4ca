package choria

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

// scaffolds renders one scaffold at a time, because an Environment need not be safe for use by
// several goroutines.
type scaffolds struct {
	env Environment
	mu  sync.Mutex
}

var (
	_ resources.ScaffoldProvider                                           = (*scaffolds)(nil)
	_ resource.HistoricStatus[resources.Scaffold, resources.ScaffoldState] = (*scaffolds)(nil)
)

// target describes the entry at the target, and reports whether its files have to be compared.
func target(v *host.View, want resources.Scaffold) (have resources.ScaffoldState, compared bool, err error) {
	info, err := v.Lstat(want.Name)
	if err != nil {
		return have, false, err
	}
	have = resources.ScaffoldState{Kind: info.Kind, TargetExists: info.Kind == safepath.Directory, Engine: want.Engine}
	isThere := info.Kind == safepath.Directory
	if info.Kind == safepath.Missing && want.Ensure != resources.ScaffoldAbsent {
		have.Parents, err = resources.LookAtParents(v, want.Name)
	}
	return have, isThere || want.Ensure != resources.ScaffoldAbsent && info.Kind == safepath.Missing, err
}

// checkPlace returns an error if a scaffold is in its own source: it would be rendered into
// itself, or would purge its source.
func checkPlace(v *host.View, want resources.Scaffold) error {
	at := path.Join(v.Root(), want.Name)
	switch {
	case want.Ensure == resources.ScaffoldAbsent:
	case strings.HasPrefix(at, want.Source+"/"):
		return fmt.Errorf("%s is inside of its source %s", want.Name, want.Source)
	case want.Purge && strings.HasPrefix(want.Source, at+"/"):
		return fmt.Errorf("source %s is inside of %s, and would be purged", want.Source, want.Name)
	}
	return nil
}

// Describe implements resource.SelfDescriber.
func (*scaffolds) Describe() resource.Description {
	return resource.Description{Doc: "Renders the templates to a temporary directory and copies what differs. Only runs the commands of post."}
}

// Status implements resources.ScaffoldProvider.
func (p *scaffolds) Status(ctx context.Context, v *host.View, want resources.Scaffold) (resources.ScaffoldState, error) {
	have, compared, err := target(v, want)
	if err != nil || !compared {
		return have, err
	}
	if err := checkPlace(v, want); err != nil {
		return have, err
	}
	run := v.Query
	if want.Ensure == resources.ScaffoldAbsent { // a removal does not depend on the content
		run = nil
	}
	err = p.render(ctx, v, want, run, func(r rendering) error {
		c, err := r.compare(ctx, v, want)
		if err != nil {
			return err
		}
		have.NoTemplates = r.templates == 0
		c.setDifferences(&have)
		have.Rendered, err = r.digest(ctx, v)
		return err
	})
	return have, err
}

// setDifferences writes the comparison into a state.
func (c *comparison) setDifferences(have *resources.ScaffoldState) {
	have.Changed, have.Missing, have.Stable = c.paths(c.changed), c.paths(c.missing), c.paths(c.stable)
	for _, rel := range c.changed {
		if end, ok := c.ends[rel]; ok {
			have.Ends = append(have.Ends, end)
		}
	}
	have.Purged, have.Obstacles, have.EmptyDirs = c.paths(c.purged), c.blocked, c.paths(c.removableDirs)
}

// Scaffold implements resources.ScaffoldProvider.
func (p *scaffolds) Scaffold(ctx context.Context, h *host.Host, want resources.Scaffold) error {
	return p.render(ctx, &h.View, want, h.Run, func(r rendering) error {
		c, err := r.compare(ctx, &h.View, want)
		if err != nil {
			return err
		}
		if len(c.blocked) > 0 {
			return diag.Expected("files and directories").Found("%s", strings.Join(c.blocked, ", "))
		}
		if err := r.makeDirectory(h, want.Name); err != nil {
			return err
		}
		for _, rel := range c.changed {
			if err := r.place(ctx, h, c.file(strings.TrimSuffix(rel, "/")), rel); err != nil {
				return err
			}
		}
		if !want.Purge {
			return nil
		}
		for _, rel := range c.purged {
			h.Log().Debug("purge", "path", c.path(rel))
			if err := h.RemoveBelow(want.Name, rel); err != nil {
				return err
			}
		}
		return nil
	})
}

// makeDirectory makes a directory and those above it if missing. They belong to the user of ccm,
// like the files in the scratch directory.
func (r rendering) makeDirectory(h *host.Host, dir string) error {
	ok, err := h.IsDirectory(dir)
	if err != nil || ok {
		return err
	}
	return h.MakeDirectory(dir, host.NewAttr(&h.View, dir, safepath.Directory))
}

// place writes a rendered file, or an empty directory, to a path.
func (r rendering) place(ctx context.Context, h *host.Host, file, rel string) error {
	if strings.HasSuffix(rel, "/") {
		return r.makeDirectory(h, file)
	}
	if err := r.makeDirectory(h, path.Dir(file)); err != nil {
		return err
	}
	i, ok := slices.BinarySearchFunc(r.files, rel, func(e safepath.TreeEntry, rel string) int { return cmp.Compare(e.Rel, rel) })
	if !ok {
		return diag.Missing(rel, "after rendering")
	}
	f := r.files[i]
	src, err := h.Sources().Open(ctx, r.path(rel))
	if err != nil {
		return err
	}
	attr, err := r.attr(h, file, f)
	if err == nil {
		err = h.WriteFile(file, src, attr)
	}
	return errors.Join(err, src.Close())
}

// attr returns the owner and mode of a rendered file: what post has set, else what the file at the
// path has, else the user of ccm and the mode of the template.
func (r rendering) attr(h *host.Host, file string, f safepath.TreeEntry) (safepath.Attr, error) {
	own, err := r.scratch.Info(targetDir)
	if err != nil {
		return safepath.Attr{}, err
	}
	have, err := h.Lstat(file)
	if err != nil {
		return safepath.Attr{}, err
	}
	if have.Kind == safepath.Missing || have.Kind == safepath.Symlink {
		fresh := host.NewAttr(&h.View, file, safepath.Regular)
		have.UID, have.GID, have.Mode = fresh.UID, fresh.GID, fresh.Mode
		if mode, ok := r.modes[f.Rel]; ok {
			have.Mode = mode
		}
	}
	attr := safepath.Attr{UID: have.UID, GID: have.GID, Mode: have.Mode & 0o777}
	if f.UID != own.UID || f.GID != own.GID {
		attr.UID, attr.GID = f.UID, f.GID
	}
	if f.Mode != fileMode {
		attr.Mode = f.Mode & 0o777
	}
	return attr, nil
}

// Remove implements resources.ScaffoldProvider. After a failure it goes on with the other files.
func (p *scaffolds) Remove(ctx context.Context, h *host.Host, want resources.Scaffold) error {
	return p.render(ctx, &h.View, want, nil, func(r rendering) error {
		c, err := r.compare(ctx, &h.View, want)
		if err != nil {
			return err
		}
		var errs []error
		files := slices.Sorted(slices.Values(slices.Concat(c.changed, c.stable)))
		for _, rel := range files {
			if err := h.RemoveBelow(want.Name, rel); err != nil {
				h.Log().Error("remove", "path", c.path(rel), "error", err)
				errs = append(errs, err)
			}
		}
		errs = append(errs, c.removeEmpty(h, slices.Collect(maps.Keys(r.dirsOf(files)))))
		return errors.Join(errs...)
	})
}
