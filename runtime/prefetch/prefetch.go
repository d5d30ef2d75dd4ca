// Package prefetch asks for the status of resources before their turn. It discards answers that a
// change of the walk has made void.
package prefetch

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Prefetcher asks for the status of resources before their turn, on a pool of workers. A result
// counts only if nothing that it depends on was changed after the request began. So a machine
// that is already right is verified at full parallel speed, and the outcome is always that of
// declaration order. It makes 10,000 stable files 1.6 times as fast.
//
// It begins while resources are still being declared ([Prefetcher.Enqueue]), with those that are
// confined to one path (resource.PathConfined): their status starts no command and does nothing
// to the machine. The results are good for a walk that begins at once, on a machine that nobody
// else converges meanwhile.
//
// In a walk it looks ahead only as far as the number of consecutive resources without a change
// that others see. So it never looks more than twice as often as a walk without it. After a
// declaration phase that bound begins with the first change: each resource is still looked at no
// more than twice.
type Prefetcher struct {
	providers *resource.ProviderCache
	view      *host.View
	jobs      chan *prefetchJob
	declared  []*resource.Resource // fewer than jobSize, which are in no job yet
	queue     []*prefetchJob       // jobs of the declaration phase
	workers   sync.WaitGroup
	started   int // number of workers
	stopped   atomic.Bool
	stop      sync.Once
	// epoch counts the changes that made earlier results void.
	epoch   atomic.Int64
	walking atomic.Bool

	// Used only by the goroutine of the walk.
	ctx       context.Context
	catalog   *catalog.Catalog
	recall    func(*resource.Resource) resource.DesiredDigest
	results   []pendingResult // by resource; without a result if there is none, or it was used
	next      int             // the first resource that is in no job
	at        int             // the resource whose turn it is
	unchanged int             // consecutive resources without a change that others see
	changed   bool            // something was changed that is not in changes
	changes   ChangedPaths
}

// A prefetchJob is a number of resources that one worker looks at.
type prefetchJob struct {
	ctx     context.Context
	view    *host.View
	results []statusResult
	past    []resource.DesiredDigest // of the results; nil if they are compared with the present desired state
	taken   atomic.Bool
	done    chan struct{} // closed when all results are there
}

// A statusResult is the answer of Status for one resource.
type statusResult struct {
	resource *resource.Resource
	provider *resource.Binding
	state    any
	err      error
	epoch    int64 // when the request began
}

// A pendingResult is a result, and the job that computes it; nil if it is there.
type pendingResult struct {
	*statusResult
	job *prefetchJob
}

const (
	// jobSize is the number of resources in a job: a switch of goroutines costs about as much as a
	// look at one file.
	jobSize = 32
	// minCatalog is the smallest catalog for which a walk looks ahead.
	minCatalog = 2 * jobSize
	// maxAhead is how far a walk looks ahead: workers are quicker than a walk that changes something, and 100,000 states
	// take 36 MiB.
	maxAhead = 32 * jobSize
	maxJobs  = 1024
)

// New returns a prefetcher that looks through v. The caller must call Stop. Only Invalidate may
// be called from another goroutine.
func New(ctx context.Context, providers *resource.ProviderCache, v *host.View) *Prefetcher {
	return &Prefetcher{providers: providers, ctx: ctx, view: v, jobs: make(chan *prefetchJob, maxJobs)}
}

// Enqueue adds a resource that was declared. A worker asks for its status once there are enough
// for a job.
func (p *Prefetcher) Enqueue(r *resource.Resource) {
	if _, looks, _ := resource.BoundsOf(r.Spec); !looks || !mayPrefetch(r) || p.stopped.Load() {
		return
	}
	if p.declared = append(p.declared, r); len(p.declared) < jobSize {
		return
	}
	p.grow(min(runtime.GOMAXPROCS(0)-1, 4))
	p.providers.Clear() // a command of the script may have made another one suitable
	j := p.newJob()
	for _, r := range p.declared {
		p.add(j, r)
	}
	if p.declared = p.declared[:0]; p.submit(j) {
		p.queue = append(p.queue, j)
	}
}

// Invalidate makes all results void. It is called when something other than the walk may have
// changed the machine, such as a command that a script runs during declaration. The walk reports
// its own changes by Change.
func (p *Prefetcher) Invalidate() {
	if !p.walking.Load() {
		p.epoch.Add(1)
	}
}

// Stop ends all looks ahead. It may be called again.
func (p *Prefetcher) Stop() {
	p.stop.Do(func() {
		p.stopped.Store(true)
		close(p.jobs)
		p.workers.Wait()
	})
}

