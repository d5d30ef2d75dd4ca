package safepath

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
)

// Rename renames a file, which may also move it to another directory.
func Rename(from, to Location) error {
	if err := unix.Renameat(from.Dir.FD, from.Name, to.Dir.FD, to.Name); err != nil {
		return &os.LinkError{Op: "rename", Old: from.Path(), New: to.Path(), Err: err}
	}
	return nil
}

// RenameNew renames a file to a name that is free. It fails if there is a file of that name, except that a directory
// may replace an empty directory on systems without RENAME_NOREPLACE.
func RenameNew(from, to Location) error {
	err := renameNew(from, to)
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP {
		if err = unix.Linkat(from.Dir.FD, from.Name, to.Dir.FD, to.Name, 0); err == nil {
			return Unlink(from)
		}
		if err != unix.EEXIST {
			return Rename(from, to)
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from.Path(), New: to.Path(), Err: err}
	}
	return nil
}

// Unlink removes a file, a link, or an empty directory.
func Unlink(p Location) error {
	err := IgnoringEINTR(func() error { return unix.Unlinkat(p.Dir.FD, p.Name, 0) })
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	if e := IgnoringEINTR(func() error { return unix.Unlinkat(p.Dir.FD, p.Name, unix.AT_REMOVEDIR) }); e != unix.ENOTDIR {
		return e
	}
	return err
}

// Empty removes everything in a directory. Another file system mounted in it is an error.
func Empty(d *Handle) error {
	for range mostSweeps {
		names, err := NamesIn(d)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := RemoveAll(Location{Dir: d, Name: name}); err != nil && err != unix.ENOENT {
				return err
			}
		}
	}
	return unix.ENOTEMPTY
}

// mostSweeps limits how often a directory is listed again while somebody adds files to it.
const mostSweeps = 40

// IsMount reports whether a directory is a mount point: of another device or, on Linux 5.8 and later, of the same
// device (mount --bind).
func (d *Handle) IsMount(parent *Handle) bool {
	return d.Stat.Dev != parent.Stat.Dev || isMountRoot(d.FD)
}

// RemoveAll removes a file, or a directory with all that is in it.
func RemoveAll(p Location) error {
	err := Unlink(p)
	if err != unix.ENOTEMPTY && err != unix.EEXIST {
		return err
	}
	sub, err := p.OpenDirectory()
	if err != nil {
		return err
	}
	defer sub.Close()
	if sub.IsMount(p.Dir) {
		return unix.EBUSY
	}
	if err := Empty(sub); err != nil {
		return err
	}
	return RemoveEmpty(p, sub)
}

// RemoveEmpty removes an empty directory, if the name p still leads to d.
func RemoveEmpty(p Location, d *Handle) error {
	var st unix.Stat_t
	err := unix.Fstatat(p.Dir.FD, p.Name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && (st.Dev != d.Stat.Dev || st.Ino != d.Stat.Ino) {
		return diag.Meanwhile("", "replaced")
	}
	if err != nil {
		return err
	}
	return unix.Unlinkat(p.Dir.FD, p.Name, unix.AT_REMOVEDIR)
}
