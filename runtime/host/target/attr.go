package target

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// SetAttr sets the owner and mode of the open entry at the target, if they differ.
func (t Target) SetAttr(d *safepath.Handle, attr safepath.Attr) error {
	info := safepath.InfoOf(&d.Stat)
	if info.UID != attr.UID || info.GID != attr.GID {
		if err := t.Chown(d, attr.UID, attr.GID); err != nil {
			return err
		}
		// A change of owner clears setuid and setgid, so the mode is set again.
		info.Mode = ^attr.Mode
	}
	if info.Mode == attr.Mode {
		return nil
	}
	return t.Effect("chmod", t.PathName, func() error {
		if err := d.Chmod(attr.Mode & 0o7777); err != nil {
			return &os.PathError{Op: "chmod", Path: t.Real(t.Location), Err: err}
		}
		return nil
	})
}

// Chown sets the owner of the open entry at the target. A file keeps its capabilities, which
// chown(2) clears.
func (t Target) Chown(d *safepath.Handle, uid, gid uint32) error {
	var kept safepath.Xattrs
	if d.Stat.Mode&unix.S_IFMT == unix.S_IFREG {
		kept, _ = d.Xattrs()
	}
	return t.Effect("chown", t.PathName, func() error {
		if err := d.Chown(uid, gid); err != nil {
			return &os.PathError{Op: "lchown", Path: t.Real(t.Location), Err: err}
		}
		if kept[safepath.CapabilityXattr] == nil {
			return nil
		}
		_, errs := safepath.SetXattrs(d.FD, kept, func(name string) bool { return name == safepath.CapabilityXattr })
		return safepath.PathError("setxattr", t.PathName, errors.Join(errs...))
	})
}

// SetNewAttr sets the owner and mode of a directory that was just made, unless another one has
// replaced it. More sets what the directory is to have besides, and reports whether that may have
// changed the mode; it may be nil.
func (t Target) SetNewAttr(attr safepath.Attr, more func(d *safepath.Handle) bool) error {
	d, err := t.OpenDirectory()
	if err != nil {
		return safepath.PathError("open", t.PathName, err)
	}
	defer d.Close()
	names, err := safepath.NamesIn(d)
	if own, _ := safepath.Self(); err == nil && (d.Stat.Uid != own || len(names) > 0) {
		err = fmt.Errorf("%s: %w", t.PathName, diag.Meanwhile("created directory", "replaced"))
	}
	if err != nil {
		return safepath.PathError("open", t.PathName, err)
	}
	if more != nil {
		x, err := t.OpenXattrs()
		if err != nil {
			return safepath.PathError("open", t.PathName, err)
		}
		if d.Is(x) && more(x) {
			err = unix.Fstat(d.FD, &d.Stat)
		}
		x.Close()
		if err != nil {
			return safepath.PathError("stat", t.PathName, err)
		}
	}
	return t.SetAttr(d, attr)
}
