package unpack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Copy describes a copy from a directory of the user to a directory of the machine.
type Copy struct {
	Source    string // of the user
	Directory string // of the machine
	// Names are the files and directories to copy, by their paths below both; "." is the directory
	// itself. A directory that is missing on the machine is copied with everything below it that
	// is named.
	Names []string
	// Attr returns the owner and mode of the copy of a file or directory. Have describes the
	// present entry, with kind Missing for none; then made has what a new entry gets there (see
	// [host.NewAttr]).
	Attr func(source, have safepath.Info, made safepath.Attr) safepath.Attr
	// Links is what becomes of a symbolic link at the path of an entry.
	Links CopyLinks
}

// CopyLinks describes what becomes of a symbolic link at the path of a copy.
type CopyLinks int

// The values of CopyLinks.
const (
	// RefuseLinks makes it an error.
	RefuseLinks CopyLinks = iota
	// FollowLinks writes a file where the link leads. For a directory it is an error.
	FollowLinks
	// ReplaceLinks puts the copy in the place of the link.
	ReplaceLinks
)

// fewEntries is the largest number of new entries of a directory that are made one by one: a
// stage, with one sync for all, takes as long as that.
const fewEntries = 8

// CopyTree copies files and directories. An existing file is replaced in one step, like
// [host.Host.WriteFile]; an existing directory gets its owner and mode. New entries of a
// directory are written into a stage inside it, made durable at once, and then moved to their
// paths in one step each, a directory with everything in it. So if this process dies, such a
// directory is there as a whole or not at all. It is an error if something else is at the path of
// an entry, or if a source is neither a file nor a directory.
//
// Special bits of a mode (setuid, setgid, sticky) are kept. Times are not.
func CopyTree(ctx context.Context, h *host.Host, c Copy) error {
	names, err := cleanNames(c.Names)
	if err != nil {
		return err
	}
	x := &treeCopy{Copy: c, ctx: ctx, h: h}
	if x.source, err = h.Sources().Directory(c.Source); err != nil {
		return err
	}
	defer x.source.Close()
	if len(names) > 0 && names[0] == "." {
		if there, err := x.copyExisting("."); err != nil || there {
			return cmp.Or(err, x.copyBelow(names[1:]))
		}
		return host.WithParents(h, c.Directory, func() error {
			return x.copyNew(newEntries{top: path.Base(c.Directory), names: names})
		})
	}
	return x.copyBelow(names)
}

// cleanNames returns paths below a directory in order, without duplicates. The directory itself, ".", comes first.
func cleanNames(names []string) ([]string, error) {
	list := make([]string, 0, len(names))
	for _, name := range names {
		clean, err := entryName(name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		list = append(list, clean)
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) > 0 && list[0] == "" {
		list[0] = "."
	}
	return list, nil
}

// A treeCopy is a Copy under way.
type treeCopy struct {
	Copy
	ctx    context.Context
	h      *host.Host
	source *safepath.Handle
}

// newEntries are the missing entries of one directory that exists.
type newEntries struct {
	dir string // the directory below the source, "" for the source itself
	// top is the name of the target directory in its parent if it is missing too, otherwise "".
	top   string
	names []string // paths below the source
}

// copyBelow copies the entries of a directory that exists. Names are in order.
func (x *treeCopy) copyBelow(names []string) error {
	in := make(map[string][]string)
	missing := make(map[string]string) // missing directories, with the missing one above each
	for _, name := range names {
		dir := parentOf(name)
		if above, ok := missing[dir]; ok {
			missing[name] = above
			in[above] = append(in[above], name)
			continue
		}
		there, err := x.copyExisting(name)
		if err != nil {
			return err
		}
		if !there {
			missing[name] = dir
			in[dir] = append(in[dir], name)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(in)) {
		if err := x.copyNew(newEntries{dir: dir, names: in[dir]}); err != nil {
			return err
		}
	}
	return nil
}

// copyExisting copies an entry if it exists already, and reports whether it does.
func (x *treeCopy) copyExisting(name string) (there bool, err error) {
	at := path.Join(x.Directory, name)
	have, err := x.h.Lstat(at)
	if err != nil || have.Kind == safepath.Missing {
		return false, err
	}
	if have.Kind == safepath.Symlink && name != "." {
		return x.copyOverLink(name, at, have)
	}
	return true, x.copyOne(name, at, have)
}

// copyOverLink copies an entry to a path with a symbolic link, and reports whether something is there:
// a directory is copied as a missing one.
func (x *treeCopy) copyOverLink(name, at string, have safepath.Info) (there bool, err error) {
	source, err := x.h.Sources().Lstat(filepath.Join(x.Source, name))
	switch {
	case err != nil:
		return false, err
	case x.Links == ReplaceLinks && source.Kind == safepath.Directory:
		return false, x.h.Remove(at)
	case x.Links == ReplaceLinks:
		return true, x.copyOne(name, at, safepath.Info{})
	case x.Links == FollowLinks && source.Kind == safepath.Regular:
		if at, err = host.FollowLink(&x.h.View, at); err == nil {
			have, err = x.h.Lstat(at)
		}
		if err != nil {
			return false, err
		}
	}
	return true, x.copyOne(name, at, have)
}

// copyOne copies one entry to a path in one step.
func (x *treeCopy) copyOne(name, at string, have safepath.Info) error {
	source, err := x.h.Sources().Lstat(filepath.Join(x.Source, name))
	if err != nil {
		return err
	}
	if err := x.checkKind(name, source); err != nil {
		return err
	}
	if have.Kind != safepath.Missing && have.Kind != source.Kind {
		return fmt.Errorf("%s: %w", at, diag.Expected("%s", source.Kind).Found("%s, which is not replaced", have.Kind))
	}
	var made safepath.Attr
	if have.Kind == safepath.Missing {
		made = host.NewAttr(&x.h.View, at, source.Kind)
	}
	attr := x.Attr(source, have, made)
	switch {
	case source.Kind == safepath.Directory && have.Kind == safepath.Missing:
		return x.h.MakeDirectory(at, attr)
	case source.Kind == safepath.Directory:
		return x.h.SetAttr(at, attr)
	}
	f, err := x.h.Sources().Open(x.ctx, filepath.Join(x.Source, name))
	if err != nil {
		return err
	}
	defer f.Close()
	return x.h.WriteFile(at, f, attr)
}

// checkKind returns an error for a source that is neither a file nor a directory.
func (x *treeCopy) checkKind(name string, source safepath.Info) error {
	if source.Kind != safepath.Regular && source.Kind != safepath.Directory {
		return fmt.Errorf("%s: %w", filepath.Join(x.Source, name), diag.Expected("files and directories").Found("%s", source.Kind))
	}
	return nil
}

// copyNew copies missing entries of one directory.
func (x *treeCopy) copyNew(n newEntries) (err error) {
	if len(n.names) <= fewEntries && n.top == "" {
		for _, name := range n.names {
			if err := x.copyOne(name, path.Join(x.Directory, name), safepath.Info{}); err != nil {
				return err
			}
		}
		return nil
	}
	t, err := x.begin(n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.discard()) }()
	if err := t.write(); err != nil {
		return err
	}
	return t.place()
}
