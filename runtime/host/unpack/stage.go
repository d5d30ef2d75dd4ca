package unpack

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/diskspace"
	"github.com/luaccm/ccm/runtime/host/sparse"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A stage is the directory inside the parent into which an archive is unpacked. Nobody else can
// enter it. Others may be able to rename it, so it is held open.
type stage struct {
	*layout
	h         *host.Host
	x         Options
	dir       string           // name of the stage in the parent
	parent    *safepath.Handle // the target directory
	top       *safepath.Handle // the stage
	root      *os.Root
	lock      *os.File
	temporary host.Temporary // nil until the stage is made
	space     diskspace.Guard

	entries int
	bytes   int64
	paths   []string // all paths in order, set when everything is unpacked
}

const stageSuffix = ".ccm-extract"

// stageName returns the name of the stage for an archive in a directory where nobody else can
// make names.
func stageName(archive string) string {
	return safepath.HiddenName(filepath.Base(archive), stageSuffix)
}

// stageMode is the mode of a stage. The sticky bit has no effect there, but distinguishes a stage
// from other directories of root that somebody renamed to a stage's name.
const stageMode = 0o1700

// newStage makes an empty stage. An existing stage that is not locked was left by a dead run and
// is removed.
func newStage(h *host.Host, archive string, x Options) (_ *stage, err error) {
	s := &stage{layout: newLayout(), h: h, x: x, dir: stageName(archive)}
	if s.parent, err = h.Resolver().Directory(x.Parent); err != nil {
		return nil, safepath.PathError("open", x.Parent, err)
	}
	if safepath.IsShared(&s.parent.Stat) {
		s.dir = safepath.RandomName(filepath.Base(archive), stageSuffix)
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// at returns the place of the stage.
func (s *stage) at() safepath.Location { return safepath.Location{Dir: s.parent, Name: s.dir} }

func (s *stage) open() error {
	if err := s.removeLeft(); err != nil {
		return err
	}
	where := s.h.RealPath(filepath.Join(s.x.Parent, s.dir), s.at())
	left, err := s.h.TrackTemporary(s.at().Path())
	if err != nil {
		return err
	}
	err = s.do("mkdir", s.dir, func() error {
		return safepath.PathError("mkdir", where, unix.Mkdirat(s.parent.FD, s.dir, stageMode))
	})
	if err != nil {
		left.Gone()
		return err
	}
	s.temporary = left
	if s.top, err = s.at().OpenDirectory(); err != nil {
		return safepath.PathError("open", where, err)
	}
	info := safepath.InfoOf(&s.top.Stat)
	left.Made(info.Dev, info.Ino)
	s.space.FD = s.top.FD
	if s.root, err = safepath.OpenOwn(where, s.top); err != nil {
		return err
	}
	if s.lock, err = s.root.Open("."); err != nil {
		return err
	}
	return unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// removeLeft removes the stages of dead runs.
func (s *stage) removeLeft() error {
	if !safepath.IsShared(&s.parent.Stat) {
		if isLocked(s.at()) {
			return diag.InUse(s.x.Parent, "another process that extracts to it")
		}
		return s.remove(s.at())
	}
	names, err := safepath.NamesIn(s.parent)
	if err != nil {
		return safepath.PathError("open", s.x.Parent, err)
	}
	for _, name := range names {
		p := safepath.Location{Dir: s.parent, Name: name}
		if !safepath.IsRandomName(name, stageSuffix) || isLocked(p) {
			continue
		}
		info, err := p.Stat()
		if own, _ := safepath.Self(); err != nil || info.Kind != safepath.Directory || info.UID != own || info.Mode&0o777 != stageMode {
			continue
		}
		if err := s.remove(p); err != nil {
			return err
		}
	}
	return nil
}

// isLocked reports whether another process unpacks in the stage at a place.
func isLocked(p safepath.Location) bool {
	fd, err := p.Open(unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil
}

// do performs an effect on a path in the parent.
func (s *stage) do(op, name string, effect func() error) error {
	return s.h.Effect(op, path.Join(s.x.Parent, name), effect)
}

// discard removes the stage and what is still in it.
func (s *stage) discard() error {
	err := s.remove(s.at())
	if err == nil && s.temporary != nil {
		s.temporary.Gone()
	}
	return errors.Join(err, s.close())
}

// remove removes a stage with everything in it.
func (s *stage) remove(p safepath.Location) error {
	return s.do("remove", p.Name, func() error { return removeStage(p) })
}

func removeStage(p safepath.Location) error {
	err := safepath.RemoveAll(p)
	if err == unix.EACCES {
		// Without root, directories that are not writable cannot be emptied.
		makeWritable(p)
		err = safepath.RemoveAll(p)
	}
	if err == unix.ENOENT {
		return nil
	}
	return safepath.PathError("remove", p.Path(), err)
}

// makeWritable makes a directory and those below it writable for their owner, as far as possible.
func makeWritable(p safepath.Location) {
	d, err := p.OpenDirectory()
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Chmod(0o700)
	_ = safepath.EachIn(d, func(p safepath.Location, info safepath.Info) error {
		if info.Kind == safepath.Directory {
			makeWritable(p)
		}
		return nil
	})
}

func (s *stage) close() error {
	if s.lock != nil {
		s.lock.Close()
	}
	if s.root != nil {
		s.root.Close()
	}
	s.top.Close()
	s.parent.Close()
	return nil
}

// add unpacks one entry.
func (s *stage) add(e entry) error {
	s.entries++
	name, err := entryName(e.name)
	if err == nil {
		err = s.checkEntries()
	}
	if err != nil {
		return err
	}
	if name = strip(name, s.x.Strip); name == "" && s.x.Strip > 0 {
		return nil
	}
	if name == "" {
		if e.kind != safepath.Directory {
			return diag.OfKind("", "the directory itself, but not a directory in the archive")
		}
		return nil
	}
	if name == s.dir || strings.HasPrefix(name, s.dir+"/") {
		return diag.OfKind("", "a path in the directory for unpacking")
	}
	var target string
	if e.hardLink {
		if target, err = s.linked(name, &e); err != nil {
			return err
		}
	}
	replaces, err := s.put(name, e.kind)
	if err != nil {
		return err
	}
	if err := s.checkEntries(); err != nil {
		return err
	}
	if replaces {
		if e.unique {
			return diag.OfKind("", "a duplicate entry")
		}
		if err := s.root.Remove(name); err != nil {
			return err
		}
	}
	if dir := parentOf(name); dir != "" {
		if err := s.root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	switch {
	case e.kind == safepath.Directory:
		s.modes[name] = e.mode & 0o777
		return s.do("mkdir", name, func() error { return s.root.MkdirAll(name, 0o700) })
	case e.kind == safepath.Symlink:
		if e.target == "" || len(e.target) > maxLinkLen || strings.ContainsRune(e.target, 0) {
			return diag.OfKind("", "a symbolic link without target")
		}
		s.links[name] = e.target
		return s.do("symlink", name, func() error { return s.root.Symlink(e.target, name) })
	case e.hardLink:
		return s.do("link", name, func() error { return s.root.Link(target, name) })
	}
	return s.do("write", name, func() error { return s.write(name, e) })
}

// checkEntries returns an error if the archive has too many entries, or makes too many:
// directories without an entry of their own count too.
func (s *stage) checkEntries() error {
	if limit := s.x.MaxEntries; limit > 0 && max(s.entries, len(s.kinds)) > limit {
		return &LimitError{Entries: true, Limit: int64(limit)}
	}
	return nil
}

// linked returns the entry to which a hard link leads. If that is a symbolic link, e becomes one
// too.
func (s *stage) linked(name string, e *entry) (string, error) {
	target, err := entryName(e.target)
	if err != nil {
		return "", diag.OfKind("", "a hard link to %q, which %w", e.target, err)
	}
	target = strip(target, s.x.Strip)
	kind := s.kinds[target]
	if kind != safepath.Regular && kind != safepath.Symlink || target == name {
		return "", diag.OfKind("", "a hard link to %q, which is not a file earlier in the archive", e.target)
	}
	if kind == safepath.Symlink {
		e.kind, e.hardLink, e.target = safepath.Symlink, false, s.links[target]
	}
	return target, nil
}

// write unpacks a file.
func (s *stage) write(name string, e entry) (err error) {
	if s.x.MaxBytes > 0 && e.size > s.x.MaxBytes-s.bytes {
		return &LimitError{Limit: s.x.MaxBytes}
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	body := e.body
	if s.x.MaxBytes > 0 {
		body = io.LimitReader(body, s.x.MaxBytes-s.bytes+1)
	}
	var n int64
	if e.sparse {
		n, err = sparse.Copy(f, io.TeeReader(body, &s.space))
	} else {
		n, err = io.Copy(io.MultiWriter(f, &s.space), body)
	}
	if s.bytes += n; s.x.MaxBytes > 0 && s.bytes > s.x.MaxBytes {
		return &LimitError{Limit: s.x.MaxBytes}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return diag.Truncated("archive")
	}
	if err != nil {
		return err
	}
	if err := f.Chmod(safepath.FileMode(e.mode & 0o777)); err != nil {
		return err
	}
	if !safepath.SyncsFileSystems {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if e.mtime.IsZero() || e.mtime.Unix() <= 0 {
		return nil
	}
	return s.root.Chtimes(name, time.Time{}, e.mtime)
}
