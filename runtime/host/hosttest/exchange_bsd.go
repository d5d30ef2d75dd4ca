//go:build darwin || freebsd

package hosttest

import (
	"errors"
	"os"
	"syscall"
)

// endWithParent is not there: a process goes on when its parent ends.
func endWithParent(*syscall.SysProcAttr) {}

// exchange gives each of two paths what stands at the other, in three steps.
func exchange(a, b string) error {
	aside := a + ".aside"
	return errors.Join(os.Rename(a, aside), os.Rename(b, a), os.Rename(aside, b))
}

// renameNew renames what stands at a path, unless something stands at the new one.
func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return os.ErrExist
	}
	return os.Rename(from, to)
}

// takeKernel does nothing here.
func takeKernel() {}
