package host

import (
	"fmt"

	"github.com/luaccm/ccm/runtime/safepath"
)

// Xattrs are the extended attributes of a file or directory.
type Xattrs = safepath.Xattrs

// ReadXattrs returns the extended attributes of the file or directory at the path that it keeps when
// it is replaced. One that cannot be read is a warning. For other entries it returns nil.
func ReadXattrs(v *View, name string) (Xattrs, error) {
	p, err := v.files.At(name)
	if safepath.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, safepath.PathError("open", name, err)
	}
	defer p.Close()
	d, err := p.OpenXattrs()
	if safepath.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, safepath.PathError("open", name, err)
	}
	defer d.Close()
	if kind := safepath.InfoOf(&d.Stat).Kind; kind != safepath.Regular && kind != safepath.Directory {
		return nil, nil
	}
	x, errs := d.Xattrs()
	warnOfXattrs(v.machine, name, errs)
	return x, nil
}

// WithXattrs returns a copy of h that gives the files and directories that it makes these extended
// attributes. With nil, a file keeps those of the file that it replaces.
func WithXattrs(h *Host, x Xattrs) *Host {
	c := *h
	c.xattrs = x
	return &c
}

// warnOfXattrs warns of extended attributes that a path loses.
func warnOfXattrs(m *machine, name string, errs []error) {
	for _, err := range errs {
		m.log.Warn(fmt.Sprintf("%s: not kept: %v", name, err))
	}
}

// xattrSetter returns the function that sets the extended attributes of a new directory and
// reports whether that may have changed the mode, nil for none.
func xattrSetter(h *Host, name string) func(d *safepath.Handle) bool {
	if h.xattrs == nil {
		return nil
	}
	return func(d *safepath.Handle) bool {
		listed, errs := safepath.SetXattrs(d.FD, h.xattrs, func(string) bool { return true })
		warnOfXattrs(h.machine, name, errs)
		return listed
	}
}
