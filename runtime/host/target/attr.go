package target

import (
	"fmt"
	"os"

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

// Chown sets the owner of the open entry at the target.
func (t Target) Chown(d *safepath.Handle, uid, gid uint32) error {
	return t.Effect("chown", t.PathName, func() error {
		if err := d.Chown(uid, gid); err != nil {
			return &os.PathError{Op: "lchown", Path: t.Real(t.Location), Err: err}
		}
		return nil
	})
}

// SetNewAttr sets the owner and mode of a directory that was just made, unless another one has
// replaced it.
func (t Target) SetNewAttr(attr safepath.Attr) error {
	d, err := t.OpenDirectory()
	if err != nil {
		return safepath.PathError("open", t.PathName, err)
	}
	defer d.Close()
	names, err := safepath.NamesIn(d)
	if own, _ := safepath.Self(); err == nil && (d.Stat.Uid != own || len(names) > 0) {
		err = fmt.Errorf("%s: another directory was put in the place of the one that was made", t.PathName)
	}
	if err != nil {
		return safepath.PathError("open", t.PathName, err)
	}
	return t.SetAttr(d, attr)
}
