package host

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const tempSuffix = ".ccm-new"

// tempName returns the name of the temporary file of a file. It is cut where
// file systems would refuse it.
func tempName(base string) string { return hiddenName(base, tempSuffix) }

// hiddenName returns the name beside a file that has a suffix.
func hiddenName(base, suffix string) string {
	return "." + base[:min(len(base), 255-len(suffix)-1)] + suffix
}

// randomName is hiddenName for a directory in which others may make names: it cannot be
// guessed.
func randomName(base, suffix string) string {
	return hiddenName(base, suffix+"."+rand.Text())
}

// randomPrefix returns how the random names beside a file begin.
func randomPrefix(base, suffix string) string {
	name := randomName(base, suffix)
	return name[:len(name)-len(rand.Text())]
}

// isRandomName reports whether a name is one of randomName.
func isRandomName(name, suffix string) bool {
	at := strings.LastIndex(name, suffix+".")
	if at < 1 || name[0] != '.' {
		return false
	}
	end := name[at+len(suffix)+1:]
	return len(end) == len(rand.Text()) && strings.Trim(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// claim makes something that has a temporary name beside a place, and returns that name.
// Make fails with fs.ErrExist if the name is taken.
//
// Where others may make names in the directory, the name is random: nobody can take it
// first, and nobody can lock what stands there. A run that died may have left such names;
// they are looked for once. Elsewhere there is one name for each file, so that what a run
// has left is found without looking for it.
func (h *Host) claim(name string, p location, make func(temp location) error) (string, error) {
	if isShared(&p.dir.st) {
		if err := h.sweep(name, p.dir); err != nil {
			return "", err
		}
	} else {
		temp := location{dir: p.dir, name: tempName(p.name)}
		for range 2 {
			err := make(temp)
			if !errors.Is(err, os.ErrExist) {
				return temp.name, err
			}
			if err := h.removeLeftover(name, temp); err != nil {
				return "", err
			}
		}
	}
	temp := location{dir: p.dir, name: randomName(p.name, tempSuffix)}
	return temp.name, make(temp)
}

// removeLeftover removes the temporary file of a run that died. One that somebody has
// locked is left: it is being written.
func (h *Host) removeLeftover(name string, temp location) error {
	fd, err := temp.open(unix.O_RDONLY|unix.O_NONBLOCK, 0)
	switch {
	case err == nil:
		defer unix.Close(fd)
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
			return nil
		}
	case err == unix.ENOENT:
		return nil
	}
	err = h.do("remove", name, func() error { return unix.Unlinkat(temp.dir.fd, temp.name, 0) })
	if err == unix.ENOENT || err == unix.EISDIR {
		return nil
	}
	return pathError("remove", h.realPath(name, temp), err)
}

// swept remembers in which directories was looked for what runs have left.
type swept struct {
	mu   sync.Mutex
	dirs map[[2]uint64]bool
}

// sweep removes the temporary files that runs have left in a directory, unless that was
// done before. To remove a name from a directory that its owner has given this form does
// nothing that he could not do himself, so it is not asked whose it is.
func (h *Host) sweep(name string, d *handle) error {
	h.swept.mu.Lock()
	defer h.swept.mu.Unlock()
	key := [2]uint64{uint64(d.st.Dev), d.st.Ino}
	if h.swept.dirs[key] {
		return nil
	}
	names, err := namesIn(d)
	if err != nil && err != unix.EACCES { // one may write in a directory without being able to read it
		return pathError("open", filepath.Dir(name), err)
	}
	for _, left := range names {
		if isRandomName(left, tempSuffix) {
			if err := h.removeLeftover(name, location{dir: d, name: left}); err != nil {
				return err
			}
		}
	}
	if h.swept.dirs == nil {
		h.swept.dirs = make(map[[2]uint64]bool)
	}
	h.swept.dirs[key] = true
	return nil
}
