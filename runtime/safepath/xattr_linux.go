//go:build !portable

package safepath

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// OpenXattrs opens a file whose extended attributes are going to be read. Without /proc a file or directory has to be
// open for reading for that.
func (p Location) OpenXattrs() (*Handle, error) {
	d, err := p.OpenPath()
	kind := d.kind()
	if err != nil || MakesUnnamed() || kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return d, err
	}
	d.Close()
	fd, err := p.Open(unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	return NewHandle(fd, p.Path())
}

func (d *Handle) kind() uint32 {
	if d == nil {
		return 0
	}
	return d.Stat.Mode & unix.S_IFMT
}

// Xattrs returns the extended attributes of the open file that a file in its place keeps. It is not nil. Each of errs
// is an [XattrError] of an attribute that could not be read.
func (d *Handle) Xattrs() (x Xattrs, errs []error) {
	x = Xattrs{}
	for _, name := range xattrNames(d.FD) {
		if !isKeptXattr(name) {
			continue
		}
		value, err := xattr(d.FD, name)
		switch err {
		case nil:
			x[name] = value
		case unix.ENODATA: // it was removed meanwhile
		default:
			errs = append(errs, &XattrError{name, err})
		}
	}
	return x, errs
}

// HasXattrs reports whether an open file has extended attributes.
func HasXattrs(fd int) bool { return len(xattrNames(fd)) > 0 }

// onOpen calls opened, or named with a path to the file if it is open without access to its content (O_PATH).
func onOpen[T any](fd int, opened func() (T, error), named func(path string) (T, error)) (T, error) {
	x, err := opened()
	if err == unix.EBADF {
		return named(procPath(fd))
	}
	return x, err
}

// xattrNames lists the attributes of an open file. A file system without attributes has none.
func xattrNames(fd int) []string {
	buf, err := sized(func(buf []byte) (int, error) {
		return onOpen(fd, func() (int, error) { return unix.Flistxattr(fd, buf) }, func(path string) (int, error) { return unix.Listxattr(path, buf) })
	})
	if err != nil || len(buf) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(buf), "\x00"), "\x00")
}

// xattr returns the value of an attribute of an open file.
func xattr(fd int, name string) ([]byte, error) {
	return sized(func(buf []byte) (int, error) {
		return onOpen(fd, func() (int, error) { return unix.Fgetxattr(fd, name, buf) }, func(path string) (int, error) { return unix.Getxattr(path, name, buf) })
	})
}

// setXattr sets an attribute of an open file, or removes it if value is nil.
func setXattr(fd int, name string, value []byte) error {
	_, err := onOpen(fd, func() (any, error) {
		if value == nil {
			return nil, unix.Fremovexattr(fd, name)
		}
		return nil, unix.Fsetxattr(fd, name, value, 0)
	}, func(path string) (any, error) {
		if value == nil {
			return nil, unix.Removexattr(path, name)
		}
		return nil, unix.Setxattr(path, name, value, 0)
	})
	return err
}

// sized calls read with a buffer that is large enough.
func sized(read func(buf []byte) (int, error)) ([]byte, error) {
	buf := make([]byte, 256)
	for {
		n, err := read(buf)
		if err == nil {
			return buf[:n], nil
		}
		if err != unix.ERANGE {
			return nil, err
		}
		if n, err = read(nil); err != nil {
			return nil, err
		}
		buf = make([]byte, n+256)
	}
}

// Capabilities returns the value of [CapabilityXattr] of an open file, nil if it has none.
func (d *Handle) Capabilities() ([]byte, error) {
	value, err := xattr(d.FD, CapabilityXattr)
	if err == unix.ENODATA {
		return nil, nil
	}
	return value, err
}

// SetCapabilities sets [CapabilityXattr] of an open file, or removes it if value is nil.
func SetCapabilities(fd int, value []byte) error {
	err := setXattr(fd, CapabilityXattr, value)
	if value == nil && (err == unix.ENODATA || err == unix.EOPNOTSUPP) {
		return nil // it has none
	}
	return err
}

// SetXattrs gives an open file the attributes of x that which accepts, and removes access lists that x does not
// have: the file may have inherited them from its directory. It reports whether it touched the access list, which
// changes the mode. Each of errs is an [XattrError] of an attribute that the file system refuses.
func SetXattrs(fd int, x Xattrs, which func(name string) bool) (listed bool, errs []error) {
	present := xattrNames(fd)
	set := func(name string, err error) {
		if err != nil {
			errs = append(errs, &XattrError{name, err})
		} else if name == AccessListXattr {
			listed = true
		}
	}
	for _, list := range []string{AccessListXattr, DefaultListXattr} {
		if _, wanted := x[list]; !wanted && which(list) && slices.Contains(present, list) {
			set(list, setXattr(fd, list, nil))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if !which(name) {
			continue
		}
		if slices.Contains(present, name) {
			if value, err := xattr(fd, name); err == nil && bytes.Equal(value, x[name]) {
				continue
			}
		}
		set(name, setXattr(fd, name, x[name]))
	}
	return listed, errs
}
