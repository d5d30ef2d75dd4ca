package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/sparse"
	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Temp is a temporary file beside its target.
type Temp struct {
	h    *Host
	name string // of the target
	// target is the place of the target. An unnamed file of a batch does not hold the directory
	// open (target.Dir is nil), and opens it again when it gets its name. That directory is one of
	// dirs.
	target safepath.Location
	dirs   *safepath.DirectoryCache
	from   *safepath.Handle
	// temp is the name of the temporary file. It is "" for an unnamed file (O_TMPFILE), which
	// vanishes if ccm dies.
	temp string
	fd   int
	// f is the same file as fd, made only when needed: it costs two system calls.
	f *os.File
	// finished is set once the file is at the target or removed.
	finished bool
	// info describes the file once it is at the target, if the attributes were set after the
	// content was written.
	info safepath.Info
	// inPlace is the reason why the content is written over that of the file at the target, "" if
	// that file is replaced. Then held is the content so far, and attr the owner and mode.
	inPlace string
	held    Held
	attr    safepath.Attr
	// xattrs are the extended attributes of the file that it replaces; nil if it replaces none.
	xattrs safepath.Xattrs
}

// Create begins a file that will replace the one at the path. It makes a temporary file in the
// same directory, with the owner and then the mode of attr. Commit or Discard must follow.
//
// The temporary file is locked while it has a name (flock). An unlocked one was left by a dead
// run and is removed.
func (h *Host) Create(name string, attr safepath.Attr) (*Temp, error) {
	return h.create(name, attr, (*Temp).open)
}

// create is Create with open as the function that makes the file.
func (h *Host) create(name string, attr safepath.Attr, open func(*Temp) error) (*Temp, error) {
	t, err := h.begin(name, func(t *Temp) (err error) {
		if t.target, err = h.files.At(name); err != nil {
			return err
		}
		if t.lookAtOld(); t.inPlace != "" {
			return t.openHeld()
		}
		return open(t)
	})
	if err != nil {
		return nil, err
	}
	if err := t.setAttr(attr); err != nil {
		return nil, errors.Join(err, t.Discard())
	}
	return t, nil
}

// begin opens the temporary file for a path.
func (h *Host) begin(name string, open func(*Temp) error) (*Temp, error) {
	if err := h.batchEntry.refuseOther(); err != nil {
		return nil, err
	}
	t := &Temp{h: h, name: name}
	h.log.Debug("write", "path", name)
	if err := open(t); err != nil {
		t.target.Close()
		if parent, ok := errors.AsType[*ParentError](h.CheckParent(name)); ok {
			err = parent
		}
		return nil, safepath.PathError("open", name, err)
	}
	return t, nil
}

// at returns the target for changing it.
func (t *Temp) at() target.Target { return t.h.targetAt(t.target, t.name) }

// path returns the path of the temporary file for the operating system, or of the target if the
// file is unnamed.
func (t *Temp) path() string {
	if t.held != nil {
		return t.held.Name()
	}
	if t.temp == "" || t.target.Dir == nil {
		return filepath.Join(t.h.root, t.name)
	}
	return t.h.RealPath(t.name, safepath.Location{Dir: t.target.Dir, Name: t.temp})
}

// RealPath returns the path of a place for the operating system.
func (m *machine) RealPath(name string, p safepath.Location) string {
	if m.root == "/" {
		return filepath.Join(filepath.Dir(name), p.Name)
	}
	return filepath.Join(m.root, p.Path())
}

// call makes a system call on the file as an effect.
func (t *Temp) call(op string, call func() error) error {
	return t.h.Effect(op, t.name, func() error {
		if err := safepath.IgnoringEINTR(call); err != nil {
			return &os.PathError{Op: op, Path: t.path(), Err: err}
		}
		return nil
	})
}

