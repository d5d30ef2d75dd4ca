// Package retry has the pauses of agents and nodes between attempts.
package retry

import (
	"context"
	"time"
)

// A Backoff has the limits of the pauses after failures. They are random and up to twice as long
// each time, so that machines that failed together do not come back together.
type Backoff struct {
	Min, Max time.Duration
	Spread   time.Duration // by which the first pause may be longer than Min
}

// Delay returns the pause after a number of failures in a row, from 1 on. random returns a number
// from 0 to below 1.
func (b Backoff) Delay(failures int, random func() float64) time.Duration {
	longest := min((b.Min+b.Spread)<<min(max(failures-1, 0), 20), b.Max) // 20: far above any limit, and far below an overflow
	shortest := min(b.Min/2, longest)
	return shortest + time.Duration(random()*float64(longest-shortest))
}

// Sleep pauses, and reports whether the pause ended before the context.
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
