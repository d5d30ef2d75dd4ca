package unpack

import (
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/sparse"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A stagedTree is the new entries of one directory in a stage.
type stagedTree struct {
	*stage
	*treeCopy
	n newEntries
	// in has the names of the entries in each directory below the source.
	in map[string][]string
	// dirs has the attributes of the new directories, and files the Info of the new files.
	dirs  map[string]safepath.Attr
	files map[string]*safepath.Info
	made  map[safepath.FileKind]safepath.Attr // what new entries get in the directory of the stage
	buf   []byte                              // for the contents of small files
}

// begin makes the stage for new entries.
func (x *treeCopy) begin(n newEntries) (*stagedTree, error) {
	parent := path.Join(x.Directory, n.dir)
	if n.top != "" {
		parent = path.Dir(x.Directory)
	}
	s, err := newStage(x.h, x.Directory, Options{Parent: parent})
	if err != nil {
		return nil, err
	}
	t := &stagedTree{
		stage: s, treeCopy: x, n: n,
		made: map[safepath.FileKind]safepath.Attr{
			safepath.Regular: host.NewAttr(&x.h.View, path.Join(parent, "x"), safepath.Regular), safepath.Directory: host.NewAttr(&x.h.View, path.Join(parent, "x"), safepath.Directory),
		},
		in: make(map[string][]string), dirs: make(map[string]safepath.Attr), files: make(map[string]*safepath.Info, len(n.names)),
		buf: make([]byte, 64<<10),
	}
	for _, name := range n.names {
		if name != "." {
			t.in[parentOf(name)] = append(t.in[parentOf(name)], name)
		}
	}
	return t, nil
}

// staged returns the path in the stage of a path below the source.
func (t *stagedTree) staged(name string) string {
	if t.n.top != "" {
		return path.Join(t.n.top, name)
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, t.n.dir), "/")
}

// write fills the stage, and makes its contents durable.
func (t *stagedTree) write() error {
	if t.n.top != "" {
		if err := t.mkdir(t.stage.top, ".", t.source.Stat); err != nil {
			return err
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(t.in)) { // parents come first
		if err := t.fill(dir); err != nil {
			return err
		}
	}
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(t.dirs))) {
		if err := t.setAttr(dir); err != nil {
			return err
		}
	}
	return t.sync()
}

// fill writes the entries of one directory.
func (t *stagedTree) fill(dir string) error {
	from, err := t.openDirectory(t.source, dir)
	if err != nil {
		return safepath.PathError("open", filepath.Join(t.Source, dir), err)
	}
	defer from.Close()
	to, err := t.openDirectory(t.stage.top, t.staged(dir))
	if err != nil {
		return safepath.PathError("open", path.Join(t.Directory, dir), err)
	}
	defer to.Close()
	for _, name := range t.in[dir] {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if err := t.add(from, to, name); err != nil {
			return err
		}
	}
	return nil
}

// openDirectory opens a directory below another. The caller closes it.
func (t *stagedTree) openDirectory(top *safepath.Handle, name string) (*safepath.Handle, error) {
	if name == "" {
		return top.Hold(), nil
	}
	p, err := t.treeCopy.h.Resolver().Beneath(top).To(name, false)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.OpenDirectory()
}

