package host

import (
	"slices"
	"sync"
)

// Dirs are the directories that batches hold open, because they make several files in
// them: to walk to a directory takes as long as much of what is done there.
type Dirs struct {
	mu   sync.Mutex
	open []*heldDirectory // the one used last at the end
}

// A heldDirectory is a directory that is held open under the path by which it is asked
// for.
type heldDirectory struct {
	*handle
	name string
}

// fewDirs is how many directories are held open at most.
const fewDirs = 4

// of returns the directory at a path, for the caller to close.
func (d *Dirs) of(w *walker, name string) (*handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.open, func(h *heldDirectory) bool { return h.name == name }); i >= 0 {
		h := d.open[i]
		d.open = append(slices.Delete(d.open, i, i+1), h)
		return h.hold(), nil
	}
	found, err := w.directory(name)
	if err != nil {
		return nil, err
	}
	if len(d.open) == fewDirs {
		d.drop(0)
	}
	d.open = append(d.open, &heldDirectory{found, name})
	return found.hold(), nil
}

// again returns a directory that of has returned, for the caller to close; nil if it is
// not known whether it stands at its path.
func (d *Dirs) again(found *handle) *handle {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found.gone {
		return nil
	}
	return found.hold()
}

// drop forgets a directory.
func (d *Dirs) drop(i int) {
	d.open[i].gone = true
	d.open[i].close()
	d.open = slices.Delete(d.open, i, i+1)
}

// look looks whether the directories still stand at their paths: somebody may have
// moved one away.
func (d *Dirs) look(w *walker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.open) - 1; i >= 0; i-- {
		now, err := w.directory(d.open[i].name)
		if err != nil || !now.is(d.open[i].handle) {
			d.drop(i)
		}
		if err == nil {
			now.close()
		}
	}
}

// Close closes them. No file of a batch may be under way.
func (d *Dirs) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.open) > 0 {
		d.drop(len(d.open) - 1)
	}
}
