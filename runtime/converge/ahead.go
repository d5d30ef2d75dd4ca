package converge

import (
	"context"
	"runtime"
	"sync"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A sight is what Status said of one resource.
type sight struct {
	f     *resource.Factory
	state any
	err   error
}

// A look is what is known of one resource before its turn.
type look struct {
	*sight // nil if it was not looked at
	// changes is how many changes had been made when the look began.
	changes int
	phase   lookState
}

type lookState uint8

const (
	notLooked lookState = iota
	looking
	looked
)

// An ahead looks at resources before their turn, on a pool of workers. What it
// saw counts only if nothing was changed after it began to look: a machine that
// is already right is verified at full parallel speed, and the outcome is always
// that of the order.
//
// How far it looks ahead is bounded by how many resources in a row turned out
// stable, so that it never looks more than twice as often as a walk without it. Where
// a scout has begun, it goes on without that bound until something changes what
// others see: each resource is still looked at no more than twice.
type ahead struct {
	engine  *Engine
	view    *host.View
	catalog *catalog.Catalog

	mu      sync.Mutex
	moved   sync.Cond // the walk moved on, a worker finished, or all is over
	looks   []look
	next    int   // the first resource that no worker has taken
	at      int   // where the walk is
	run     int   // how many resources in a row left alone what others see
	reach   int   // how far it looks ahead at most
	changes int   // that may have changed anything
	trail   trail // of the others
	chooser chooser
	over    bool
	workers sync.WaitGroup
}

const (
	// chunk is how many resources a worker takes at once: a hop between
	// goroutines costs about as much as looking at one file.
	chunk = 32
	// worthwhile is the size of a catalog from which workers are started.
	worthwhile = 2 * chunk
	farthest   = 32 * chunk
)

// lookAhead starts the workers for a catalog. End must be called.
func (e *Engine) lookAhead(ctx context.Context, v *host.View, c *catalog.Catalog) *ahead {
	a := &ahead{engine: e, chooser: chooser{registry: e.Registry, facts: e.Facts}, view: v, catalog: c, looks: make([]look, len(c.Resources)), run: chunk, reach: farthest, trail: trail{view: v}}
	a.moved.L = &a.mu
	if e.Scouted != nil && !e.Sequential {
		e.Scouted.take(c.Resources, a.looks)
		a.run, a.reach = len(a.looks), len(a.looks) // to look at the rest is no more of a bet
	}
	workers := min(max(2, runtime.GOMAXPROCS(0)), 8)
	if e.Sequential || len(c.Resources) < worthwhile {
		workers = 0
	}
	for range workers {
		a.workers.Go(func() { a.work(ctx) })
	}
	return a
}

// end stops the workers and waits for them.
func (a *ahead) end() {
	a.mu.Lock()
	a.over = true
	a.moved.Broadcast()
	a.mu.Unlock()
	a.workers.Wait()
}

// work takes resources, as far as it may look ahead, and looks at them.
func (a *ahead) work(ctx context.Context) {
	chooser := chooser{registry: a.engine.Registry, facts: a.engine.Facts}
	chosen := 0 // how many changes had been made then
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.over && a.next < len(a.looks) {
		from := a.next
		to := min(from+chunk, len(a.looks), a.at+min(a.run, a.reach))
		if to <= from {
			a.moved.Wait()
			continue
		}
		a.next = to
		changes := a.changes
		mine := a.take(from, to)
		if len(mine) == 0 {
			continue
		}
		a.mu.Unlock()
		if changes != chosen {
			chooser.forget()
			chosen = changes
		}
		sights := make([]sight, len(mine))
		for k, i := range mine {
			r, s := a.catalog.Resources[i], &sights[k]
			if s.f, s.err = chooser.choose(r); s.err == nil {
				s.state, s.err = s.f.Status(ctx, a.view, r.Spec)
			}
		}
		a.mu.Lock()
		for k, i := range mine {
			a.looks[i] = look{&sights[k], changes, looked}
		}
		a.moved.Broadcast()
		a.mu.Unlock()
		runtime.Gosched() // the walk may be waiting for this processor
		a.mu.Lock()
	}
}

// take marks those of a range that may be looked at before their turn.
func (a *ahead) take(from, to int) []int {
	mine := make([]int, 0, chunk)
	for i := from; i < to; i++ {
		if a.looks[i].phase != notLooked {
			continue // a scout did, and it is not looked at more than twice
		}
		if r := a.catalog.Resources[i]; r.Skip == "" && r.Resolve == nil && resource.LooksAhead(r.Spec) {
			a.looks[i].phase = looking
			mine = append(mine, i)
		}
	}
	return mine
}

// status returns the state of resource i, whose turn it is, by the provider f
// through the view v.
func (a *ahead) status(ctx context.Context, v *host.View, i int, f *resource.Factory) (any, error) {
	r := a.catalog.Resources[i]
	a.mu.Lock()
	a.next = max(a.next, i+1)
	for a.looks[i].phase == looking {
		a.moved.Wait()
	}
	l, changes := a.looks[i], a.changes
	a.looks[i] = look{} // it is used once
	a.mu.Unlock()
	if l.phase == looked && l.changes == changes && l.f.Same(*f) && l.err == nil && !a.crossed(r) {
		return l.state, nil
	}
	if resource.LooksAhead(r.Spec) || r.Common.Timeout > 0 || !f.AnswersForMany() {
		return f.Status(ctx, v, r.Spec)
	}
	return a.together(ctx, v, i, f)
}

// together looks at resource i and at those that follow and have the same provider,
// in one go. These are all of them until something was changed. From then on it asks
// about at most as many resources as were left alone in a row: each change makes the
// answers void, so that to ask about all again after each would be quadratic.
func (a *ahead) together(ctx context.Context, v *host.View, i int, f *resource.Factory) (any, error) {
	r := a.catalog.Resources[i]
	end := len(a.catalog.Resources)
	if a.changes > 0 {
		end = min(end, i+1+a.run)
	}
	var specs []any
	var at []int
	for k := i; k < end; k++ {
		x := a.catalog.Resources[k]
		if x.Type != r.Type || k > i && (x.Skip != "" || x.Resolve != nil) || resource.LooksAhead(x.Spec) {
			continue
		}
		if g, err := a.chooser.choose(x); err != nil || !g.Same(*f) {
			continue
		}
		specs, at = append(specs, x.Spec), append(at, k)
	}
	if len(specs) < 2 {
		return f.Status(ctx, v, r.Spec)
	}
	states, errs := f.StatusAll(ctx, v, specs)
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, k := range at[1:] {
		a.looks[k] = look{&sight{f, states[n+1], errs[n+1]}, a.changes, looked}
	}
	a.next = max(a.next, i+1)
	return states[0], errs[0]
}

// replace puts r, in which everything is known, in the place of resource i.
func (a *ahead) replace(i int, r *resource.Resource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.catalog.Resources[i] = r
}

// crossed reports whether what r is about may have become another by changes that
// were each confined to one path.
func (a *ahead) crossed(r *resource.Resource) bool {
	if a.trail.empty() {
		return false
	}
	path, looks, _ := resource.BoundsOf(r.Spec)
	return !looks || a.trail.covers(path)
}

// changed tells that the machine, or in a plan what is assumed of it, was changed
// on behalf of r.
func (a *ahead) changed(r *resource.Resource) { a.change(r, a.trail.add) }

// replaced is changed for a resource whose file was replaced as a whole: the new
// one has no other names.
func (a *ahead) replaced(r *resource.Resource) { a.change(r, a.trail.note) }

func (a *ahead) change(r *resource.Resource, note func(path string) bool) {
	a.chooser.forget()
	if path, _, acts := resource.BoundsOf(r.Spec); acts && note(path) {
		return
	}
	a.trail.clear()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes++
	a.run, a.reach = 0, farthest
}

// done tells that the walk is through with resource i.
func (a *ahead) done(i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = i + 1
	a.run++
	if i%16 == 0 {
		a.moved.Broadcast()
	}
}
