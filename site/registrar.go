package site

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/luaccm/ccm/fleet/registry"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/health"
	"github.com/luaccm/ccm/runtime/registration"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// publishTimeout is the time that the end of a run waits for services to be published.
const publishTimeout = 10 * time.Second

// A registrar publishes the services of resources that are in order, concurrently with the run,
// which waits only at its end. A failure to publish fails nothing.
type registrar struct {
	ctx         context.Context
	registry    *registry.Registry
	mode        registry.Mode
	secrets     *secret.Keeper
	monitorOnly bool
	stop        <-chan struct{} // closed when the run has to end

	mu      sync.Mutex
	queue   []service
	current *service      // the one being published, or nil
	idle    chan struct{} // closed when the queue is empty; nil before the first publication
	result  event.Registrations
}

// A service is one entry of a resource.
type service struct {
	id    resource.ID
	entry *registration.Entry
}

// Event implements event.Reporter. It queues the services of a resource that is in order.
func (r *registrar) Event(e *event.Event) {
	if !r.isInOrder(e) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range e.Resource.Common.RegisterWhenStable {
		s := service{e.Resource.ID, e.Resource.Common.RegisterWhenStable[i].Entry()}
		switch r.mode {
		case "":
			r.result.Unpublished++
		case RegisterNothing:
		default:
			r.queue = append(r.queue, s)
		}
	}
	if len(r.queue) > 0 && r.current == nil {
		r.idle = make(chan struct{})
		r.current = new(service)
		go r.work(r.idle)
	}
}

// isInOrder reports whether the resource works: it is as wanted, and all its health checks are
// ok. If only health checks are run, there has to be one.
func (r *registrar) isInOrder(e *event.Event) bool {
	if e.Noop || e.Outcome != event.Stable && e.Outcome != event.Changed || e.Err != nil {
		return false
	}
	if len(e.Health) == 0 && (r.monitorOnly || e.Resource.Restraint() == resource.MonitorOnly) {
		return false
	}
	for _, h := range e.Health {
		if h.State != health.OK {
			return false
		}
	}
	return true
}

// work publishes the queue.
func (r *registrar) work(done chan<- struct{}) {
	defer close(done)
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.current = nil
			r.mu.Unlock()
			return
		}
		next := r.queue[0]
		r.queue, r.current = r.queue[1:], &next
		r.mu.Unlock()
		err := r.publish(next.entry)
		r.mu.Lock()
		if err != nil {
			r.addProblem(next, err)
		} else {
			r.result.Published++
		}
		r.mu.Unlock()
	}
}

// publish publishes one entry. An entry with a secret is refused, because everybody can read it.
func (r *registrar) publish(e *registration.Entry) error {
	texts := []string{e.Cluster, e.Service, e.Protocol, e.Address}
	for name, val := range e.Annotations {
		texts = append(texts, name, val)
	}
	if slices.ContainsFunc(texts, r.secrets.Contains) {
		return diag.Contains("it", "a secret, which would be visible in the registry")
	}
	return r.registry.Publish(r.ctx, e, r.mode)
}

func (r *registrar) addProblem(s service, err error) {
	r.result.Problems = append(r.result.Problems, event.RegistrationProblem{Resource: s.id, Service: s.entry.String(), Err: err})
}

// finish waits for a short time until everything is published, and returns the results.
func (r *registrar) finish() event.Registrations {
	r.mu.Lock()
	working := r.idle
	r.mu.Unlock()
	if working != nil {
		late := time.NewTimer(publishTimeout)
		defer late.Stop()
		select {
		case <-working:
		case <-late.C:
		case <-r.stop:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.queue
	if r.current != nil {
		left = append([]service{*r.current}, left...)
	}
	for _, s := range left {
		r.addProblem(s, diag.None("response from the registry before the end of the run"))
	}
	r.queue = nil
	return r.result
}
