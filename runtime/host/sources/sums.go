package sources

import "sync"

// Sums is a cache of the SHA-256 of sources, with their stat data at the time of reading.
type Sums struct {
	mu   sync.Mutex
	sums map[string]fileSum
}

// Of returns the cached digest of a source, if its stat data are the same.
func (k *Sums) Of(name string, g StatData) (sum string, reliable bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x, ok := k.sums[name]
	g.Reliable = x.Reliable
	if !ok || x.StatData != g {
		return "", false
	}
	return x.sum, x.Reliable
}

// Set caches the digest of a source.
func (k *Sums) Set(name string, g StatData, sum string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sums == nil {
		k.sums = make(map[string]fileSum)
	}
	k.sums[name] = fileSum{g, sum}
}

// Has reports whether a digest of the source is cached.
func (k *Sums) Has(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.sums[name]
	return ok
}

type fileSum struct {
	StatData
	sum string
}
