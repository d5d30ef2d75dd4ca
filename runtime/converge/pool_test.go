package converge

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each job is done once, also when there are more than the pool has goroutines, and on
// one processor by the caller.
func TestPool(t *testing.T) {
	for _, processors := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(processors)
		p := newPool()
		runtime.GOMAXPROCS(before)
		var done [400]atomic.Int64
		for i := range done {
			p.do(func() { done[i].Add(1) })
			if i%100 == 99 {
				p.wait()
				require.EqualValues(t, 1, done[i].Load())
			}
		}
		for i := range done {
			require.EqualValues(t, 1, done[i].Load())
		}
	}
}
