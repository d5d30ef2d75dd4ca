package fake

import (
	"context"
	"errors"
	"sync"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// errWait is the error of waiting in a spec, where nothing ever changes.
var errWait = diag.Not("waiting", "available in specs")

// satisfiedState is the state of a resource whose commands are simulated.
type satisfiedState struct{ ensure string }

// CurrentEnsure implements resource.StateEnsure.
func (s satisfiedState) CurrentEnsure() string { return s.ensure }

// Functions adapts a type of a script to a machine without commands. If an action ran a command
// without an Answer, and the resource is not as desired afterwards, it is taken to be: the effect
// of the command is not known. The same goes for an action that would have waited.
func (m *Machine) Functions(f *resource.Functions) {
	f.Programs = nil // no program is missing
	var mu sync.Mutex
	done := make(map[*resource.Properties]bool)
	status, decide, perform, refresh := f.Status, f.Decide, f.Perform, f.Refresh
	f.Perform = func(ctx context.Context, h *host.Host, want *resource.Properties, a resource.Action) error {
		before := m.Guesses()
		err := perform(ctx, h, want, a)
		if errors.Is(err, errWait) {
			err = nil
		}
		if err != nil || m.Guesses() == before {
			return err
		}
		mu.Lock()
		done[want] = true
		mu.Unlock()
		return accounts(f, h, want)
	}
	f.Status = func(ctx context.Context, v *host.View, want *resource.Properties) (any, error) {
		have, err := status(ctx, v, want)
		mu.Lock()
		trusted := done[want]
		mu.Unlock()
		if !trusted {
			return have, err
		}
		if d := decide(want, have); err == nil && d.Err == nil && len(d.Actions) == 0 {
			return have, nil
		}
		return satisfiedState{want.WantedEnsure()}, nil
	}
	f.Decide = func(want *resource.Properties, have any) resource.Decision {
		if _, ok := have.(satisfiedState); ok {
			return resource.Decision{}
		}
		return decide(want, have)
	}
	if refresh != nil {
		f.Refresh = func(want *resource.Properties, have any, d resource.Decision) resource.Decision {
			if _, ok := have.(satisfiedState); ok {
				return d
			}
			return refresh(want, have, d)
		}
	}
}
