package converge

import (
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

	err  error // of writing it
	took time.Duration
	seen bool // it has its place, and was looked at again
}

// stagers write the files of a batch while the walk goes on.
type stagers struct {
	write   func(*staged)
	jobs    chan *staged
	workers sync.WaitGroup
}

func newStagers(write func(*staged)) *stagers {
	s := &stagers{write: write, jobs: make(chan *staged, 1024)}
	for range min(max(1, runtime.GOMAXPROCS(0)-1), 4) {
		s.workers.Go(s.work)
	}
	return s
}

func (s *stagers) work() {
	for x := range s.jobs {
		s.write(x)
	}
}

// give has a file written. If they have enough to do, it is written at once.
func (s *stagers) give(x *staged) {
	select {
	case s.jobs <- x:
	default:
		s.write(x)
	}
}

// end returns when all files are written. Nobody is idle meanwhile.
func (s *stagers) end() {
	if s == nil {
		return
	}
	close(s.jobs)
	s.work()
	s.workers.Wait()
}

// A looker looks again at the files that have got their places, while others get
// theirs.
type looker struct {
	look func(*staged)
	jobs chan *staged // nil if it is not worth the while
	over sync.WaitGroup
}

func newLooker(b *writes, look func(*staged)) *looker {
	l := &looker{look: look}
	if b.pool != nil && len(b.staged) >= worthwhile {
		l.jobs = make(chan *staged, len(b.staged))
		l.over.Go(func() {
			for x := range l.jobs {
				l.look(x)
			}
		})
	}
	return l
}

func (l *looker) at(x *staged) {
	if x.seen = true; l.jobs == nil {
		l.look(x)
		return
	}
	l.jobs <- x
}

// end returns when all were looked at.
func (l *looker) end() {
	if l.jobs != nil {
		close(l.jobs)
		l.over.Wait()
	}
}
