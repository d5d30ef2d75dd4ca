package converge

import (
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
)

// A chooser chooses providers. What suits has to be asked again when something was
// changed: a provider may have become able to do its work.
type chooser struct {
	registry *resource.Registry
	facts    *facts.Facts
	chosen   map[choice]resource.Factory
}

// A choice is what the provider of a resource depends on, if all of its type suit
// alike.
type choice struct {
	of     *resource.Type
	forced string
}

// choose returns the provider of a resource.
func (c *chooser) choose(r *resource.Resource) (resource.Factory, error) {
	key := choice{r.Type, r.Common.Provider}
	if f, ok := c.chosen[key]; ok {
		return f, nil
	}
	f, err := c.registry.Select(r, c.facts)
	if _, alike := r.Spec.(resource.Alike); alike && err == nil {
		if c.chosen == nil {
			c.chosen = make(map[choice]resource.Factory)
		}
		c.chosen[key] = f
	}
	return f, err
}

// forget makes the chooser ask again.
func (c *chooser) forget() { clear(c.chosen) }
