// Package retry says how long agents and nodes wait before they try again.
package retry

import (
	"context"
	"time"
)

// A Backoff is how long it is waited after failures: up to twice as long each time, by chance, so that
// machines that failed together do not come back together.
type Backoff struct{ Min, Max time.Duration }

// Delay returns how long to wait after so many failures in a row, from 1 on. Random returns a number
// from 0 to below 1.
func (b Backoff) Delay(failures int, random func() float64) time.Duration {
	longest := min(b.Min<<min(max(failures-1, 0), 20), b.Max) // 20: far above any limit, and far below an overflow
	shortest := min(b.Min/2, longest)
	return shortest + time.Duration(random()*float64(longest-shortest))
}

// Sleep waits, or until the context ends, and reports whether it does not.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
