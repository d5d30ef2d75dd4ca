package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// The looks of a plan at files: each resolves a path over the assumptions, and records what it
// looked at.

// look resolves a path, and records that.
func (o *View) look(name string, follow, deep bool) (place, error) {
	p, err := o.find(name, follow)
	if o.looks != nil && err == nil {
		o.looks.recordPath(p, deep)
	}
	o.looks.NoteError(err)
	return p, err
}

// Lstat describes the entry at a path, without following a link at the end.
func (o *View) Lstat(name string) (safepath.Info, error) {
	p, err := o.look(name, false, false)
	return p.info, err
}

// Stat is Lstat for the target of a link.
func (o *View) Stat(name string) (safepath.Info, error) {
	p, err := o.look(name, true, false)
	return p.info, err
}

// LstatToRemove is Lstat for something that must not be there: what is in a file that will be there makes no
// difference.
func (o *View) LstatToRemove(name string) (safepath.Info, error) {
	p, err := o.find(name, false)
	if err == nil && o.looks != nil {
		if p.vague && !p.entry.tentative && p.entry.Kind == safepath.Regular {
			p.vague, p.doubts = false, without(p.doubts, p.entry.author)
		}
		o.looks.recordPath(p, false)
	}
	o.looks.NoteError(err)
	return p.info, err
}

// Exists reports whether the path exists, with links followed.
func (o *View) Exists(name string) (bool, error) {
	p, err := o.find(name, true)
	if err == nil && o.looks != nil {
		if p.vague && !p.entry.tentative { // it will exist, whatever its kind
			p.vague, p.doubts = false, without(p.doubts, p.entry.author)
		}
		o.looks.recordPath(p, false)
	}
	if errors.Is(err, syscall.ELOOP) {
		return false, err
	}
	return p.info.Kind != safepath.Missing || p.vague, err
}

func without(list []any, x any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(y any) bool { return x == y })
}

// IsDirectory reports whether the path is a directory, with links followed. If the path is
// missing, Looks.Grant may let it count as one.
func (o *View) IsDirectory(name string) (bool, error) {
	p, err := o.find(name, true)
	if err != nil {
		return false, err
	}
	is := p.info.Kind == safepath.Directory || p.vague
	if o.looks != nil {
		is = o.looks.recordDirectory(p, is) || is
	}
	return is, nil
}

// Readlink returns the target of a link.
func (o *View) Readlink(name string) (string, error) {
	p, err := o.look(name, false, false)
	if err != nil {
		return "", err
	}
	if p.info.Kind != safepath.Symlink {
		return "", &os.PathError{Op: "readlink", Path: name, Err: orMissing(p, syscall.EINVAL)}
	}
	return o.target(p)
}

// LeadsNowhere returns the error of a symbolic link whose target is missing.
func LeadsNowhere(name string) error {
	return fmt.Errorf("symbolic link %s has a missing target: %w", name, syscall.ENOENT)
}

// LinkEnd returns the path to which the symbolic link at a path leads. A link that leads nowhere
// is an error.
func LinkEnd(o *View, name string) (string, error) {
	p, err := o.look(name, true, false)
	if err != nil {
		return "", err
	}
	if p.info.Kind == safepath.Missing {
		return "", LeadsNowhere(name)
	}
	return p.path, nil
}

// NewLinkEnd is LinkEnd for a link that may lead nowhere.
func NewLinkEnd(o *View, name string) (string, error) {
	p, err := o.look(name, true, false)
	if err == nil && p.path == "" {
		err = LeadsNowhere(name)
	}
	return p.path, err
}

func orMissing(p place, err error) error {
	if p.info.Kind == safepath.Missing {
		return syscall.ENOENT
	}
	return err
}

// Open opens the file at a path for reading.
func (o *View) Open(name string, follow bool) (*os.File, error) {
	p, err := o.look(name, follow, false)
	if err != nil {
		return nil, err
	}
	f, err := o.openPlace(p)
	if e, ok := errors.AsType[*os.PathError](err); ok {
		e.Path = name
	}
	return f, err
}

func (o *View) openPlace(p place) (*os.File, error) {
	e := p.entry
	switch {
	case p.info.Kind == safepath.Missing:
		return nil, &os.PathError{Op: "open", Path: p.path, Err: syscall.ENOENT}
	case p.info.Kind == safepath.Symlink:
		return nil, &os.PathError{Op: "open", Path: p.path, Err: syscall.ELOOP}
	case e.asIs() || e.Kind != safepath.Regular && !e.Vague:
		return o.base.Open(p.path)
	case e.Content != nil:
		return memory(*e.Content)
	case fetch.IsURL(e.Source):
		text, err := o.base.FetchSource(o.ctx, e.Source)
		if err != nil {
			return nil, err
		}
		return memory(string(text))
	case e.Source != "":
		return o.base.OpenUserFile(e.Source)
	}
	if o.looks != nil {
		o.looks.doubt(e.author)
	}
	return nil, &NotKnownError{p.path, e.author}
}