// setAttr sets the owner, the extended attributes and then the mode of the file, if they differ.
func (t *Temp) setAttr(attr safepath.Attr) error {
	var st unix.Stat_t
	if err := safepath.IgnoringEINTR(func() error { return unix.Fstat(t.fd, &st) }); err != nil {
		return &os.PathError{Op: "stat", Path: t.path(), Err: err}
	}
	t.attr, t.info = attr, safepath.InfoOf(&st)
	t.info.Links = 1
	own := t.info.UID != attr.UID || t.info.GID != attr.GID
	if own {
		t.info.UID, t.info.GID = attr.UID, attr.GID
		if err := t.call("chown", func() error { return unix.Fchown(t.fd, int(attr.UID), int(attr.GID)) }); err != nil {
			return err
		}
	}
	listed, err := t.setXattrs(func(name string) bool { return name != safepath.CapabilityXattr })
	if err != nil {
		return err
	}
	mode := attr.Mode & 0o7777
	if !own && !listed && t.info.Mode == mode { // a change of owner clears mode bits, an access list sets them
		return nil
	}
	t.info.Mode = mode
	return t.call("chmod", func() error { return unix.Fchmod(t.fd, mode) })
}

// lookAtOld looks at the file at the target: can it be replaced, and which extended attributes does
// it have? With [WithXattrs] the file is to have others.
func (t *Temp) lookAtOld() {
	t.xattrs = t.h.xattrs
	old, err := t.target.OpenXattrs()
	if err != nil {
		return // the target is missing
	}
	defer old.Close()
	if t.inPlace = inPlaceReason(old, t.h.keepLinks); t.inPlace != "" {
		t.xattrs = nil
		return
	}
	if t.xattrs == nil && old.Stat.Mode&unix.S_IFMT == unix.S_IFREG {
		var errs []error
		t.xattrs, errs = old.Xattrs()
		warnOfXattrs(t.h.machine, t.name, errs)
	}
}

// setXattrs sets those extended attributes that which accepts, and reports whether that may have changed the mode.
// What the file system refuses is a warning.
func (t *Temp) setXattrs(which func(name string) bool) (listed bool, err error) {
	if t.xattrs == nil || len(t.xattrs) == 0 && !safepath.HasXattrs(t.fd) {
		return false, nil
	}
	err = t.h.Effect("setxattr", t.name, func() error {
		var errs []error
		listed, errs = safepath.SetXattrs(t.fd, t.xattrs, which)
		warnOfXattrs(t.h.machine, t.name, errs)
		return nil
	})
	return listed, err
}

// setCapabilities sets the file capabilities, which a write has cleared. With [WithCapabilities] they are wanted, so it
// is an error if they cannot be set.
func (t *Temp) setCapabilities() error {
	if c := t.h.caps; c != nil {
		if !c.Given { // a new file has none
			return nil
		}
		return t.h.setCapabilities(t.fd, t.name, *c)
	}
	if t.xattrs[safepath.CapabilityXattr] == nil {
		return nil
	}
	_, err := t.setXattrs(func(name string) bool { return name == safepath.CapabilityXattr })
	return err
}

// openFile opens the temporary file from a place.
func (t *Temp) openFile(p safepath.Location, flags int, mode uint32) (err error) {
	t.fd, err = p.Open(flags|unix.O_RDWR, mode) // os.OpenFile would also try to poll it
	return err
}

// open makes a temporary file with a name.
func (t *Temp) open() (err error) {
	t.temp, err = t.at().Claim(func(temp safepath.Location) error {
		return t.h.Effect("create", t.name, func() error { return t.openFile(temp, unix.O_CREAT|unix.O_EXCL, 0o600) })
	})
	if err != nil {
		return err
	}
	if err := t.lock(); err != nil {
		return errors.Join(err, t.Discard())
	}
	return nil
}

// lock marks the temporary file as in use.
func (t *Temp) lock() error {
	if err := unix.Flock(t.fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return diag.InUse(t.name, "another process")
	}
	return nil
}

// Name returns the path of the temporary file for the operating system.
func (t *Temp) Name() string { return t.path() }

