package prefetch

import (
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
)

// A providerCache caches the choice of providers, for one goroutine. A change makes the cache
// void: the change may have made another provider suitable.
type providerCache struct {
	registry *resource.Registry
	facts    *facts.Facts
	cache    map[providerKey]*resource.Binding
	epoch    int64 // of the cached choices
	// last is the provider returned last, and lastKey its key.
	last    *resource.Binding
	lastKey providerKey
}

// A providerKey is all that the choice of a provider depends on, if the providers of the type do
// not look at specs (resource.SpecIndependentProvider).
type providerKey struct {
	typ  *resource.Type
	name string
}

// of returns the provider of a resource. A choice of another epoch is made again.
func (c *providerCache) of(r *resource.Resource, epoch int64) (*resource.Binding, error) {
	if c.epoch != epoch {
		c.clear()
		c.epoch = epoch
	}
	key := providerKey{r.Type, r.Common.Provider}
	if c.last != nil && c.lastKey == key {
		return c.last, nil
	}
	if provider := c.cache[key]; provider != nil {
		c.last, c.lastKey = provider, key
		return provider, nil
	}
	provider, err := c.registry.Select(r, c.facts)
	if err != nil {
		return nil, err
	}
	if _, same := r.Spec.(resource.SpecIndependentProvider); same {
		if c.cache == nil {
			c.cache = make(map[providerKey]*resource.Binding)
		}
		c.cache[key] = &provider
	}
	return &provider, nil
}

// clear makes the cache empty.
func (c *providerCache) clear() {
	clear(c.cache)
	c.last = nil
}
