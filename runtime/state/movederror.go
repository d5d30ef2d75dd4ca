package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/luaccm/ccm/runtime/host"
)

// A MovedError reports that a path now leads to another directory than when the run changed it,
// because a link on the way was changed.
type MovedError struct {
	Path, Run string
	Dir       string // the directory in which the run changed it
	Now       string // the directory to which the path leads
}

// Error names both directories and describes how to go on.
func (e *MovedError) Error() string {
	return fmt.Sprintf("skipped: the run changed it in %[1]s, but its path now leads to %[2]s (point the link to %[1]s again, or show the change with: ccm diff %[3]s %[4]s)",
		e.Dir, e.Now, e.Run, e.Path)
}

// Place returns a [*MovedError] if the path of r does not lead to the directory in which the run
// changed it. A missing directory is not an error.
func Place(v *host.View, r Restoration) error {
	if r.Dir == "" {
		return nil
	}
	now, err := v.Directory(r.Path)
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		return err
	case now != r.Dir:
		return &MovedError{Path: r.Path, Run: r.Run, Dir: r.Dir, Now: now}
	}
	return nil
}

// isMoved reports whether an error of Place may vanish once links are restored.
func isMoved(err error) bool {
	_, ok := errors.AsType[*MovedError](err)
	return ok
}

// isBehindLink reports whether the path led through a link when it was changed.
func (r Restoration) isBehindLink() bool { return placeOf(r.Path, r.Dir) != r.Path }

// placeOf returns the place to which a path led: its name in dir, or the path itself if dir is
// not known.
func placeOf(path, dir string) string {
	if dir == "" || dir == filepath.Dir(path) {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}
