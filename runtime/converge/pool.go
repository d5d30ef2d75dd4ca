package converge

import (
	"runtime"
	"sync"
)

// A pool does jobs in a bounded number of goroutines and queues a bounded number of jobs. A job
// beyond that is done by the caller.
type pool struct {
	queue   chan func()
	workers chan struct{} // has an item for each running goroutine
	jobs    sync.WaitGroup
}

// newPool returns a pool that leaves one processor to the caller.
func newPool() *pool {
	workers := min(runtime.GOMAXPROCS(0)-1, 4)
	return &pool{queue: make(chan func(), 4*workers), workers: make(chan struct{}, workers)}
}

// do does a job, now or later: it is over at the latest when wait returns. A job may call do.
func (p *pool) do(job func()) {
	p.jobs.Add(1)
	select {
	case p.queue <- job:
	default:
		p.run(job)
		return
	}
	select {
	case p.workers <- struct{}{}:
		go p.work()
	default:
	}
}

// work does jobs until none waits.
func (p *pool) work() {
	p.drain()
	<-p.workers
	p.drain() // a job may have been queued before this worker gave up its place, so that no other was started
}

// drain does the queued jobs.
func (p *pool) drain() {
	for {
		select {
		case job := <-p.queue:
			p.run(job)
		default:
			return
		}
	}
}

func (p *pool) run(job func()) {
	defer p.jobs.Done()
	job()
}

// wait returns when all jobs are over. The caller does the queued ones.
func (p *pool) wait() {
	p.drain()
	p.jobs.Wait()
}
