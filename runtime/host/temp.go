package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Temp is a file that is being written beside its target.
type Temp struct {
	h    *Host
	name string // of the target
	path string // of the target for the operating system
	fd   int
	// f is the same file, for what is not done often: it costs two system calls.
	f *os.File
	// nameless is set while the temporary file has no name (O_TMPFILE): if ccm dies,
	// it is gone.
	nameless bool
	// dir is the directory held open, nil if it is not.
	dir *dirHandle
	// placed is set once it has its place, or is removed.
	placed bool
	// info is what will stand at the path, if it was settled after all was written.
	info Info
}

// Create begins a file that will replace the one at the path: a temporary file
// in the same directory with the owner and then the mode of attr. Commit or
// Discard must follow.
//
// The temporary file of a path has one name, if it has one, and is locked while it
// has that (flock). One that is there and not locked was left by a run that died,
// and is removed.
func (h *Host) Create(name string, attr Attr) (*Temp, error) {
	t, err := h.begin(name, (*Temp).open)
	if err != nil {
		return nil, err
	}
	if err := t.settle(attr); err != nil {
		return nil, errors.Join(err, t.Discard())
	}
	return t, nil
}

// begin opens the temporary file of a path.
func (h *Host) begin(name string, open func(*Temp) error) (*Temp, error) {
	if err := h.refusedInBatch(); err != nil {
		return nil, err
	}
	path, err := h.real(name)
	if err != nil {
		return nil, err
	}
	t := &Temp{h: h, name: name, path: path}
	h.log.Debug("write", "path", name)
	if err := open(t); err != nil {
		if parent, ok := errors.AsType[*ParentError](h.CheckParent(name)); ok {
			err = parent
		}
		return nil, err
	}
	return t, nil
}

// temp returns the path of the temporary file for the operating system, which it has
// unless it is nameless.
func (t *Temp) temp() string {
	return filepath.Join(filepath.Dir(t.path), tempName(filepath.Base(t.path)))
}

// call is an effect on the file by a system call.
func (t *Temp) call(op string, call func() error) error {
	return t.h.do(op, t.name, func() error {
		if err := ignoringEINTR(call); err != nil {
			return &os.PathError{Op: op, Path: t.temp(), Err: err}
		}
		return nil
	})
}

// settle gives the file its owner and then its mode, where they are not so already.
func (t *Temp) settle(attr Attr) error {
	var st syscall.Stat_t
	if err := ignoringEINTR(func() error { return syscall.Fstat(t.fd, &st) }); err != nil {
		return &os.PathError{Op: "stat", Path: t.temp(), Err: err}
	}
	t.info = infoOf(&st)
	t.info.Links = 1
	own := t.info.UID != attr.UID || t.info.GID != attr.GID
	if own {
		t.info.UID, t.info.GID = attr.UID, attr.GID
		if err := t.call("chown", func() error { return unix.Fchown(t.fd, int(attr.UID), int(attr.GID)) }); err != nil {
			return err
		}
	}
	mode := attr.Mode & 0o7777
	if !own && t.info.Mode == mode { // a new owner takes away some of the mode
		return nil
	}
	t.info.Mode = mode
	return t.call("chmod", func() error { return unix.Fchmod(t.fd, mode) })
}

// tempName returns the name of the temporary file of a file. It is cut where
// file systems would refuse it.
func tempName(base string) string {
	const suffix = ".ccm-new"
	if len(base) > 255-len(suffix)-1 {
		base = base[:255-len(suffix)-1]
	}
	return "." + base + suffix
}

// openFile opens the file at a path for the operating system, from a directory that is
// open.
func (t *Temp) openFile(at int, path string, flags int, mode uint32) error {
	// os.OpenFile would ask whether one can wait for it.
	err := ignoringEINTR(func() (err error) {
		t.fd, err = unix.Openat(at, path, flags, mode)
		return err
	})
	if err != nil {
		return &os.PathError{Op: "open", Path: t.temp(), Err: err}
	}
	return nil
}

