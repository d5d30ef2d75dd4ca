package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A queue has the pending runs. Requests come one after the other. Triggers of one source are
// merged, and a run includes a health check.
type queue struct {
	mu       sync.Mutex
	requests []*job
	triggers []trigger
	wake     chan struct{}
	closed   bool
}

// A trigger is a reason to run a source.
type trigger struct {
	source, reason string
	mode           Mode
}

// A job is a request with a waiting caller.
type job struct {
	request Request
	ctx     context.Context
	results []*Result
	err     error
	done    chan struct{}
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// trigger queues a run of a source.
func (q *queue) trigger(source string, mode Mode, reason string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.poke()
	for i, t := range q.triggers {
		if t.source == source {
			if t.mode == Check && mode != Check {
				q.triggers[i].mode, q.triggers[i].reason = mode, reason
			}
			return
		}
	}
	q.triggers = append(q.triggers, trigger{source, reason, mode})
}

// errStopped is the error of a request that is not carried out.
var errStopped = errors.New("the agent stops")

// add queues a request.
func (q *queue) add(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		j.err = errStopped
		close(j.done)
		return
	}
	q.requests = append(q.requests, j)
	q.poke()
}

// remove removes a waiting request, and reports whether it did.
func (q *queue) remove(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.requests, j)
	if i >= 0 {
		q.requests = slices.Delete(q.requests, i, i+1)
	}
	return i >= 0
}

// next returns the next job or trigger; false if there is none.
func (q *queue) next() (j *job, t trigger, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.requests) > 0 {
		j = q.requests[0]
		q.requests = q.requests[1:]
		return j, t, true
	}
	if len(q.triggers) > 0 {
		t = q.triggers[0]
		q.triggers = q.triggers[1:]
		return nil, t, true
	}
	return nil, t, false
}

// close ends all waiting requests.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, j := range q.requests {
		j.err = errStopped
		close(j.done)
	}
	q.requests, q.triggers = nil, nil
}

// Do carries out runs in their turn, and returns one result for each source. When the context
// ends, the present run is asked to end like by Ctrl-C: it finishes its present resource.
func (a *Agent) Do(ctx context.Context, r Request) ([]*Result, error) {
	j := &job{request: r, ctx: ctx, done: make(chan struct{})}
	a.queue.add(j)
	select {
	case <-j.done:
	case <-ctx.Done():
		if a.queue.remove(j) {
			return nil, context.Cause(ctx)
		}
		<-j.done
	}
	return j.results, j.err
}

// Cancel asks the present run to end, like Ctrl-C, and reports whether there was one.
func (a *Agent) Cancel() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil {
		return false
	}
	a.current.end()
	return true
}
