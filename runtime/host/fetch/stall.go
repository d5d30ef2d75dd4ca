package fetch

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// slowest is the least number of bytes a second. A server that sends a byte now and then would
// never come to an end.
const slowest = 100

// A stallGuard cancels a context when too little comes for too long. It pauses while nobody
// reads, so that a slow disk is no stall.
type stallGuard struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelCauseFunc
	// waitTime is the time waited since the last reset, and received the number of bytes that came
	// in it.
	waitTime time.Duration
	received atomic.Int64
}

func newStallGuard(ctx context.Context, limit time.Duration) (*stallGuard, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := &stallGuard{limit: limit, cancel: cancel}
	g.timer = time.AfterFunc(limit, func() {
		what := "nothing"
		if got := g.received.Load(); got > 0 {
			what = "only " + bytesize.Format(got)
		}
		cancel(fmt.Errorf("timed out: %s received for %s", what, limit))
	})
	return g, ctx
}

// reset starts the wait again.
func (g *stallGuard) reset() {
	g.waitTime = 0
	g.received.Store(0)
	g.timer.Reset(g.limit)
}

func (g *stallGuard) pause() { g.timer.Stop() }

// addBytes counts n bytes that came after a wait. Enough bytes start the wait again.
func (g *stallGuard) addBytes(n int, after time.Duration) {
	g.timer.Stop()
	g.waitTime += after
	if float64(g.received.Add(int64(n))) >= slowest*g.limit.Seconds() {
		g.waitTime = 0
		g.received.Store(0)
	}
}

func (g *stallGuard) close() {
	g.timer.Stop()
	g.cancel(nil)
}

// read reads from r under the guard.
func (g *stallGuard) read(r io.Reader, p []byte) (int, error) {
	g.timer.Reset(max(g.limit-g.waitTime, time.Millisecond))
	begun := time.Now()
	n, err := r.Read(p)
	g.addBytes(n, time.Since(begun))
	return n, err
}
