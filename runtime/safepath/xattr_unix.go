//go:build !linux || portable

package safepath

import "golang.org/x/sys/unix"

// OpenXattrs is OpenPath.
func (p Location) OpenXattrs() (*Handle, error) { return p.OpenPath() }

// Xattrs returns no attributes: ccm does not know those of this system.
func (d *Handle) Xattrs() (Xattrs, []error) { return Xattrs{}, nil }

// HasXattrs returns false.
func HasXattrs(int) bool { return false }

// Capabilities returns EOPNOTSUPP: files have capabilities only on Linux.
func (d *Handle) Capabilities() ([]byte, error) { return nil, unix.EOPNOTSUPP }

// SetCapabilities returns EOPNOTSUPP.
func SetCapabilities(int, []byte) error { return unix.EOPNOTSUPP }

// SetXattrs sets nothing.
func SetXattrs(int, Xattrs, func(name string) bool) (listed bool, errs []error) { return false, nil }
