package systemd

import (
	"context"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/host"
)

// manager talks to systemd: over the system bus where that answers, by systemctl
// otherwise. One thing is asked or done at a time: what one asks is not mixed
// with what another changes.
type manager struct {
	*scope
	mu     sync.Mutex
	warned bool // that the bus does not answer
}

// status returns what Status has to know of the units of those names, in that
// order: not what would take a question about each of them that most need not be
// asked.
func (m *manager) status(ctx context.Context, v *host.View, names ...string) ([]unit, []error) {
	units := m.byBus(ctx, v, statusByBus, names)
	// By its other names, a unit is asked about once more.
	for i, u := range m.byBus(ctx, v, wholeByBus, without(units, names)) {
		if u != nil {
			units[i] = u
		}
	}
	return m.rest(ctx, v, units, names)
}

// one returns all of a unit.
func (m *manager) one(ctx context.Context, v *host.View, name string) (unit, error) {
	names := []string{name}
	units, errs := m.rest(ctx, v, m.byBus(ctx, v, wholeByBus, names), names)
	return units[0], errs[0]
}

// byBus asks about units over the system bus. Those that it does not answer for
// are nil; "" is the name of no unit.
func (m *manager) byBus(ctx context.Context, v *host.View, ask func(context.Context, *host.View, []string) ([]*unit, error), names []string) []*unit {
	units := make([]*unit, len(names))
	var at []int
	var asked []string
	for i, name := range names {
		if name != "" && isPlain(name) && m.login == nil {
			at, asked = append(at, i), append(asked, name)
		}
	}
	if len(asked) == 0 {
		return units
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found, err := ask(ctx, v, asked)
	if err != nil {
		if !m.warned {
			v.Log().Debug("systemctl is asked about services, because the system bus is of no help", "error", err)
		}
		m.warned = true
		return units
	}
	for k, i := range at {
		units[i] = found[k]
	}
	return units
}

// without returns the names of the units that are nil, and "" for the others.
func without(units []*unit, names []string) []string {
	left := slices.Clone(names)
	for i, u := range units {
		if u != nil {
			left[i] = ""
		}
	}
	return left
}

// rest asks systemctl about the units that are nil, and returns all of them.
func (m *manager) rest(ctx context.Context, v *host.View, known []*unit, names []string) ([]unit, []error) {
	units, errs := make([]unit, len(names)), make([]error, len(names))
	var at []int
	var left []string
	for i, u := range known {
		if u != nil {
			units[i] = *u
			continue
		}
		at, left = append(at, i), append(left, names[i])
	}
	if len(left) == 0 {
		return units, errs
	}
	shown, failed := m.show(ctx, v, left...)
	for k, i := range at {
		units[i], errs[i] = shown[k], failed[k]
	}
	return units, errs
}
