package site

import (
	"sync"
	"time"
)

// questions measures how long ccm has waited for the user on the terminal. That time does not
// count for time limits of scripts and manifests.
type questions struct {
	mu        sync.Mutex
	open      int
	startTime time.Time     // when the oldest open question was asked
	total     time.Duration // time of earlier questions
}

// ask begins to wait; the returned function ends it.
func (q *questions) ask() (done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == 0 {
		q.startTime = time.Now()
	}
	q.open++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.open--; q.open == 0 {
			q.total += time.Since(q.startTime)
		}
	}
}

// waited returns the time waited so far.
func (q *questions) waited() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open > 0 {
		return q.total + time.Since(q.startTime)
	}
	return q.total
}

// askAfter is ask. It calls asking, unless that is nil, before the question.
func (q *questions) askAfter(asking func() (done func())) (done func()) {
	answered := q.ask()
	if asking == nil {
		return answered
	}
	shown := asking()
	return func() {
		shown()
		answered()
	}
}
