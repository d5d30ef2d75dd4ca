package sources

import "sync"

// Sums are a cache of the SHA-256 of sources, by their stat data when they were read.
type Sums struct {
	mu   sync.Mutex
	sums map[string]sumOf
}

// Of returns the digest of a source, if it has that stat data.
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

// Set makes an entry of a source.
func (k *Sums) Set(name string, g StatData, sum string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sums == nil {
		k.sums = make(map[string]sumOf)
	}
	k.sums[name] = sumOf{g, sum}
}

// Has reports whether there is an entry of a source.
func (k *Sums) Has(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.sums[name]
	return ok
}

type sumOf struct {
	StatData
	sum string
}
