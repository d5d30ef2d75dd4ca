package converge

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Scout looks at resources while others are still being declared, on processors
// that have nothing else to do then. What it saw is good for a walk that begins at
// once, on a machine that nobody else converges meanwhile.
//
// It looks only at resources that are about one path (resource.Bounded): looking
// at them starts no command and does nothing to the machine.
type Scout struct {
	chooser chooser
	view    *host.View

	start   func() // has somebody look
	jobs    chan []sighting
	next    []sighting // that were not given to a worker yet
	given   [][]sighting
	workers sync.WaitGroup
	stop    atomic.Bool
	finish  sync.Once
	// epoch counts what may have changed the machine; chosen is that of the chooser.
	epoch  atomic.Int64
	chosen int64
	// differing counts jobs of which the first resource is not as wanted.
	differing atomic.Int64
	// Expect is called once it looks as if many resources are not as wanted, with the
	// path of one. May be nil; it must not change after the first resource was declared.
	Expect func(path string)
}

// A sighting is what a scout saw of one resource.
type sighting struct {
	r *resource.Resource
	sight
	seen  bool
	epoch int64 // when the job that it is in was begun
}

// NewScout returns a scout that looks through v. Finish must be called, after the
// last resource was declared. It is for use by one goroutine, but for Disturbed.
func NewScout(ctx context.Context, reg *resource.Registry, f *facts.Facts, v *host.View) *Scout {
	s := &Scout{chooser: chooser{registry: reg, facts: f}, view: v, jobs: make(chan []sighting, 1024)}
	s.start = sync.OnceFunc(func() {
		for range min(runtime.GOMAXPROCS(0)-1, 4) {
			s.workers.Go(func() { s.work(ctx) })
		}
	})
	return s
}

func (s *Scout) work(ctx context.Context) {
	for job := range s.jobs {
		if s.stop.Load() {
			continue
		}
		epoch := s.epoch.Load()
		for i := range job {
			x := &job[i]
			x.epoch = epoch
			x.state, x.err = x.f.Status(ctx, s.view, x.r.Spec)
			x.seen = true
		}
		s.expect(&job[0])
	}
}

// expect guesses by one resource of a job how it is with many.
func (s *Scout) expect(x *sighting) {
	if s.Expect != nil && x.err == nil && len(x.r.Type.Decide(x.r.Spec, x.state, false).Actions) > 0 && s.differing.Add(1) == 2 {
		path, _, _ := resource.BoundsOf(x.r.Spec)
		s.Expect(path)
	}
}

// Declared tells of a resource that was added to the catalog.
func (s *Scout) Declared(r *resource.Resource) {
	if _, looks, _ := resource.BoundsOf(r.Spec); !looks || r.Skip != "" || r.Resolve != nil || !resource.LooksAhead(r.Spec) {
		return
	}
	if epoch := s.epoch.Load(); epoch != s.chosen {
		s.chooser.forget()
		s.chosen = epoch
	}
	f, err := s.chooser.choose(r)
	if err != nil {
		return
	}
	if s.next == nil {
		s.start()
		s.next = make([]sighting, 0, chunk)
	}
	if s.next = append(s.next, sighting{r: r, sight: sight{f: f}}); len(s.next) < chunk {
		return
	}
	select {
	case s.jobs <- s.next:
		s.given = append(s.given, s.next)
	default: // they have enough to do
	}
	s.next = nil
}

// Disturbed tells that something may have changed the machine, such as a command
// that a script ran. What was seen before does not count.
func (s *Scout) Disturbed() { s.epoch.Add(1) }

// Finish ends the looking. What was seen is for [Engine.Scouted]; a walk that gets
// it calls Finish. It may be called again.
func (s *Scout) Finish() {
	s.finish.Do(func() {
		s.stop.Store(true)
		close(s.jobs)
		s.workers.Wait()
	})
}

// take gives a walk what was seen of its resources.
func (s *Scout) take(resources []*resource.Resource, looks []look) {
	s.Finish()
	var all []*sighting
	for _, job := range s.given {
		for i := range job {
			if x := &job[i]; x.seen && x.epoch == s.epoch.Load() {
				all = append(all, x)
			}
		}
	}
	var byResource map[*resource.Resource]*sighting
	k := 0
	for i, r := range resources {
		var x *sighting
		switch {
		case k == len(all):
			return
		case byResource != nil:
			x = byResource[r]
		case all[k].r == r:
			x = all[k]
			k++
		case resource.LooksAhead(r.Spec):
			// They are in another order than they were declared in, or some were not
			// looked at.
			byResource = make(map[*resource.Resource]*sighting, len(all))
			for _, y := range all[k:] {
				byResource[y.r] = y
			}
			x = byResource[r]
		}
		if x != nil {
			looks[i] = look{sight: &x.sight, phase: looked}
		}
	}
}