// memory returns a file that exists only in memory.
func memory(content string) (*os.File, error) {
	f, err := safepath.MemoryFile("ccm-plan")
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteString(content); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// LookAt describes the entry at a path, and reports whether it is a file with exactly the content
// want.
func (o *View) LookAt(name, want string) (safepath.Info, bool, error) {
	p, err := o.look(name, false, false)
	if err != nil || p.info.Kind != safepath.Regular {
		return p.info, false, err
	}
	switch e := p.entry; {
	case e.asIs():
		_, same, err := o.base.LookAt(p.path, want)
		return p.info, same, err
	case e.Content != nil:
		return p.info, *e.Content == want, nil
	}
	f, err := o.openPlace(p)
	if errors.Is(err, ErrNotKnown) {
		return p.info, false, nil
	}
	if err != nil {
		return p.info, false, err
	}
	defer f.Close()
	sum, err := sha256sum.Reader(f)
	return p.info, sum == sha256sum.Text(want), err
}

// ReadDir returns the names in a directory, sorted.
func (o *View) ReadDir(name string, r *safepath.NameReader) ([]string, error) {
	if err := r.Look(); err != nil {
		return nil, err
	}
	p, err := o.look(name, true, true)
	if err != nil {
		return nil, err
	}
	return namesIn(o, name, p, r)
}

func namesIn(o *View, name string, p place, r *safepath.NameReader) ([]string, error) {
	switch {
	case p.info.Kind == safepath.Missing:
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	case p.info.Kind != safepath.Directory && !p.vague:
		return nil, &os.PathError{Op: "readdirent", Path: name, Err: syscall.ENOTDIR}
	}
	var names []string
	if !p.fresh {
		var err error
		if names, err = o.base.ReadNames(p.path, r); err != nil {
			return names, err
		}
	}
	if p.open != nil && o.looks != nil {
		o.looks.doubt(p.open.author)
	}
	own := o.namesBelow(p.path)
	if len(own) == 0 {
		return names, nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { _, found := slices.BinarySearch(own, n); return found })
	for _, n := range own {
		child, err := o.step(p, n)
		if err != nil {
			return names, err
		}
		if o.looks != nil {
			o.looks.doubt(child.doubts...)
		}
		if child.info.Kind != safepath.Missing {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Tree lists everything below a directory, in order of path. With follow, a link at the path is
// followed. An error of r ends it without a list.
func (o *View) Tree(name string, follow bool, r *safepath.NameReader) ([]safepath.TreeEntry, error) {
	p, err := o.look(name, follow, true)
	if err != nil {
		return nil, err
	}
	if p.entry == nil && !p.gone && p.info.Kind != safepath.Directory {
		return o.base.ReadTree(name, r)
	}
	if p.info.Kind == safepath.Missing {
		return nil, nil // the directory is going to be removed
	}
	var entries []safepath.TreeEntry
	var errs []error
	var visit func(p place, rel string)
	visit = func(p place, rel string) {
		names, err := namesIn(o, p.path, p, r)
		if err != nil {
			errs = append(errs, err)
		}
		for _, n := range names {
			if r.Look() != nil {
				return
			}
			child, err := o.step(p, n)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if child.info.Kind == safepath.Missing {
				continue
			}
			entries = append(entries, safepath.TreeEntry{Rel: path.Join(rel, n), Info: child.info})
			if child.info.Kind == safepath.Directory {
				visit(child, path.Join(rel, n))
			}
		}
	}
	visit(p, "")
	if err := r.Ended(); err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b safepath.TreeEntry) int { return cmp.Compare(a.Rel, b.Rel) })
	return entries, errors.Join(errs...)
}

// Canonical returns the path of a directory without links in it.
func (o *View) Canonical(dir string) (string, error) {
	p, err := o.find(dir, true)
	if err == nil && p.info.Kind == safepath.Missing {
		err = &os.PathError{Op: "lstat", Path: dir, Err: syscall.ENOENT}
	}
	return p.path, err
}

// ReadUpTo returns the content of a regular file, with links followed. More than limit bytes are
// an error.
func (o *View) ReadUpTo(name string, limit int64) ([]byte, error) {
	assumed, found, err := o.read(name, limit)
	if assumed != nil {
		found = []byte(*assumed)
	}
	return found, err
}

// ReadText is ReadUpTo for a text. It does not copy an assumed content: each of many edits of one
// file reads what the others leave.
func (o *View) ReadText(name string, limit int64) (string, error) {
	assumed, found, err := o.read(name, limit)
	if assumed != nil {
		return *assumed, err
	}
	return string(found), err
}

// read returns the content of a file: the assumed one, or the one found.
func (o *View) read(name string, limit int64) (assumed *string, found []byte, err error) {
	p, err := o.look(name, true, false)
	if err != nil {
		return nil, nil, err
	}
	if p.info.Kind != safepath.Regular && p.info.Kind != safepath.Missing {
		return nil, nil, diag.Expected("a file").Found("%s", p.info.Kind)
	}
	if p.info.Kind == safepath.Regular && p.entry.asIs() {
		found, err = o.base.ReadUpTo(p.path, limit)
		return nil, found, err
	}
	if e := p.entry; p.info.Kind == safepath.Regular && e.Kind == safepath.Regular && e.Content != nil && int64(len(*e.Content)) <= limit {
		return e.Content, nil, nil
	}
	f, err := o.openPlace(p)
	if err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok {
			e.Path = name
		}
		return nil, nil, err
	}
	defer f.Close()
	found, err = safepath.ReadUpTo(f, limit)
	return nil, found, err
}
