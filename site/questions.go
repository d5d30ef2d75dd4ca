package site

import (
	"sync"
	"time"
)

// questions count for how long somebody is waited for on the terminal. Scripts and manifests are not
// stopped because a passphrase is looked for.
type questions struct {
	mu        sync.Mutex
	open      int
	startTime time.Time     // when the oldest of the open ones was asked
	done      time.Duration // of those before
}

// ask begins to wait, until the function is called that it returns.
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
			q.done += time.Since(q.startTime)
		}
	}
}

// waited returns for how long somebody was waited for so far.
func (q *questions) waited() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open > 0 {
		return q.done + time.Since(q.startTime)
	}
	return q.done
}

// askAfter is ask, with what is told before somebody may be asked, if it is not nil.
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
