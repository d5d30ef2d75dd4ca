package host

import (
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Dirs are the directories that batches hold open, because they make several files in
// them: to walk to a directory takes as long as much of what is done there.
type Dirs struct {
	mu   sync.Mutex
	open []*dirHandle
	gone []*dirHandle // that are still open
	last string       // that was asked for last
}

// A dirHandle is a directory that is held open.
type dirHandle struct {
	path     string
	fd       int
	dev, ino uint64
	// gone is set once something else stands at the path.
	gone atomic.Bool
}

// fewDirs is how many directories are held open at most.
const fewDirs = 4

// of returns a directory of the operating system, nil if it is not held open: it is
// when it is asked for the second time in a row.
func (d *Dirs) of(path string) *dirHandle {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.open {
		if h.path == path {
			return h
		}
	}
	again := d.last == path
	if d.last = path; !again || len(d.open) == fewDirs {
		return nil
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		_ = unix.Close(fd)
		return nil
	}
	h := &dirHandle{path: path, fd: fd, dev: uint64(st.Dev), ino: st.Ino}
	d.open = append(d.open, h)
	return h
}

// stands reports whether the directory is not known to have gone. H may be nil, which
// is none.
func (h *dirHandle) stands() bool { return h != nil && !h.gone.Load() }

// look looks whether the directories still stand at their paths: somebody may have
// moved one away.
func (d *Dirs) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = slices.DeleteFunc(d.open, func(h *dirHandle) bool {
		var st unix.Stat_t
		if unix.Stat(h.path, &st) == nil && uint64(st.Dev) == h.dev && st.Ino == h.ino {
			return false
		}
		h.gone.Store(true)
		d.gone = append(d.gone, h)
		return true
	})
}

// Close closes them. No file of a batch may be under way.
func (d *Dirs) Close() {
	for _, h := range append(d.open, d.gone...) {
		_ = unix.Close(h.fd)
	}
	d.open, d.gone = nil, nil
}
