package converge

import (
	"runtime"
	"sync"
)

// A pool does jobs in a bounded number of goroutines, and in that of the caller if all
// of these are busy.
type pool struct {
	slots chan struct{}
	jobs  sync.WaitGroup
}

// newPool returns a pool that leaves one processor to the caller.
func newPool() *pool { return &pool{slots: make(chan struct{}, min(runtime.GOMAXPROCS(0)-1, 4))} }

// do does a job, which may be over only after wait.
func (p *pool) do(job func()) {
	select {
	case p.slots <- struct{}{}:
		p.jobs.Go(func() {
			defer func() { <-p.slots }()
			job()
		})
	default:
		job()
	}
}

// wait returns when all jobs are over.
func (p *pool) wait() { p.jobs.Wait() }
