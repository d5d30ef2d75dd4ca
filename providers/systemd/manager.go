package systemd

import (
	"context"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/host"
)

// manager talks to systemd: over the system bus or, if that does not answer, by systemctl. It
// does one thing at a time, so that no query of a goroutine runs during a change by another.
type manager struct {
	*scope
	mu     sync.Mutex
	warned bool // the warning that the bus does not answer was given
}

// status returns units with the properties that Status needs, in the order of names. It leaves
// out properties that take a question for each unit and are rarely needed.
func (m *manager) status(ctx context.Context, v *host.View, names ...string) ([]unit, []error) {
	units := m.byBus(ctx, v, statusByBus, names)
	// A unit asked for by another of its names is asked for once more.
	for i, u := range m.byBus(ctx, v, wholeByBus, missingNames(units, names)) {
		if u != nil {
			units[i] = u
		}
	}
	return m.askMissing(ctx, v, units, names)
}

// one returns a unit with all properties.
func (m *manager) one(ctx context.Context, v *host.View, name string) (unit, error) {
	names := []string{name}
	units, errs := m.askMissing(ctx, v, m.byBus(ctx, v, wholeByBus, names), names)
	return units[0], errs[0]
}

// byBus asks for units over the system bus. Units without an answer are nil; the name "" stands
// for no unit.
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
			v.Log().Debug("using systemctl for services, because the system bus is not available", "error", err)
		}
		m.warned = true
		return units
	}
	for k, i := range at {
		units[i] = found[k]
	}
	return units
}

// missingNames returns the names of the nil units, and "" in the place of the others.
func missingNames(units []*unit, names []string) []string {
	left := slices.Clone(names)
	for i, u := range units {
		if u != nil {
			left[i] = ""
		}
	}
	return left
}

// askMissing asks systemctl for the nil units, and returns all units.
func (m *manager) askMissing(ctx context.Context, v *host.View, known []*unit, names []string) ([]unit, []error) {
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
