package safepath

import (
	"slices"
	"sync"
)

// A DirectoryCache keeps directories open in which many files are made or read, because resolving the path of a
// directory can take as long as the work in it. The zero DirectoryCache is empty.
type DirectoryCache struct {
	mu   sync.Mutex
	dirs []*cachedDir // least recently used first
}

// A cachedDir is an open directory, and the path that Open was given.
type cachedDir struct {
	*Handle
	name string
}

// mostCachedDirs limits the directories that are kept open.
const mostCachedDirs = 4

// Open returns the directory at a path. The caller closes it.
func (c *DirectoryCache) Open(w *Resolver, name string) (*Handle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.dirs, func(d *cachedDir) bool { return d.name == name }); i >= 0 {
		d := c.dirs[i]
		c.dirs = append(slices.Delete(c.dirs, i, i+1), d)
		return d.Hold(), nil
	}
	d, err := w.Directory(name)
	if err != nil {
		return nil, err
	}
	if len(c.dirs) == mostCachedDirs {
		c.evict(0)
	}
	c.dirs = append(c.dirs, &cachedDir{d, name})
	return d.Hold(), nil
}

// Reopen returns a directory that Open has returned before; the caller closes it again. It returns nil if the cache
// no longer has the directory, which may have been moved since.
func (c *DirectoryCache) Reopen(d *Handle) *Handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.ContainsFunc(c.dirs, func(x *cachedDir) bool { return x.Handle == d }) {
		return nil
	}
	return d.Hold()
}

func (c *DirectoryCache) evict(i int) {
	c.dirs[i].Close()
	c.dirs = slices.Delete(c.dirs, i, i+1)
}

// Revalidate drops the directories that are no longer at their paths, because somebody has moved them.
func (c *DirectoryCache) Revalidate(w *Resolver) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.dirs) - 1; i >= 0; i-- {
		now, err := w.Directory(c.dirs[i].name)
		if err != nil || !now.Is(c.dirs[i].Handle) {
			c.evict(i)
		}
		if err == nil {
			now.Close()
		}
	}
}

// Close empties the cache.
func (c *DirectoryCache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.dirs) > 0 {
		c.evict(len(c.dirs) - 1)
	}
}
