package converge

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each job runs once, also with more jobs than goroutines; with one processor the caller runs them. Jobs may submit
// jobs.
func TestPool(t *testing.T) {
	for _, processors := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(processors)
		p := newPool()
		runtime.GOMAXPROCS(before)
		var done [400]atomic.Int64
		for i := range done {
			p.do(func() {
				if i%2 == 0 {
					p.do(func() { done[i].Add(1) })
				} else {
					done[i].Add(1)
				}
			})
			if i%100 == 99 {
				p.wait()
				for k := range i + 1 {
					require.EqualValues(t, 1, done[k].Load())
				}
			}
		}
	}
}

// While the goroutine of a pool is busy, the caller goes on; when it waits, it runs the queued jobs itself.
func TestPoolCallerGoesOn(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	p := newPool()
	runtime.GOMAXPROCS(before)
	busy, started := make(chan struct{}), make(chan struct{})
	p.do(func() { close(started); <-busy })
	<-started
	var done atomic.Int64
	p.do(func() { done.Add(1) })
	require.Zero(t, done.Load())
	p.do(func() { close(busy) })
	p.wait()
	require.EqualValues(t, 1, done.Load())
}
