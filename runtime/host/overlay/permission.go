package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// ErrNeedsRoot means that the user of this process lacks a permission. It is also an
// [fs.ErrPermission], as the real failure would be.
var ErrNeedsRoot error = needsRootError{}

type needsRootError struct{}

// Error implements error.
func (needsRootError) Error() string { return "needs root" }

// Is reports whether kind is fs.ErrPermission, for [errors.Is].
func (needsRootError) Is(kind error) bool { return kind == fs.ErrPermission }

// NeedsRoot returns the error that root is needed for something; nil if this process runs as
// root.
func NeedsRoot(what string) error {
	if uid, _ := safepath.Self(); uid == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNeedsRoot, what)
}

// Permits returns an error if something prevents planned effects, or if the user of
// this process may not cause them. It finds that out without trying.
func (o *View) Permits(list ...PathEffect) error {
	if o == nil {
		return nil
	}
	for _, p := range list {
		p, ok := onMachine(o.base.Root(), p)
		if ok && p.Account == nil && !p.Unsure && p.Kind != safepath.Missing {
			if err := checkWay(o, path.Dir(p.Path)); err != nil {
				return err
			}
		}
	}
	uid, _ := safepath.Self()
	if uid == 0 {
		return nil
	}
	for _, p := range list {
		p, ok := onMachine(o.base.Root(), p)
		if !ok || p.Unsure || p.Vague {
			continue
		}
		if p.Account != nil {
			return fmt.Errorf("%w: %w", ErrNeedsRoot, diag.OnlyRoot("change users and groups"))
		}
		if err := permitsOne(o, p, uid); err != nil {
			return err
		}
	}
	return nil
}

// checkWay returns an error if a directory, or one above it, is something else. A missing one can
// be made.
func checkWay(o *View, dir string) error {
	for ; dir != "/"; dir = path.Dir(dir) {
		at, err := o.find(dir, true)
		if err != nil || at.vague || at.info.Kind == safepath.Directory {
			return nil
		}
		if end, err := o.find(dir, false); err == nil && end.info.Kind != safepath.Missing {
			if o.looks != nil {
				o.looks.recordPath(at, false)
			}
			return diag.Expected("a directory at %s", dir).Found("%s", end.info.Kind)
		}
	}
	return nil
}

// permitsOne returns an error if a user may not cause one effect.
func permitsOne(o *View, p PathEffect, uid uint32) error {
	at, err := o.find(p.Path, false)
	if err != nil {
		return nil // the effect fails for another reason
	}
	now := at.info
	if at.missingAt != "" && at.missingAt != at.path {
		now = safepath.Info{}
	}
	if err := permitsAttr(p, now, uid); err != nil {
		return err
	}
	if p.SetsCapabilities {
		return NeedsRoot("only root can set the capabilities of " + p.Path)
	}
	if p.Kept && p.Attr != nil && now.Kind == p.Kind || p.Kind == safepath.Directory && now.Kind == safepath.Directory {
		return nil // the directory itself does not change
	}
	return permitsEntry(o, path.Dir(p.Path), uid)
}

// permitsAttr returns an error if a user may not set the owner, the group or the mode.
func permitsAttr(p PathEffect, now safepath.Info, uid uint32) error {
	switch a := p.Attr; {
	case a == nil:
		return nil
	case a.UID != uid && (now.Kind == safepath.Missing || !p.Kept && p.Kind == safepath.Regular || a.UID != now.UID):
		return fmt.Errorf("%w: %w", ErrNeedsRoot, diag.OnlyRoot("change the owner of %s", p.Path))
	case (now.Kind == safepath.Missing || a.GID != now.GID) && !hasGroup(a.GID):
		return fmt.Errorf("%w: %w", ErrNeedsRoot, diag.OnlyRoot("change %s to a group without this user", p.Path))
	case (p.Kept || p.Kind == safepath.Directory) && now.Kind == p.Kind && now.UID != uid && (a.Mode != now.Mode || a.GID != now.GID):
		return fmt.Errorf("%w: %w", ErrNeedsRoot, diag.OfAnother(p.Path, "user"))
	}
	return nil
}

func hasGroup(gid uint32) bool {
	if _, own := safepath.Self(); own == gid {
		return true
	}
	list, err := os.Getgroups()
	return err == nil && slices.Contains(list, int(gid))
}

// permitsEntry returns an error if a user may not make or remove entries of a directory. For a
// directory that is going to be made it is nil.
func permitsEntry(o *View, dir string, uid uint32) error {
	for {
		at, err := o.find(dir, true)
		if err != nil || at.entry != nil && at.entry.fresh || at.vague {
			return nil
		}
		if at.info.Kind == safepath.Directory {
			real, err := o.base.Real(at.path)
			if err == nil {
				err = unix.Faccessat(unix.AT_FDCWD, real, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
			}
			if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
				return fmt.Errorf("%w: %w", ErrNeedsRoot, diag.Not(at.path, "writable by uid %d", uid))
			}
			return nil
		}
		if dir == "/" {
			return nil
		}
		dir = path.Dir(dir)
	}
}
