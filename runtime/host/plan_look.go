package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// What follows is how a plan looks at files: each look walks over what is
// assumed, and remembers what it touched.

// look walks to a path, and notes it.
func (o *overlay) look(v *View, name string, follow, deep bool) (place, error) {
	p, err := o.find(name, follow)
	if v.looks != nil && err == nil {
		v.looks.path(p, deep)
	}
	if e, ok := errors.AsType[*NotKnownError](err); ok && v.looks != nil {
		v.looks.doubt(e.By)
	}
	return p, err
}

func (o *overlay) lstat(v *View, name string) (Info, error) {
	p, err := o.look(v, name, false, false)
	return p.info, err
}

// exists reports whether anything stands there, links followed.
func (o *overlay) exists(v *View, name string) (bool, error) {
	p, err := o.find(name, true)
	if err == nil && v.looks != nil {
		if p.vague && !p.entry.tentative { // something will, whatever it is
			p.vague, p.doubts = false, without(p.doubts, p.entry.by)
		}
		v.looks.path(p, false)
	}
	if errors.Is(err, syscall.ELOOP) {
		return false, err
	}
	return p.info.Kind != Missing || p.vague, err
}

func without(list []any, x any) []any {
	return slices.DeleteFunc(slices.Clone(list), func(y any) bool { return x == y })
}

// isDirectory reports whether a directory stands there, links followed. Where
// nothing does, one may be granted.
func (o *overlay) isDirectory(v *View, name string) (bool, error) {
	p, err := o.find(name, true)
	if err != nil {
		return false, err
	}
	is := p.info.Kind == Directory || p.vague
	if v.looks != nil {
		is = v.looks.directory(p, is) || is
	}
	return is, nil
}

func (o *overlay) readlink(v *View, name string) (string, error) {
	p, err := o.look(v, name, false, false)
	if err != nil {
		return "", err
	}
	if p.info.Kind != Symlink {
		return "", &os.PathError{Op: "readlink", Path: name, Err: orMissing(p, syscall.EINVAL)}
	}
	return o.target(p)
}

func orMissing(p place, err error) error {
	if p.info.Kind == Missing {
		return syscall.ENOENT
	}
	return err
}

// open opens the file at a path for reading.
func (o *overlay) open(v *View, name string, follow bool) (*os.File, error) {
	p, err := o.look(v, name, follow, false)
	if err != nil {
		return nil, err
	}
	f, err := o.openPlace(v, p)
	if e, ok := errors.AsType[*os.PathError](err); ok {
		e.Path = name
	}
	return f, err
}

func (o *overlay) openPlace(v *View, p place) (*os.File, error) {
	e := p.entry
	switch {
	case p.info.Kind == Missing:
		return nil, &os.PathError{Op: "open", Path: p.path, Err: syscall.ENOENT}
	case p.info.Kind == Symlink:
		return nil, &os.PathError{Op: "open", Path: p.path, Err: syscall.ELOOP}
	case e.asIs() || e.Kind != Regular && !e.Vague:
		return o.base.Open(p.path)
	case e.Content != nil:
		return memory(*e.Content)
	case fetch.IsURL(e.Source):
		text, err := v.fetch(o.ctx, e.Source)
		if err != nil {
			return nil, err
		}
		return memory(string(text))
	case e.Source != "":
		return o.base.OpenUserFile(e.Source)
	}
	if v.looks != nil {
		v.looks.doubt(e.by)
	}
	return nil, &NotKnownError{p.path, e.by}
}

