package retry

import (
	"sync"
	"time"
)

// A Timeout is how long to wait for an answer before the request counts as lost: twice as long after
// each answer that did not come in time, and shorter again by halves, but never less than twice what
// the last answer took. Otherwise machines that wait for slow servers would all ask again, and make
// them slower. (TCP does the same, RFC 6298.) It may be used concurrently.
type Timeout struct {
	Min, Max time.Duration

	mu  sync.Mutex
	now time.Duration // 0 for Min
}

// Get returns the present time limit.
func (t *Timeout) Get() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(t.now, t.Min)
}

// Answered describes how long an answer took.
func (t *Timeout) Answered(after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = min(max(2*after, t.now/2), t.Max)
}

// Missed reports that no answer came in time.
func (t *Timeout) Missed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = min(2*max(t.now, t.Min), t.Max)
}
