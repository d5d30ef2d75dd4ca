package host

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A ParentError reports that the directory is missing, or not a directory, in which something should
// be made.
type ParentError struct {
	Dir string
	// Missing is set if nothing is at Dir; otherwise it is not a directory.
	Missing bool
}

// Error implements error.
func (e *ParentError) Error() string {
	if e.Missing {
		return e.Dir + " does not exist"
	}
	return e.Dir + " is not a directory"
}

// Directory returns the resolved directory of a path, as the machine sees it.
func (v *View) Directory(name string) (string, error) {
	p, err := v.files.At(name)
	if err != nil {
		return "", safepath.PathError("open", name, err)
	}
	defer p.Close()
	return p.Dir.Path, nil
}

// CheckParent returns nil if the directory of the path exists, and otherwise a [*ParentError].
func (v *View) CheckParent(name string) error {
	dir := filepath.Dir(name)
	if ok, err := v.IsDirectory(dir); ok || err != nil {
		return err
	}
	info, err := v.Lstat(dir)
	if err != nil {
		return err
	}
	return &ParentError{dir, info.Kind == safepath.Missing}
}

// MissingParents returns the missing directories above the path, the uppermost first. If one of
// them is something else than a directory, the error is a [*ParentError].
func MissingParents(v *View, name string) (dirs []string, err error) {
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		err := v.CheckParent(filepath.Join(dir, "x"))
		parent, ok := errors.AsType[*ParentError](err)
		if !ok || parent.Missing && dir == "/" {
			slices.Reverse(dirs)
			return dirs, err
		}
		if !parent.Missing {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
}

// WithParents makes the missing directories above the path, with the attributes of [NewAttr], and
// calls make. If make fails, it removes these directories again, unless they are in
// use meanwhile.
func WithParents(h *Host, name string, make func() error) (err error) {
	missing, err := MissingParents(&h.View, name)
	if err == nil && len(missing) > 0 {
		dir := filepath.Dir(name)
		err = h.MakeDirectory(dir, NewAttr(&h.View, dir, safepath.Directory))
	}
	if err == nil {
		err = make()
	}
	if err == nil {
		return nil
	}
	for _, dir := range slices.Backward(missing) {
		if e := h.Remove(dir); e != nil && !errors.Is(e, fs.ErrNotExist) {
			break
		}
	}
	return err
}
