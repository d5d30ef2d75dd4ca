// Package svctool has the common parts of service providers: the watch over services that were
// just started, and a provider of services that are scripts in a directory.
package svctool

import (
	"context"
	"sync"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

const ms = time.Millisecond

// Patience are the times between looks at services that are starting or stopping: five seconds
// together.
var Patience = []time.Duration{100 * ms, 200 * ms, 300 * ms, 400 * ms, 500 * ms, 700 * ms, 800 * ms, 1000 * ms, 1000 * ms}

// A Wait waits, or returns early with an error if the context ends.
type Wait func(ctx context.Context, d time.Duration) error

// Pause waits for d.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// Settle looks again at services that are starting or stopping, until they have settled or
// Patience is used up. Unsettled returns their indices, again looks at them.
func (w Wait) Settle(ctx context.Context, unsettled func() []int, again func(at []int)) (waiting []int, err error) {
	for _, d := range Patience {
		at := unsettled()
		if len(at) == 0 {
			return nil, nil
		}
		if err := w(ctx, d); err != nil {
			return at, err
		}
		again(at)
	}
	return nil, nil
}

// Startups are the started services that have not settled yet, each with data of the provider.
type Startups[I any] struct {
	mu   sync.Mutex
	list map[string]startup[I]
}

type startup[I any] struct {
	at   time.Time
	info I
}

// Add notes that a service was started now.
func (s *Startups[I]) Add(name string, at time.Time, info I) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list = make(map[string]startup[I])
	}
	s.list[name] = startup[I]{at, info}
}

func (s *Startups[I]) take(name string) (startup[I], bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start, ok := s.list[name]
	delete(s.list, name)
	return start, ok
}

// Watch returns an error if a service that was started in this run does not stay up for its
// settle time, counted from its start. For other services it returns nil at once. It waits once
// for each start. Look returns an error if the service has ended, and whether it certainly stays up
// from now on.
func (s *Startups[I]) Watch(ctx context.Context, v *host.View, wait Wait, name string, want resources.Service, look func(I) (stays bool, err error)) error {
	start, ok := s.take(name)
	if !ok || want.Ensure != resources.ServiceRunning {
		return nil
	}
	for up, limit := v.Now().Sub(start.at), time.Duration(want.Settle); ; {
		stays, err := look(start.info)
		if err != nil || stays || up >= limit {
			return err
		}
		// Most services that end do so soon after their start.
		d := min(max(up/2, 50*ms), time.Second, limit-up)
		if err := wait(ctx, d); err != nil {
			return err
		}
		up += d
	}
}
