package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A queue holds what is to be run. Requests have their turn one after the other. Triggers of one
// source that come meanwhile are one, and a run stands for a health check.
type queue struct {
	mu       sync.Mutex
	requests []*job
	triggers []trigger
	wake     chan struct{}
	closed   bool
}

// A trigger is why a source is to be run.
type trigger struct {
	source, reason string
	mode           Mode
}

// A job is a request that somebody waits for.
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

// trigger has a source run.
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

// errStopped says why a request is not carried out.
var errStopped = errors.New("the agent stops")

// add has a request carried out.
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

// remove takes a request out that still waits, and reports whether it did.
func (q *queue) remove(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.requests, j)
	if i >= 0 {
		q.requests = slices.Delete(q.requests, i, i+1)
	}
	return i >= 0
}

// next returns what comes next; nil and false if there is nothing.
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

// close ends all requests that wait.
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

// Do has runs take place in their turn, and returns what became of them, one result for each
// source. When the context ends, a run under way is asked to end as Ctrl-C asks it: it finishes the
// resource that it is working on.
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

// Cancel asks the run under way to end, as Ctrl-C does, and reports whether there was one.
func (a *Agent) Cancel() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil {
		return false
	}
	a.current.end()
	return true
}