// add copies one entry into a directory of the stage.
func (t *stagedTree) add(from, to *safepath.Handle, name string) error {
	source := safepath.Location{Dir: from, Name: path.Base(name)}
	fd, err := t.treeCopy.h.Sources().OpenAt(source)
	if err == unix.ELOOP || err == unix.ENXIO {
		info, e := source.Stat()
		if err = e; err == nil {
			err = t.checkKind(name, info)
		}
	}
	if err != nil {
		return safepath.PathError("open", filepath.Join(t.Source, name), err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := safepath.IgnoringEINTR(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return safepath.PathError("stat", filepath.Join(t.Source, name), err)
	}
	if err := t.checkKind(name, safepath.InfoOf(&st)); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return t.mkdir(to, name, st)
	}
	return t.do("write", t.staged(name), func() error { return t.copyFile(fd, &st, to, name) })
}

// mkdir makes a directory in the stage. It gets its owner and mode once it is full.
func (t *stagedTree) mkdir(in *safepath.Handle, name string, source unix.Stat_t) error {
	t.dirs[name] = t.Attr(safepath.InfoOf(&source), safepath.Info{}, t.made[safepath.Directory])
	at := t.staged(name)
	return t.do("mkdir", at, func() error {
		return safepath.PathError("mkdir", t.full(at), unix.Mkdirat(in.FD, path.Base(at), 0o700))
	})
}

// setAttr sets the owner and mode of a directory in the stage.
func (t *stagedTree) setAttr(name string) error {
	at, attr := t.staged(name), t.dirs[name]
	d, err := t.openDirectory(t.stage.top, at)
	if err != nil {
		return safepath.PathError("open", t.full(at), err)
	}
	defer d.Close()
	t.kinds[at], t.modes[at] = safepath.Directory, attr.Mode
	if d.Stat.Uid != attr.UID || d.Stat.Gid != attr.GID {
		if err := t.do("chown", at, func() error { return safepath.PathError("chown", t.full(at), d.Chown(attr.UID, attr.GID)) }); err != nil {
			return err
		}
	}
	return t.chmodOpen(d, at, attr.Mode&0o7777)
}

// copyFile writes one file in the stage, where nobody else can open it.
func (t *stagedTree) copyFile(source int, st *unix.Stat_t, in *safepath.Handle, name string) (err error) {
	p := safepath.Location{Dir: in, Name: path.Base(name)}
	at := t.full(t.staged(name))
	attr := t.Attr(safepath.InfoOf(st), safepath.Info{}, t.made[safepath.Regular])
	fd, err := p.Open(unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, attr.Mode&0o777)
	if err != nil {
		return safepath.PathError("create", at, err)
	}
	closeFile := func() error { return unix.Close(fd) }
	defer func() { err = errors.Join(err, safepath.PathError("close", at, closeFile())) }()
	if st.Size > 0 && st.Size < int64(len(t.buf)) && st.Blocks > 0 {
		err = t.copySmall(source, fd, st, filepath.Join(t.Source, name))
	} else {
		f := os.NewFile(uintptr(fd), at)
		closeFile = f.Close
		err = t.copyContent(f, name)
	}
	if err != nil {
		return safepath.PathError("write", at, err)
	}
	info, err := setFileAttr(fd, attr)
	if err != nil {
		return safepath.PathError("chmod", at, err)
	}
	if t.files[name] = info; safepath.SyncsFileSystems {
		return nil
	}
	return safepath.PathError("sync", at, safepath.Fsync(fd))
}

// copySmall copies a file of the size in st, without checking for more. It records the content's
// digest, so that a comparison of the copy need not read the source again.
func (t *stagedTree) copySmall(from, to int, st *unix.Stat_t, name string) error {
	part := t.buf[:st.Size]
	for done := 0; done < len(part); {
		n, err := unix.Read(from, part[done:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			part = part[:done] // somebody has truncated it
		}
		done += n
	}
	info := safepath.InfoOf(st)
	t.treeCopy.h.Sources().NoteContent(name, &info, part)
	for len(part) > 0 {
		n, err := unix.Write(to, part)
		if err != nil && err != unix.EINTR {
			return err
		}
		part = part[max(n, 0):]
	}
	return nil
}

// copyContent copies a file of any size.
func (t *stagedTree) copyContent(to *os.File, name string) error {
	from, err := t.treeCopy.h.Sources().Open(t.ctx, filepath.Join(t.Source, name))
	if err != nil {
		return err
	}
	defer from.Close()
	if sparse.HasHoles(from) {
		_, err = sparse.Copy(to, from)
	} else {
		_, err = io.Copy(to, from)
	}
	return err
}

// setFileAttr sets the owner and mode of an open file, and returns its Info.
func setFileAttr(fd int, attr safepath.Attr) (*safepath.Info, error) {
	var st unix.Stat_t
	if err := safepath.IgnoringEINTR(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	info, mode := safepath.InfoOf(&st), attr.Mode&0o7777
	given := info.UID != attr.UID || info.GID != attr.GID
	if given {
		if err := unix.Fchown(fd, int(attr.UID), int(attr.GID)); err != nil {
			return nil, err
		}
	}
	if given || info.Mode != mode { // a change of owner clears mode bits
		if err := unix.Fchmod(fd, mode); err != nil {
			return nil, err
		}
	}
	info.UID, info.GID, info.Mode = attr.UID, attr.GID, mode
	return &info, nil
}

// place moves the entries from the stage to their paths.
func (t *stagedTree) place() error {
	units := t.in[t.n.dir]
	if t.n.top != "" {
		units = []string{"."}
	}
	for _, name := range units {
		if err := t.isFree(t.staged(name)); err != nil {
			return err
		}
	}
	if err := t.tell(); err != nil {
		return err
	}
	for _, name := range units {
		at := t.staged(name)
		from, to := safepath.Location{Dir: t.stage.top, Name: at}, safepath.Location{Dir: t.parent, Name: at}
		if err := t.moveTo(at, from, to, safepath.RenameNew); err != nil {
			return err
		}
	}
	return t.treeCopy.h.SyncDirectory(t.full("entry"), t.parent)
}

// isFree returns an error if the path of an entry exists by now.
func (t *stagedTree) isFree(at string) error {
	info, err := safepath.Location{Dir: t.parent, Name: at}.Stat()
	if err == nil && info.Kind != safepath.Missing {
		err = os.ErrExist
	}
	return safepath.PathError("create", t.full(at), err)
}

// tell announces the new entries.
func (t *stagedTree) tell() error {
	h := t.treeCopy.h
	if !h.WatchesChanges() {
		return nil
	}
	for i, name := range t.n.names {
		at := t.staged(name)
		err := h.BeforeChange(host.PreImage{
			Path: t.full(at), Dir: path.Join(t.parent.Path, path.Dir(at)),
			Content: true, Next: t.files[name], More: i < len(t.n.names)-1,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
