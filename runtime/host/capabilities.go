package host

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/filecap"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// WithCapabilities returns a copy of h that gives the files that it writes, and those whose attributes it sets, these
// capabilities. With nil, a file keeps its own.
func WithCapabilities(h *Host, c *filecap.Capabilities) *Host {
	x := *h
	x.caps = c
	return &x
}

// Capabilities returns the capabilities of the file at the path; none if the path is missing. In a plan it is the file
// that is there now: ccm keeps the capabilities of a file that it replaces.
func Capabilities(v *View, name string) (c filecap.Capabilities, err error) {
	p, err := v.files.At(name)
	if err != nil {
		return c, missingIsNil(name, err)
	}
	defer p.Close()
	d, err := p.OpenXattrs()
	if err != nil {
		return c, missingIsNil(name, err)
	}
	defer d.Close()
	return capabilitiesOf(d, name)
}

func missingIsNil(name string, err error) error {
	if safepath.IsMissing(err) {
		return nil
	}
	return safepath.PathError("open", name, err)
}

// capabilitiesOf returns the capabilities of an open file. A file system that has no capabilities is no error: so have
// its files.
func capabilitiesOf(d *safepath.Handle, name string) (c filecap.Capabilities, err error) {
	if d.Stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return c, nil
	}
	value, err := d.Capabilities()
	if errors.Is(err, unix.EOPNOTSUPP) {
		return c, nil
	}
	if err == nil {
		c, err = filecap.FromXattr(value)
	}
	return c, safepath.PathError("read the capabilities", name, err)
}

// newCapabilities returns the capabilities of [WithCapabilities] if the open file has others; nil otherwise.
func (h *Host) newCapabilities(d *safepath.Handle, name string) (*filecap.Capabilities, error) {
	if h.caps == nil {
		return nil, nil
	}
	now, err := capabilitiesOf(d, name)
	if err != nil || now == *h.caps {
		return nil, err
	}
	return h.caps, nil
}

// setCapabilities gives an open file capabilities that it does not have.
func (h *Host) setCapabilities(fd int, name string, c filecap.Capabilities) error {
	return h.Effect("setxattr", name, func() error {
		return capabilityError(name, safepath.SetCapabilities(fd, c.Xattr()))
	})
}

// capabilityError explains why the capabilities of a file could not be set.
func capabilityError(name string, err error) error {
	switch {
	case errors.Is(err, unix.EOPNOTSUPP) && runtime.GOOS != "linux":
		return obstacle(unix.EOPNOTSUPP, "%s cannot have capabilities: only Linux has them", name)
	case errors.Is(err, unix.EOPNOTSUPP):
		return obstacle(unix.EOPNOTSUPP, "%s cannot have capabilities: its file system does not store the attribute %s", name, safepath.CapabilityXattr)
	case errors.Is(err, unix.EPERM):
		if needs := overlay.NeedsRoot("only root can set the capabilities of " + name); needs != nil {
			return needs
		}
		return obstacle(unix.EPERM, "root cannot set the capabilities of %s: it lacks cap_setfcap (container or user namespace)", name)
	}
	return safepath.PathError("set the capabilities", name, err)
}
