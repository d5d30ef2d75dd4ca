//go:build darwin || freebsd

package hosttest

import (
	"errors"
	"os"
	"syscall"
)

// endWithParent does nothing here: a process goes on when its parent ends.
func endWithParent(*syscall.SysProcAttr) {}

// exchange exchanges the entries at two paths, in three steps.
func exchange(a, b string) error {
	aside := a + ".aside"
	return errors.Join(os.Rename(a, aside), os.Rename(b, a), os.Rename(aside, b))
}

// renameNew renames an entry, unless the new path exists.
func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return os.ErrExist
	}
	return os.Rename(from, to)
}

// takeKernel does nothing here.
func takeKernel() {}
