//go:build !linux || portable

package safepath

// OpenXattrs is OpenPath.
func (p Location) OpenXattrs() (*Handle, error) { return p.OpenPath() }

// Xattrs returns no attributes: ccm does not know those of this system.
func (d *Handle) Xattrs() (Xattrs, []error) { return Xattrs{}, nil }

// HasXattrs returns false.
func HasXattrs(int) bool { return false }

// SetXattrs sets nothing.
func SetXattrs(int, Xattrs, func(name string) bool) (listed bool, errs []error) { return false, nil }