func (t *Temp) open() error {
	create := func() error {
		return t.h.do("create", t.name, func() error {
			return t.openFile(unix.AT_FDCWD, t.temp(), syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
		})
	}
	err := create()
	if errors.Is(err, os.ErrExist) {
		if err := t.removeLeftover(); err != nil {
			return err
		}
		err = create()
	}
	if err != nil {
		return err
	}
	if err := t.lock(); err != nil {
		return errors.Join(err, t.close())
	}
	return nil
}

// lock says that the temporary file is being written.
func (t *Temp) lock() error {
	if err := syscall.Flock(t.fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%s is being written by another process", t.name)
	}
	return nil
}

// removeLeftover removes the temporary file of a run that died.
func (t *Temp) removeLeftover() error {
	old, err := os.OpenFile(t.temp(), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer old.Close()
		if syscall.Flock(int(old.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return fmt.Errorf("%s is being written by another process", t.name)
		}
	}
	return t.h.do("remove", t.name, func() error { return os.Remove(t.temp()) })
}

// Name returns where the temporary file is for the operating system.
func (t *Temp) Name() string { return t.temp() }

// file returns the file as others take it.
func (t *Temp) file() *os.File {
	if t.f == nil {
		t.f = os.NewFile(uintptr(t.fd), t.temp())
	}
	return t.f
}

// close closes the file.
func (t *Temp) close() error {
	if t.f != nil {
		return t.f.Close()
	}
	if err := unix.Close(t.fd); err != nil {
		return &os.PathError{Op: "close", Path: t.temp(), Err: err}
	}
	return nil
}

// Write adds to the content.
func (t *Temp) Write(p []byte) (n int, err error) {
	err = t.h.do("write", t.name, func() (err error) { n, err = t.file().Write(p); return err })
	return n, err
}

// ReadFrom adds all that content holds, for io.Copy. A copy of a sparse file is one.
func (t *Temp) ReadFrom(content io.Reader) (n int64, err error) {
	if !hasHoles(content) {
		return io.Copy(struct{ io.Writer }{t}, content)
	}
	err = t.h.do("write", t.name, func() (err error) { n, err = copySparse(t.file(), content); return err })
	return n, err
}

// fill adds all that content holds.
func (t *Temp) fill(content io.Reader) error {
	return t.h.do("write", t.name, func() error {
		if hasHoles(content) {
			_, err := copySparse(t.file(), content)
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
			_, err = io.Copy(t.file(), content) // which the kernel does, if content is a file
		}
		return err
	})
}

// writeAll adds to the content.
func (t *Temp) writeAll(p []byte) error {
	for len(p) > 0 {
		var n int
		err := ignoringEINTR(func() (err error) { n, err = unix.Write(t.fd, p); return err })
		if err == nil && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return &os.PathError{Op: "write", Path: t.temp(), Err: err}
		}
		p = p[n:]
	}
	return nil
}

// sync makes the content durable.
func (t *Temp) sync() error { return t.call("sync", func() error { return unix.Fsync(t.fd) }) }

// Commit makes the temporary file the target, durably. If it fails, Discard
// must follow.
func (t *Temp) Commit() error {
	if err := t.sync(); err != nil {
		return err
	}
	if err := t.h.doomed(t.name, true); err != nil {
		return err
	}
	if err := t.rename(); err != nil {
		return err
	}
	return t.h.syncDir(t.name)
}

// rename gives a file that has a name, and is durable, its place. The directory is
// yet to be synced.
func (t *Temp) rename() error {
	temp := t.temp()
	rename := func() error {
		from, old := t.at(temp)
		to, name := t.at(t.path)
		return unix.Renameat(from, old, to, name)
	}
	if err := t.h.do("rename", t.name, rename); err != nil {
		return fmt.Errorf("could not rename temporary file: %w", &os.LinkError{Op: "rename", Old: temp, New: t.path, Err: err})
	}
	t.placed = true
	return t.close()
}

// Discard removes the temporary file. After a Commit it does nothing.
func (t *Temp) Discard() error {
	if t.placed {
		return nil
	}
	t.placed = true
	if t.nameless {
		return t.close()
	}
	remove := func() error {
		at, name := t.at(t.temp())
		if err := unix.Unlinkat(at, name, 0); err != nil {
			return &os.PathError{Op: "remove", Path: t.temp(), Err: err}
		}
		return nil
	}
	return errors.Join(t.close(), t.h.do("remove", t.name, remove))
}