// grow starts workers until there are n.
func (p *Prefetcher) grow(n int) {
	for ; p.started < n; p.started++ {
		p.workers.Go(func() {
			for j := range p.jobs {
				if !p.stopped.Load() {
					p.do(j)
					runtime.Gosched() // the walk may be waiting for this processor
				}
			}
		})
	}
}

func (p *Prefetcher) newJob() *prefetchJob {
	return &prefetchJob{ctx: p.ctx, view: p.view, results: make([]statusResult, 0, jobSize), done: make(chan struct{})}
}

// mayPrefetch reports whether a resource may be looked at before its turn.
func mayPrefetch(r *resource.Resource) bool {
	return r.Skip == "" && r.Resolve == nil && r.Common.Timeout <= 0 && resource.TraitsOf(r.Spec).MayPrefetch
}

// add adds a resource to a job, unless it has no provider.
func (p *Prefetcher) add(j *prefetchJob, r *resource.Resource) bool {
	provider, err := p.providers.Select(r)
	if err == nil {
		j.results = append(j.results, statusResult{resource: r, provider: provider})
		if p.recall != nil {
			j.past = append(j.past, p.recall(r))
		}
	}
	return err == nil
}

// submit gives a job to the workers, unless they have enough to do.
func (p *Prefetcher) submit(j *prefetchJob) bool {
	select {
	case p.jobs <- j:
		return true
	default:
		return false
	}
}

// do does a job, or waits for the worker that does it.
func (p *Prefetcher) do(j *prefetchJob) {
	if !j.taken.CompareAndSwap(false, true) {
		<-j.done
		return
	}
	epoch, v := p.epoch.Load(), j.view.Brief()
	for i := range j.results {
		x := &j.results[i]
		x.epoch = epoch
		if j.past != nil {
			recalled := false
			if x.state, recalled, x.err = x.provider.Recall(j.ctx, v, x.resource.Spec, j.past[i]); recalled {
				continue
			}
		}
		x.state, x.err = x.provider.Status(j.ctx, v, x.resource.Spec)
	}
	close(j.done)
}

// Options are the options of a walk.
type Options struct {
	// Sequential turns looking ahead off.
	Sequential bool
	// Recall returns the desired digest with which the state of a resource is compared. Nil compares it with the present
	// desired state.
	Recall func(*resource.Resource) resource.DesiredDigest
}

// ForWalk returns the prefetcher for a walk over c: p, if it is not nil and not stopped, or a new
// one. The walk has to call Stop. Providers is the cache of the walk, which clears it before it calls
// Change.
func ForWalk(ctx context.Context, p *Prefetcher, providers *resource.ProviderCache, v *host.View, c *catalog.Catalog, o Options) *Prefetcher {
	ready := p != nil && !p.stopped.Load() && !o.Sequential
	if !ready {
		p = New(ctx, providers, v)
	}
	p.walking.Store(true)
	p.ctx, p.view, p.catalog, p.providers, p.recall = ctx, v, c, providers, o.Recall
	p.results, p.changes.View = make([]pendingResult, len(c.Resources)), v
	p.unchanged = jobSize
	if ready {
		p.match()
		p.unchanged = len(c.Resources) // to look at the rest is no more of a risk
	}
	if o.Sequential || len(c.Resources) < minCatalog {
		p.next = len(c.Resources)
		return p
	}
	p.grow(min(max(2, runtime.GOMAXPROCS(0)), 8))
	p.advance()
	return p
}

// match gives the walk the results of the jobs that were begun in the declaration phase. It drops
// the jobs not begun: they would look through the view of that phase, in which nothing is
// pending.
func (p *Prefetcher) match() {
	var all []pendingResult
	for _, j := range p.queue {
		if j.taken.CompareAndSwap(false, true) {
			close(j.done)
			continue
		}
		for i := range j.results {
			all = append(all, pendingResult{&j.results[i], j})
		}
	}
	p.queue, p.declared = nil, nil
	var byResource map[*resource.Resource]pendingResult
	k := 0
	for i, r := range p.catalog.Resources {
		switch {
		case k == len(all):
			return
		case byResource != nil:
			p.results[i] = byResource[r]
		case all[k].resource == r:
			p.results[i] = all[k]
			k++
		case resource.TraitsOf(r.Spec).MayPrefetch:
			// The catalog has another order than the jobs, or a resource is in no job.
			byResource = make(map[*resource.Resource]pendingResult, len(all))
			for _, x := range all[k:] {
				byResource[x.resource] = x
			}
			p.results[i] = byResource[r]
		}
	}
}