// file returns the file as an os.File.
func (t *Temp) file() *os.File {
	if t.f == nil {
		t.f = os.NewFile(uintptr(t.fd), t.path())
	}
	return t.f
}

// close closes the file and the directory of the target.
func (t *Temp) close() error {
	defer t.target.Close()
	if t.held != nil {
		return t.held.Remove()
	}
	if t.f != nil {
		return t.f.Close()
	}
	if err := unix.Close(t.fd); err != nil {
		return &os.PathError{Op: "close", Path: t.path(), Err: err}
	}
	return nil
}

// Write adds to the content.
func (t *Temp) Write(p []byte) (n int, err error) {
	err = t.h.Effect("write", t.name, func() (err error) { n, err = t.file().Write(p); return err })
	return n, err
}

// ReadFrom appends the content, for io.Copy. A sparse file stays sparse.
func (t *Temp) ReadFrom(content io.Reader) (n int64, err error) {
	if !sparse.HasHoles(content) {
		return io.Copy(struct{ io.Writer }{t}, content)
	}
	err = t.h.Effect("write", t.name, func() (err error) { n, err = sparse.Copy(t.file(), content); return err })
	return n, err
}

// fill appends the content.
func (t *Temp) fill(content io.Reader) error {
	return t.h.Effect("write", t.name, func() error {
		if sparse.HasHoles(content) {
			_, err := sparse.Copy(t.file(), content)
			return err
		}
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		n, err := io.ReadFull(content, *buf)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return t.writeAll((*buf)[:n])
		}
		if err == nil {
			err = t.writeAll((*buf)[:n])
		}
		if err == nil {
			_, err = io.Copy(t.file(), content) // the kernel copies if content is a file
		}
		return err
	})
}

// writeAll appends bytes to the content.
func (t *Temp) writeAll(p []byte) error {
	for len(p) > 0 {
		var n int
		err := safepath.IgnoringEINTR(func() (err error) { n, err = unix.Write(t.fd, p); return err })
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return &os.PathError{Op: "write", Path: t.path(), Err: err}
		}
		p = p[n:]
	}
	return nil
}

// sync makes the content durable.
func (t *Temp) sync() error { return t.call("sync", func() error { return safepath.Fsync(t.fd) }) }

// Commit moves the temporary file to the target, durably. If it fails, Discard must follow.
func (t *Temp) Commit() error {
	if t.inPlace != "" {
		return t.commitInPlace()
	}
	if err := t.setCapabilities(); err != nil {
		return err
	}
	if err := t.sync(); err != nil {
		return err
	}
	if err := t.h.announce(t.at(), false); err != nil {
		return err
	}
	now, err := t.h.at(t.name)
	if err != nil {
		return err
	}
	defer now.Close()
	if !now.Dir.Is(t.target.Dir) {
		return fmt.Errorf("%s: %w", t.name, safepath.ErrMoved)
	}
	if t.temp == "" {
		err = t.commitUnnamed()
	} else {
		err = t.rename()
	}
	if err != nil {
		return err
	}
	return now.SyncDirectory()
}

// rename moves a durable file with a name to the target. The caller has to sync the directory.
func (t *Temp) rename() error {
	at := t.target.Dir.FD
	if err := t.h.Effect("rename", t.name, func() error { return unix.Renameat(at, t.temp, at, t.target.Name) }); err != nil {
		return diag.Cannot("rename", "the temporary file",
			&os.LinkError{Op: "rename", Old: t.path(), New: t.h.RealPath(t.name, t.target), Err: err})
	}
	t.finished = true
	return t.close()
}

// Discard removes the temporary file. After a Commit it does nothing.
func (t *Temp) Discard() error {
	if t.finished {
		return nil
	}
	t.finished = true
	if t.temp == "" {
		return t.close()
	}
	d := t.target.Dir.Hold()
	defer d.Close()
	remove := func() error { return unix.Unlinkat(d.FD, t.temp, 0) }
	return errors.Join(t.close(), safepath.PathError("remove", t.path(), t.h.Effect("remove", t.name, remove)))
}
