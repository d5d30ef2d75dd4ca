package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Files that a command writes for its user, such as definitions, manual pages or a typed script,
// are written with the same care: links are followed under the rule of safepath/links.go, and
// readers see the old or the new content.

// Save writes the file that a user has named. A new file gets the mode without umask. An existing
// file keeps its mode and, for root, its owner. Unlike [Host.WriteFile] it follows a link at the
// path, and writes to a terminal or a pipe.
func (h *Host) Save(name string, content []byte, mode uint32) error {
	return h.SaveFrom(name, bytes.NewReader(content), mode)
}

// SaveFrom is [Host.Save] for a content that is read while it is written. If that fails, an
// existing file stays as it was.
func (h *Host) SaveFrom(name string, content io.Reader, mode uint32) error {
	if safepath.IsOpened(filepath.Clean(name)) || name == "/dev/stdout" || name == "/dev/stderr" {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	}
	name, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	p, info, err := savedAt(h.files, name)
	if err != nil {
		return safepath.PathError("open", name, err)
	}
	defer p.Close()
	own := NewAttr(&h.View, name, safepath.Regular)
	switch {
	case info.Kind == safepath.Missing:
		own.Mode = mode &^ umask()
		return h.WriteFile(name, content, own)
	case info.Kind == safepath.Regular:
		attr := safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}
		if own.UID != 0 { // only root may give files away
			attr.UID, attr.GID = Self()
		}
		return h.WriteFile(p.Path(), content, attr)
	case info.Kind == safepath.Special && (safepath.IsOurs(info.UID) || !safepath.IsShared(&p.Dir.Stat)):
		fd, err := p.Open(unix.O_WRONLY|unix.O_NOCTTY, 0)
		if err != nil {
			return safepath.PathError("open", name, err)
		}
		f := os.NewFile(uintptr(fd), name)
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("%s: %w", name, diag.Expected("a file").Found("%s", info.Kind))
}

// savedAt returns the place to which a path leads, with a link at the end followed, and its
// entry.
func savedAt(files *safepath.Resolver, name string) (safepath.Location, safepath.Info, error) {
	p, err := files.At(name)
	if err != nil {
		return p, safepath.Info{}, err
	}
	info, err := p.Stat()
	if err != nil || info.Kind != safepath.Symlink {
		return p, info, err
	}
	p.Close()
	t, err := files.NewWalk(name)
	if err != nil {
		return safepath.Location{}, info, err
	}
	if p, err = t.To(name, true); err != nil {
		return safepath.Location{}, info, err
	}
	if info, err = files.StatAt(p); err != nil {
		p.Close()
		return safepath.Location{}, info, err
	}
	return p, info, nil
}

// SaveNew is Save for a path that must not exist; if it does, the error is fs.ErrExist. The file
// belongs to the user of this process.
func (h *Host) SaveNew(name string, content []byte, mode uint32) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	p, err := h.at(name)
	if err != nil {
		return err
	}
	defer p.Close()
	fd, err := p.Open(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode)
	if err != nil {
		return safepath.PathError("open", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// SaveDirectory makes a directory that a user has named, and missing directories above it.
func (h *Host) SaveDirectory(name string) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if ok, err := h.IsDirectory(name); ok || err != nil {
		return err
	}
	if err := h.SaveDirectory(filepath.Dir(name)); err != nil {
		return err
	}
	attr := NewAttr(&h.View, name, safepath.Directory)
	attr.Mode &^= umask()
	return h.MakeDirectory(name, attr)
}

// umask returns the permissions that this process leaves out in new files.
var umask = sync.OnceValue(func() uint32 {
	const usual = 0o022
	text, err := os.ReadFile("/proc/self/status") // umask(2) cannot be read without changing it
	if err != nil {
		return usual
	}
	for line := range strings.Lines(string(text)) {
		if bits, ok := strings.CutPrefix(line, "Umask:"); ok {
			if mask, err := strconv.ParseUint(strings.TrimSpace(bits), 8, 32); err == nil {
				return uint32(mask)
			}
		}
	}
	return usual
})
