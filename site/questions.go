package site

import (
	"sync"
	"time"
)

// questions count for how long somebody is waited for on the terminal. Scripts and manifests are not
// stopped because a passphrase is looked for.
type questions struct {
	mu    sync.Mutex
	open  int
	begun time.Time     // when the oldest of the open ones was asked
	done  time.Duration // of those before
}

// ask begins to wait, until the function is called that it returns.
func (q *questions) ask() (done func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == 0 {
		q.begun = time.Now()
	}
	q.open++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.open--; q.open == 0 {
			q.done += time.Since(q.begun)
		}
	}
}

// waited returns for how long somebody was waited for so far.
func (q *questions) waited() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open > 0 {
		return q.done + time.Since(q.begun)
	}
	return q.done
}

// waited returns for how long somebody was waited for so far.
func (p *Process) waited() time.Duration {
	if p.questions == nil {
		return 0
	}
	return p.questions.waited()
}

// asking is told before somebody may be asked on the terminal.
func (p *Process) asking() (done func()) {
	answered := p.questions.ask()
	if p.Asking == nil {
		return answered
	}
	shown := p.Asking()
	return func() {
		shown()
		answered()
	}
}
