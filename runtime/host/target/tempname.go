package target

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/safepath"
)

// TempSuffix ends the names of temporary files.
const TempSuffix = ".ccm-new"

// tempName returns the name of the temporary file for a file. It is shortened where file systems
// would refuse it.
func tempName(base string) string { return safepath.HiddenName(base, TempSuffix) }

// IsTempName reports whether a name is that of a temporary file of ccm, or could be.
func IsTempName(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, TempSuffix)
}

// Claim calls make with a place for a temporary name beside the target, and returns the name.
// Make fails with fs.ErrExist if the name is taken.
//
// Where others may make names in the directory, the name is random: nobody can take it first or
// lock it. Dead runs may have left such names; they are searched for once. Elsewhere each file
// has one fixed temporary name, so that a leftover is found without a search.
func (t Target) Claim(make func(temp safepath.Location) error) (string, error) {
	if safepath.IsShared(&t.Dir.Stat) {
		if err := t.sweep(); err != nil {
			return "", err
		}
	} else {
		temp := safepath.Location{Dir: t.Dir, Name: tempName(t.Name)}
		for range 2 {
			err := make(temp)
			if !errors.Is(err, os.ErrExist) {
				return temp.Name, err
			}
			if err := t.removeLeftover(temp); err != nil {
				return "", err
			}
		}
	}
	temp := safepath.Location{Dir: t.Dir, Name: safepath.RandomName(t.Name, TempSuffix)}
	return temp.Name, make(temp)
}

// removeLeftover removes the temporary file of a dead run. A locked file is in use and stays.
func (t Target) removeLeftover(temp safepath.Location) error {
	fd, err := temp.Open(unix.O_RDONLY|unix.O_NONBLOCK, 0)
	switch {
	case err == nil:
		defer unix.Close(fd)
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
			return nil
		}
	case err == unix.ENOENT:
		return nil
	}
	err = t.Effect("remove", t.PathName, func() error { return unix.Unlinkat(temp.Dir.FD, temp.Name, 0) })
	if err == unix.ENOENT || err == unix.EISDIR {
		return nil
	}
	return safepath.PathError("remove", t.Real(temp), err)
}

// Sweeps remember the directories that were searched for leftovers.
type Sweeps struct {
	mu   sync.Mutex
	dirs map[[2]uint64]bool
}

// sweep removes the temporary files of dead runs from the directory, once. It does not check
// their owners: the owner of the directory, who could give any file such a name, could also
// remove it himself.
func (t Target) sweep() error {
	done, d := t.Sweeps, t.Dir
	done.mu.Lock()
	defer done.mu.Unlock()
	key := [2]uint64{uint64(d.Stat.Dev), d.Stat.Ino}
	if done.dirs[key] {
		return nil
	}
	names, err := safepath.NamesIn(d)
	if err != nil && err != unix.EACCES { // a directory may be writable and not readable
		return safepath.PathError("open", filepath.Dir(t.PathName), err)
	}
	for _, left := range names {
		if safepath.IsRandomName(left, TempSuffix) {
			if err := t.removeLeftover(safepath.Location{Dir: d, Name: left}); err != nil {
				return err
			}
		}
	}
	if done.dirs == nil {
		done.dirs = make(map[[2]uint64]bool)
	}
	done.dirs[key] = true
	return nil
}
