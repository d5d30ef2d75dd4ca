package host

import (
	"path/filepath"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A ParentError says that there is no directory in which something could be
// created.
type ParentError struct {
	Dir string
	// Missing says that nothing stands there; otherwise it is no directory.
	Missing bool
}

// Error implements error.
func (e *ParentError) Error() string {
	if e.Missing {
		return e.Dir + " does not exist"
	}
	return e.Dir + " is not a directory"
}

// Directory returns the directory in which a path is, after all links on the way to it were
// followed, as the machine sees it.
func (v *View) Directory(name string) (string, error) {
	p, err := v.files.At(name)
	if err != nil {
		return "", safepath.PathError("open", name, err)
	}
	defer p.Close()
	return p.Dir.Path, nil
}

// CheckParent returns nil if the directory of the path is there, and a
// [*ParentError] if not.
func (v *View) CheckParent(name string) error {
	dir := filepath.Dir(name)
	if ok, err := v.IsDirectory(dir); ok || err != nil {
		return err
	}
	info, err := v.Lstat(dir)
	if err != nil {
		return err
	}
	return &ParentError{dir, info.Kind == Missing}
}
