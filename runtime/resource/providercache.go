package resource

import "github.com/luaccm/ccm/runtime/facts"

// A ProviderCache chooses providers and keeps its choices, because most resources of a type have
// the same provider. A change of the machine may make another provider suitable: then the owner
// has to call Clear. It is for one goroutine.
type ProviderCache struct {
	registry *Registry
	facts    *facts.Facts
	cache    map[providerKey]*Binding
	// last is the provider returned last, and lastKey its key.
	last    *Binding
	lastKey providerKey
}

// A providerKey is all that the choice of a provider depends on, if the providers of the type do
// not look at specs ([Traits]).
type providerKey struct {
	typ  *Type
	name string
}

// NewProviderCache returns a cache of the choices from reg on the machine that f describes.
func NewProviderCache(reg *Registry, f *facts.Facts) *ProviderCache {
	return &ProviderCache{registry: reg, facts: f, cache: make(map[providerKey]*Binding)}
}

// Select is [Registry.Select].
func (c *ProviderCache) Select(r *Resource) (*Binding, error) {
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
	if TraitsOf(r.Spec).ProviderIgnoresSpec {
		c.cache[key] = &provider
	}
	return &provider, nil
}

// Clear forgets all choices.
func (c *ProviderCache) Clear() {
	clear(c.cache)
	c.last = nil
}
