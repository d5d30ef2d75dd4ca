package converge

import (
	"runtime"
	"sync"
)

// A pool does jobs in a bounded number of goroutines. Some jobs wait for one of these; the
// caller does what is more than that itself.
type pool struct {
	queue   chan func()
	workers chan struct{} // has an item for each goroutine
	jobs    sync.WaitGroup
}

// newPool returns a pool that leaves one processor to the caller.
func newPool() *pool {
	workers := min(runtime.GOMAXPROCS(0)-1, 4)
	return &pool{queue: make(chan func(), 4*workers), workers: make(chan struct{}, workers)}
}

// do does a job, which may be over only after wait. It may be called by a job.
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
	p.drain() // a job that came while this was still a worker, so that no other was started
}

// drain does the jobs that wait.
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

// wait returns when all jobs are over. Those that wait for a goroutine are done by the caller.
func (p *pool) wait() {
	p.drain()
	p.jobs.Wait()
}