// memory returns a file that is nowhere but in memory.
func memory(content string) (*os.File, error) {
	fd, err := unix.MemfdCreate("ccm-plan", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &os.PathError{Op: "memfd_create", Path: "ccm-plan", Err: err}
	}
	f := os.NewFile(uintptr(fd), "ccm-plan")
	if _, err = f.WriteString(content); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lookAt is LookAt.
func (o *overlay) lookAt(v *View, name, want string) (Info, bool, error) {
	p, err := o.look(v, name, false, false)
	if err != nil || p.info.Kind != Regular {
		return p.info, false, err
	}
	switch e := p.entry; {
	case e.asIs():
		_, same, err := o.base.LookAt(p.path, want)
		return p.info, same, err
	case e.Content != nil:
		return p.info, *e.Content == want, nil
	}
	f, err := o.openPlace(v, p)
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

// readDir returns the names in a directory, sorted.
func (o *overlay) readDir(v *View, name string, r *nameReader) ([]string, error) {
	p, err := o.look(v, name, true, true)
	if err != nil {
		return nil, err
	}
	return o.namesIn(v, name, p, r)
}

func (o *overlay) namesIn(v *View, name string, p place, r *nameReader) ([]string, error) {
	switch {
	case p.info.Kind == Missing:
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	case p.info.Kind != Directory && !p.vague:
		return nil, &os.PathError{Op: "readdirent", Path: name, Err: syscall.ENOTDIR}
	}
	var names []string
	if !p.fresh {
		var err error
		if names, err = o.base.readDir(p.path, r); err != nil {
			return names, err
		}
	}
	if p.open != nil && v.looks != nil {
		v.looks.doubt(p.open.by)
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
		if v.looks != nil {
			v.looks.doubt(child.doubts...)
		}
		if child.info.Kind != Missing {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names, nil
}

// tree is Tree.
func (o *overlay) tree(v *View, name string, follow bool) ([]TreeEntry, error) {
	p, err := o.look(v, name, follow, true)
	if err != nil {
		return nil, err
	}
	if p.entry == nil && !p.gone && p.info.Kind != Directory {
		entries, err := o.base.Tree(name)
		return entries, err
	}
	if p.info.Kind == Missing {
		return nil, nil // it is going to be removed
	}
	var entries []TreeEntry
	var errs []error
	var visit func(p place, rel string)
	visit = func(p place, rel string) {
		names, err := o.namesIn(v, p.path, p, nil)
		if err != nil {
			errs = append(errs, err)
		}
		for _, n := range names {
			child, err := o.step(p, n)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if child.info.Kind == Missing {
				continue
			}
			entries = append(entries, TreeEntry{Rel: path.Join(rel, n), Info: child.info})
			if child.info.Kind == Directory {
				visit(child, path.Join(rel, n))
			}
		}
	}
	visit(p, "")
	slices.SortFunc(entries, func(a, b TreeEntry) int { return cmp.Compare(a.Rel, b.Rel) })
	return entries, errors.Join(errs...)
}

// canonical is Canonical.
func (o *overlay) canonical(dir string) (string, error) {
	p, err := o.find(dir, true)
	if err == nil && p.info.Kind == Missing {
		err = &os.PathError{Op: "lstat", Path: dir, Err: syscall.ENOENT}
	}
	return p.path, err
}

// ofMachine returns the path on the machine of a file of the operating system,
// and false if it lies outside.
func (o *overlay) ofMachine(name string) (string, bool) {
	root := o.base.root
	if root == "/" {
		return path.Clean(name), path.IsAbs(name)
	}
	rest, below := strings.CutPrefix(path.Clean(name), root+"/")
	return "/" + rest, below
}

// plannedSource returns the path on the machine of a file of the user. It is false if
// nothing about the file is assumed and nobody wants to know that it is looked at.
func (v *View) plannedSource(name string) (string, bool) {
	o := v.planned()
	if o == nil || v.inScratch(name) {
		return "", false
	}
	return o.ofMachine(name)
}

// openSource is OpenUserFile for a file that is on the machine at a path.
func (o *overlay) openSource(v *View, source, name string) (*os.File, error) {
	p, err := o.look(v, name, true, false)
	if err != nil {
		return nil, err
	}
	if p.info.Kind != Regular && p.info.Kind != Missing {
		return nil, fmt.Errorf("%s is not a file", source)
	}
	if p.info.Kind == Regular && p.entry.asIs() {
		return o.base.OpenUserFile(o.sourceAt(source, p))
	}
	if p.info.Kind == Missing && v.looks != nil && v.looks.Grant != nil && v.looks.Grant(Look{Kind: PathLook, Name: p.path}) {
		return nil, &NotKnownError{Path: source}
	}
	f, err := o.openPlace(v, p)
	if e, ok := errors.AsType[*os.PathError](err); ok {
		e.Path = source
	}
	return f, err
}

// sourceTree is SourceTree for a directory that is on the machine at a path.
func (o *overlay) sourceTree(v *View, source, name string) ([]TreeEntry, error) {
	p, err := o.look(v, name, true, true)
	switch {
	case err != nil:
		return nil, err
	case p.info.Kind == Missing:
		return nil, &os.PathError{Op: "stat", Path: source, Err: syscall.ENOENT}
	case p.info.Kind != Directory:
		return nil, fmt.Errorf("%s is not a directory", source)
	}
	return o.tree(v, name, true)
}

// readUpTo is ReadUpTo.
func (o *overlay) readUpTo(v *View, name string, limit int64) ([]byte, error) {
	p, err := o.look(v, name, true, false)
	if err != nil {
		return nil, err
	}
	if p.info.Kind != Regular && p.info.Kind != Missing {
		return nil, fmt.Errorf("want a file, found %s", p.info.Kind)
	}
	if p.info.Kind == Regular && p.entry.asIs() {
		return o.base.ReadUpTo(p.path, limit)
	}
	f, err := o.openPlace(v, p)
	if err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok {
			e.Path = name
		}
		return nil, err
	}
	defer f.Close()
	return safepath.ReadUpTo(f, limit)
}

// sourceAt returns the path of a source that leads to a place.
func (o *overlay) sourceAt(source string, p place) string {
	if p.relinked {
		return filepath.Join(o.base.root, p.path)
	}
	return source
}

// contentOfSource returns what a source is going to hold when a file is made of
// it, if that is assumed.
func (o *overlay) contentOfSource(v *View, source string) (*string, bool) {
	name, ok := o.ofMachine(source)
	if fetch.IsURL(source) || !ok {
		return nil, false
	}
	p, err := o.find(name, true)
	if err != nil || p.entry.asIs() {
		return nil, false
	}
	if p.entry.Content == nil && p.entry.Source != "" {
		return o.contentOfSource(v, p.entry.Source)
	}
	return p.entry.Content, true
}

// planFS is a plan's file system for io/fs.
type planFS struct {
	o *overlay
	v *View
	r *nameReader
}

var (
	_ fs.ReadDirFS = planFS{}
	_ fs.StatFS    = planFS{}
)

// Open implements fs.FS.
func (f planFS) Open(name string) (fs.File, error) { return f.o.open(f.v, "/"+name, true) }

// Stat implements fs.StatFS.
func (f planFS) Stat(name string) (fs.FileInfo, error) {
	if err := f.r.look(); err != nil {
		return nil, err
	}
	p, err := f.o.look(f.v, "/"+name, false, false)
	if err == nil && p.info.Kind == Missing {
		err = fs.ErrNotExist
	}
	return planInfo{path.Base(name), p.info}, err
}

// ReadDir implements fs.ReadDirFS.
func (f planFS) ReadDir(name string) ([]fs.DirEntry, error) {
	names, err := f.o.readDir(f.v, "/"+name, f.r)
	list := make([]fs.DirEntry, 0, len(names))
	for _, n := range names {
		if err := f.r.look(); err != nil {
			return nil, err
		}
		p, findErr := f.o.find(path.Join("/", name, n), true)
		if findErr == nil {
			list = append(list, fs.FileInfoToDirEntry(planInfo{n, p.info}))
		}
	}
	return list, err
}

// planInfo is an Info as io/fs has it.
type planInfo struct {
	name string
	info Info
}

// Name implements fs.FileInfo.
func (i planInfo) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i planInfo) Size() int64 { return i.info.Size }

// Mode implements fs.FileInfo.
func (i planInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.info.Mode & 0o777)
	switch i.info.Kind {
	case Directory:
		mode |= fs.ModeDir
	case Symlink:
		mode |= fs.ModeSymlink
	case Special:
		mode |= fs.ModeIrregular
	}
	return mode
}

// ModTime implements fs.FileInfo.
func (i planInfo) ModTime() time.Time { return i.info.MTime }

// IsDir implements fs.FileInfo.
func (i planInfo) IsDir() bool { return i.info.Kind == Directory }

// Sys implements fs.FileInfo.
func (i planInfo) Sys() any { return nil }

func (o *overlay) glob(v *View, pattern string, r *nameReader) ([]string, error) {
	found, err := fs.Glob(planFS{o, v, r}, strings.TrimPrefix(path.Clean(pattern), "/"))
	for i := range found {
		found[i] = "/" + found[i]
	}
	slices.Sort(found)
	return found, err
}
