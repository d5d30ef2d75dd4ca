package host

import (
	"fmt"
	"sync"
)

// IsPlan reports whether v is that of a plan.
func (v *View) IsPlan() bool { return v.plan != nil }

// Assumes reports whether anything is assumed that one of authors brings about.
func (v *View) Assumes(authors map[any]bool) bool {
	if v.plan == nil {
		return false
	}
	v.plan.mu.RLock()
	defer v.plan.mu.RUnlock()
	for by := range authors {
		if v.plan.authors[by] {
			return true
		}
	}
	return false
}

// Without returns a view for which nothing counts that is assumed because of
// authors (AssumeBy). It is v outside plans.
func (v *View) Without(authors map[any]bool) *View {
	if v.plan == nil {
		return v
	}
	own := *v
	own.plan = &overlay{assumptions: v.plan.assumptions, without: authors}
	own.plan.dirs.Store(new(sync.Map))
	return &own
}

// counted returns what counts of what is assumed of a path.
func (o *overlay) counted(e *planEntry) *planEntry {
	if len(o.without) == 0 {
		return e
	}
	for e != nil && o.without[e.by] {
		e = e.under
	}
	if e == nil || !e.Unsure {
		return e
	}
	under := o.counted(e.under)
	if under == e.under {
		return e
	}
	own := *e
	if own.Planned, own.layered = (Planned{Path: e.Path, Unsure: true}), false; under != nil {
		own.lie(under)
	}
	return &own
}

// Answers are what commands said that were asked on behalf of one resource. So
// none of them runs again where a plan looks more than once.
type Answers struct {
	mu    sync.Mutex
	known map[string]answer
}

type answer struct {
	res Result
	err error
}

// ask returns the answer to c, which run gives if it is not known.
func (a *Answers) ask(c Cmd, run func() (Result, error)) (Result, error) {
	if a == nil {
		return run()
	}
	key := fmt.Sprintf("%q", [][]string{c.Argv, c.Env, {c.Dir, c.Path, string(c.Stdin)}})
	a.mu.Lock()
	defer a.mu.Unlock()
	x, ok := a.known[key]
	if !ok {
		x.res, x.err = run()
		if a.known == nil {
			a.known = make(map[string]answer)
		}
		a.known[key] = x
	}
	return x.res, x.err
}
