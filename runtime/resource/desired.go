package resource

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Desired has the things of one provider that have to exist, by name. An action must not remove
// one of them as a side effect, as the installation of a package removes those that it conflicts
// with: the next run would install it again, and remove the other one.
type Desired map[string]*Resource

// CheckRemovals returns an error if one of the removed things is desired. Own are the names of the
// things that the action is for, which may be replaced.
func (d Desired) CheckRemovals(removed, own []string) error {
	var lost []string
	for _, name := range removed {
		if r := d[name]; r != nil && !slices.Contains(own, name) {
			lost = append(lost, fmt.Sprintf("%s, which %s declares", r.ID, r.Pos))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	return fmt.Errorf("would remove %s (declare only one of them)", strings.Join(slices.Compact(lost), ", and "))
}

type desiredKey struct{}

// WithDesired returns a context for the actions of a provider. [DesiredFrom] returns d from it.
func WithDesired(ctx context.Context, d Desired) context.Context {
	if len(d) == 0 {
		return ctx
	}
	return context.WithValue(ctx, desiredKey{}, d)
}

// DesiredFrom returns the things that an action must not remove as a side effect; nil if there are
// none.
func DesiredFrom(ctx context.Context) Desired {
	d, _ := ctx.Value(desiredKey{}).(Desired)
	return d
}