// advance submits jobs as far as the walk may look ahead.
func (p *Prefetcher) advance() {
	for p.next < len(p.results) {
		to := min(p.next+jobSize, len(p.results), p.at+min(p.unchanged, maxAhead))
		if to <= p.next || to-p.next < jobSize/2 && to < len(p.results) {
			return
		}
		var j *prefetchJob
		var at []int
		for i := p.next; i < to; i++ {
			if p.results[i].statusResult != nil {
				continue
			}
			if j == nil {
				j = p.newJob()
			}
			if r := p.catalog.Resources[i]; mayPrefetch(r) && p.add(j, r) {
				at = append(at, i)
			}
		}
		if len(at) > 0 && !p.submit(j) {
			return
		}
		p.next = to
		for k, i := range at {
			p.results[i] = pendingResult{&j.results[k], j}
		}
	}
}

// Result returns the state of resource i, whose turn it is: the prefetched state if it still
// counts, or one of the states that provider finds in one look. It is not ok if provider has to
// look at the resource by itself.
func (p *Prefetcher) Result(ctx context.Context, v *host.View, i int, provider *resource.Binding) (state any, ok bool, err error) {
	r := p.catalog.Resources[i]
	p.next = max(p.next, i+1)
	if x := p.results[i]; x.statusResult != nil {
		p.results[i] = pendingResult{} // a result is used once
		if x.job != nil {
			p.do(x.job)
		}
		if x.epoch == p.epoch.Load() && x.provider.Same(*provider) && x.err == nil && !p.isStale(r) {
			return x.state, true, nil
		}
	}
	// What may be looked at before its turn is cheap, and looked at alone. Only the rest is asked for together.
	if resource.TraitsOf(r.Spec).MayPrefetch || r.Common.Timeout > 0 || !provider.HasBulkStatus() {
		return nil, false, nil
	}
	return p.bulkStatus(ctx, v, i, provider)
}

// bulkStatus looks at resource i and at the following ones of the same provider in one call. It is
// not ok if there are none. Until the first change these are all that follow. After it, the call
// asks for at most as many resources as changed nothing in a row: each change makes the answers
// void, so asking for all again would be quadratic.
func (p *Prefetcher) bulkStatus(ctx context.Context, v *host.View, i int, provider *resource.Binding) (state any, ok bool, err error) {
	r := p.catalog.Resources[i]
	end := len(p.catalog.Resources)
	if p.changed {
		end = min(end, i+1+p.unchanged)
	}
	var specs []any
	var at []int
	for k := i; k < end; k++ {
		x := p.catalog.Resources[k]
		if x.Type != r.Type || k > i && (x.Skip != "" || x.Resolve != nil) || resource.TraitsOf(x.Spec).MayPrefetch {
			continue
		}
		if other, err := p.providers.Select(x); err != nil || !other.Same(*provider) {
			continue
		}
		specs, at = append(specs, x.Spec), append(at, k)
	}
	if len(specs) < 2 {
		return nil, false, nil
	}
	states, errs := provider.StatusAll(ctx, v, specs)
	epoch := p.epoch.Load()
	for n, k := range at[1:] {
		p.results[k].statusResult = &statusResult{provider: provider, state: states[n+1], err: errs[n+1], epoch: epoch}
	}
	return states[0], true, errs[0]
}

// isStale reports whether a change that was confined to a path may have changed the state of r.
func (p *Prefetcher) isStale(r *resource.Resource) bool {
	if p.changes.empty() {
		return false
	}
	path, looks, _ := resource.BoundsOf(r.Spec)
	return !looks || p.changes.Covers(path)
}

// Change reports that r has changed the machine or, in a plan, the view. Replaced means that a file was
// replaced as a whole: the new file has no other names.
func (p *Prefetcher) Change(r *resource.Resource, replaced bool) {
	if path, _, acts := resource.BoundsOf(r.Spec); acts {
		if replaced && p.changes.AddReplaced(path) || !replaced && p.changes.add(path) {
			return
		}
	}
	p.changes.Clear()
	p.epoch.Add(1)
	p.changed, p.unchanged = true, 0
}

// Leave reports that the turn of resource i is over.
func (p *Prefetcher) Leave(i int) {
	p.at = i + 1
	if p.unchanged++; i%16 == 0 {
		p.advance()
	}
}
