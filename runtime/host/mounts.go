package host

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Mounts are the relative paths of the mount points below a directory. Files can be mount points
// too, and so can directories of the same file system (mount --bind), which look like any other.
type Mounts []string

// MountsBelow returns the mount points below a directory of the machine. It finds none where the
// kernel has no list of mounts (proc_pid_mountinfo(5)).
func (v *View) MountsBelow(dir string) (Mounts, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if real, err := v.Canonical(dir); err == nil {
		dir = real
	}
	above := strings.TrimSuffix(filepath.Join(v.root, dir), "/") + "/"
	var list Mounts
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 5 {
			continue
		}
		if rel, ok := strings.CutPrefix(unescapeMount(words[4]), above); ok {
			list = append(list, rel)
		}
	}
	return list, nil
}

// CheckMounts returns an error if planned effects would remove a path with a mount point at or below it, or
// replace a mount point: the kernel refuses both, and what is mounted is not part of the directory. A file that is a
// mount point, as /etc/hosts in a container, is written in place.
func CheckMounts(v *View, list ...overlay.PathEffect) error {
	quiet := v.Recording(nil)
	mounts := sync.OnceValues(func() (Mounts, error) { return quiet.MountsBelow("/") })
	for _, p := range list {
		removes := p.Kind == safepath.Missing
		replaces := (p.Kind == safepath.Regular || p.Kind == safepath.Symlink) && !p.Kept
		if p.Account != nil || p.OfSystem || p.Unsure || p.Vague || !removes && !replaces {
			continue
		}
		info, err := quiet.Lstat(p.Path)
		if err != nil || info.Kind == safepath.Missing || info.Kind == safepath.Symlink || info.Kind == safepath.Regular && p.Kind == safepath.Regular {
			continue
		}
		all, err := mounts()
		if err != nil {
			return err
		}
		dir, err := quiet.Canonical(path.Dir(p.Path))
		if err != nil {
			continue
		}
		rel := strings.TrimPrefix(path.Join(dir, path.Base(p.Path)), "/")
		at := all.At(rel)
		if at == "" || replaces && at != rel {
			continue
		}
		if _, err := v.Lstat("/" + at); err != nil { // another resource may unmount it
			return err
		}
		return mountPointError("/" + at)
	}
	return nil
}

// A mountPointError says that a path is a mount point.
type mountPointError string

// Error implements error.
func (e mountPointError) Error() string {
	return string(e) + " is a mount point, which cannot be removed or replaced (unmount it first)"
}

// Is reports whether target is EBUSY, the error of the kernel.
func (mountPointError) Is(target error) bool { return target == unix.EBUSY }

// unescapeMount decodes a path of the kernel's list, in which \040 is a blank.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Hold reports whether a path is at, in or above a mount point: whoever removes what is in the
// directory must leave the path alone.
func (m Mounts) Hold(rel string) bool {
	for _, at := range m {
		if rel == at || strings.HasPrefix(rel, at+"/") || strings.HasPrefix(at, path.Clean(rel)+"/") {
			return true
		}
	}
	return false
}

// At returns the first mount point at or below a path, "" if there is none.
func (m Mounts) At(rel string) string {
	for _, at := range m {
		if rel == at || strings.HasPrefix(at, path.Clean(rel)+"/") {
			return at
		}
	}
	return ""
}
