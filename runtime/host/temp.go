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
	h          *Host
	name       string // of the target
	path, temp string // for the operating system
	fd         int
	// f is the same file, for what is not done often: it costs two system calls.
	f *os.File
	// nameless is set while the temporary file has no name (O_TMPFILE): if ccm dies,
	// it is gone.
	nameless bool
	dev      uint64
}

// Create begins a file that will replace the one at the path: a temporary file
// in the same directory with the owner and then the mode of attr. Commit or
// Discard must follow.
//
// The temporary file of a path has one name, if it has one, and is locked while it
// has that (flock). One that is there and not locked was left by a run that died,
// and is removed.
func (h *Host) Create(name string, attr Attr) (*Temp, error) {
	return h.create(name, attr, (*Temp).open)
}

func (h *Host) create(name string, attr Attr, open func(*Temp) error) (_ *Temp, err error) {
	if err := h.refusedInBatch(); err != nil {
		return nil, err
	}
	path, err := h.real(name)
	if err != nil {
		return nil, err
	}
	t := &Temp{h: h, name: name, path: path, temp: filepath.Join(filepath.Dir(path), tempName(filepath.Base(path)))}
	h.log.Debug("write", "path", name)
	if err := open(t); err != nil {
		if ok, e := h.IsDirectory(filepath.Dir(name)); e == nil && !ok {
			err = fmt.Errorf("%s is not a directory", filepath.Dir(name))
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Discard())
		}
	}()
	if err := t.chown(attr); err != nil {
		return nil, err
	}
	return t, t.call("chmod", func() error { return unix.Fchmod(t.fd, attr.Mode&0o7777) })
}

// call is an effect on the file by a system call.
func (t *Temp) call(op string, call func() error) error {
	return t.h.do(op, t.name, func() error {
		if err := ignoringEINTR(call); err != nil {
			return &os.PathError{Op: op, Path: t.temp, Err: err}
		}
		return nil
	})
}

// chown sets the owner, unless it is that already.
func (t *Temp) chown(attr Attr) error {
	var st unix.Stat_t
	if err := ignoringEINTR(func() error { return unix.Fstat(t.fd, &st) }); err != nil {
		return &os.PathError{Op: "stat", Path: t.temp, Err: err}
	}
	t.dev = uint64(st.Dev)
	if st.Uid == attr.UID && st.Gid == attr.GID {
		return nil
	}
	return t.call("chown", func() error { return unix.Fchown(t.fd, int(attr.UID), int(attr.GID)) })
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

// openFile opens the file at a path for the operating system.
func (t *Temp) openFile(path string, flags int) error {
	// os.OpenFile would ask whether one can wait for it.
	err := ignoringEINTR(func() (err error) {
		t.fd, err = syscall.Open(path, flags, 0o600)
		return err
	})
	if err != nil {
		return &os.PathError{Op: "open", Path: t.temp, Err: err}
	}
	return nil
}

func (t *Temp) open() error {
	create := func() error {
		return t.h.do("create", t.name, func() error {
			return t.openFile(t.temp, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL|syscall.O_NOFOLLOW|syscall.O_CLOEXEC)
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
	old, err := os.OpenFile(t.temp, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer old.Close()
		if syscall.Flock(int(old.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return fmt.Errorf("%s is being written by another process", t.name)
		}
	}
	return t.h.do("remove", t.name, func() error { return os.Remove(t.temp) })
}

// Name returns where the temporary file is for the operating system.
func (t *Temp) Name() string { return t.temp }

// file returns the file as others take it.
func (t *Temp) file() *os.File {
	if t.f == nil {
		t.f = os.NewFile(uintptr(t.fd), t.temp)
	}
	return t.f
}

// close closes the file.
func (t *Temp) close() error {
	if t.f != nil {
		return t.f.Close()
	}
	if err := unix.Close(t.fd); err != nil {
		return &os.PathError{Op: "close", Path: t.temp, Err: err}
	}
	return nil
}

// Write adds to the content.
func (t *Temp) Write(p []byte) (n int, err error) {
	err = t.h.do("write", t.name, func() (err error) { n, err = t.file().Write(p); return err })
	return n, err
}

// fill adds all that content holds.
func (t *Temp) fill(content io.Reader) error {
	return t.h.do("write", t.name, func() error {
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
			return &os.PathError{Op: "write", Path: t.temp, Err: err}
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
	if err := t.h.do("rename", t.name, func() error { return unix.Rename(t.temp, t.path) }); err != nil {
		return fmt.Errorf("could not rename temporary file: %w", &os.LinkError{Op: "rename", Old: t.temp, New: t.path, Err: err})
	}
	t.temp = ""
	return t.close()
}

// Discard removes the temporary file. After a Commit it does nothing.
func (t *Temp) Discard() error {
	if t.temp == "" {
		return nil
	}
	temp := t.temp
	t.temp = ""
	if t.nameless {
		return t.close()
	}
	return errors.Join(t.close(), t.h.do("remove", t.name, func() error { return os.Remove(temp) }))
}
