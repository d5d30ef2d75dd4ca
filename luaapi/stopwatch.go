package luaapi

import (
	"sync"
	"time"
)

// A stopwatch calls a function after some time. Time while it is stopped, or while ccm waits for
// the user, does not count.
type stopwatch struct {
	mu        sync.Mutex
	timer     *time.Timer
	running   bool
	remaining time.Duration // at since
	since     time.Time
	waitTime  func() time.Duration // total time that ccm has waited
	counted   time.Duration        // the part of it that was subtracted
}

// newStopwatch returns a running stopwatch.
func newStopwatch(limit time.Duration, waited func() time.Duration, end func()) *stopwatch {
	if waited == nil {
		waited = func() time.Duration { return 0 }
	}
	w := &stopwatch{remaining: limit, waitTime: waited}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, func() {
		if w.isOver() {
			end()
		}
	})
	w.run()
	return w
}

// run begins to count; the timer is already set.
func (w *stopwatch) run() { w.running, w.since, w.counted = true, time.Now(), w.waitTime() }

// count subtracts the time since the last count.
func (w *stopwatch) count() {
	now, waited := time.Now(), w.waitTime()
	w.remaining += waited - w.counted - now.Sub(w.since)
	w.since, w.counted = now, waited
}

// isOver reports whether the time is over. If not, because ccm waited for the user, the timer is
// set again.
func (w *stopwatch) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		return false
	}
	w.count()
	if w.remaining <= 0 {
		return true
	}
	w.timer.Reset(w.remaining)
	return false
}

func (w *stopwatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.count()
	w.running = false
}

func (w *stopwatch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Reset(max(0, w.remaining))
	w.run()
}
