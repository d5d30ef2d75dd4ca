package host

import (
	"slices"
	"sync"
)

// A dirCache holds open the directories in which a batch makes files: to walk to a
// directory takes as long as much of what is done there. The zero dirCache is empty.
type dirCache struct {
	mu   sync.Mutex
	dirs []*cachedDir // least recently used first
}

// A cachedDir is a directory that is held open, and the path by which it is asked for.
type cachedDir struct {
	*handle
	name string
}

// mostCachedDirs is how many directories are held open at most.
const mostCachedDirs = 4

// open returns the directory at a path, for the caller to close.
func (c *dirCache) open(w *walker, name string) (*handle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.dirs, func(d *cachedDir) bool { return d.name == name }); i >= 0 {
		d := c.dirs[i]
		c.dirs = append(slices.Delete(c.dirs, i, i+1), d)
		return d.hold(), nil
	}
	d, err := w.directory(name)
	if err != nil {
		return nil, err
	}
	if len(c.dirs) == mostCachedDirs {
		c.evict(0)
	}
	c.dirs = append(c.dirs, &cachedDir{d, name})
	return d.hold(), nil
}

// reopen returns a directory that open has returned, for the caller to close; nil if it
// is not in the cache any more and may stand elsewhere by now.
func (c *dirCache) reopen(d *handle) *handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.evicted {
		return nil
	}
	return d.hold()
}

func (c *dirCache) evict(i int) {
	c.dirs[i].evicted = true
	c.dirs[i].close()
	c.dirs = slices.Delete(c.dirs, i, i+1)
}

// revalidate evicts the directories that do not stand at their paths any more: somebody
// may have moved one away.
func (c *dirCache) revalidate(w *walker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.dirs) - 1; i >= 0; i-- {
		now, err := w.directory(c.dirs[i].name)
		if err != nil || !now.is(c.dirs[i].handle) {
			c.evict(i)
		}
		if err == nil {
			now.close()
		}
	}
}

// close empties the cache.
func (c *dirCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.dirs) > 0 {
		c.evict(len(c.dirs) - 1)
	}
}
