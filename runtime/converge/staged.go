package converge

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A staged is a resource whose file is in a batch.
type staged struct {
	event *Event
	f     resource.Factory
	d     resource.Decision
	host  *host.Host // that writes to the batch
	of    *writes

	err  error // of writing it
	took time.Duration
	// seen is set once it has its place and was looked at again, state and unseen are
	// what came of that.
	seen   bool
	state  any
	unseen error
}

// stagers write files while the walk goes on.
type stagers struct {
	write   func(*staged)
	jobs    chan *staged // nil if nobody has begun
	workers sync.WaitGroup
}

// give has a file written. If they have enough to do, it is written at once.
func (s *stagers) give(ctx context.Context, w *walk, x *staged) {
	if s.jobs == nil {
		s.jobs = make(chan *staged, 1024)
		s.write = func(x *staged) { w.write(ctx, x) }
		for range min(max(1, runtime.GOMAXPROCS(0)-1), 4) {
			s.workers.Go(s.work)
		}
	}
	select {
	case s.jobs <- x:
	default:
		s.write(x)
	}
}

func (s *stagers) work() {
	for x := range s.jobs {
		s.write(x)
	}
}

// help returns when all files of a batch are written. Nobody is idle meanwhile.
func (s *stagers) help(b *writes) {
	for s.jobs != nil {
		select {
		case x := <-s.jobs:
			s.write(x)
			continue
		default:
		}
		break
	}
	b.written.Wait()
}

// end ends them.
func (s *stagers) end() {
	if s.jobs != nil {
		close(s.jobs)
		s.workers.Wait()
	}
}
