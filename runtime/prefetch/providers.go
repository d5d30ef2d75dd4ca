package prefetch

import (
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
)

// A providerCache chooses providers, for one goroutine. Which one suits has to be asked
// again when something was changed: a provider may have become able to do its work.
type providerCache struct {
	registry *resource.Registry
	facts    *facts.Facts
	cache    map[providerKey]*resource.Binding
	epoch    int64 // of the cache
	// last is the provider that was asked for last, and lastKey its key.
	last    *resource.Binding
	lastKey providerKey
}

// A providerKey is all that the provider of a resource depends on, if a provider suits
// either all resources of a type or none (resource.SpecIndependentProvider).
type providerKey struct {
	typ  *resource.Type
	name string
}

// of returns the provider of a resource. What was asked in another epoch is asked again.
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
