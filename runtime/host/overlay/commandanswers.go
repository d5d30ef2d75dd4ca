package overlay

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/luaccm/ccm/runtime/host/command"
)

// Assumes reports whether one of the authors has caused an assumption.
func (o *View) Assumes(authors map[any]bool) bool {
	if o == nil {
		return false
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	for by := range authors {
		if o.authors[by] {
			return true
		}
	}
	return false
}

// Without returns a view without the assumptions of some authors.
func (o *View) Without(authors map[any]bool) *View {
	x := &View{assumptions: o.assumptions, excluded: authors, dirs: new(atomic.Pointer[sync.Map]), looks: o.looks}
	x.dirs.Store(new(sync.Map))
	return x
}

// counted returns the entry that counts when the assumptions of some authors do not: e or one
// that it replaced.
func counted(without map[any]bool, e *entry) *entry {
	if len(without) == 0 {
		return e
	}
	for e != nil && without[e.author] {
		e = e.previous
	}
	if e == nil || !e.Unsure {
		return e
	}
	under := counted(without, e.previous)
	if under == e.previous {
		return e
	}
	own := *e
	if own.PathEffect, own.layered = (PathEffect{Path: e.Path, Unsure: true}), false; under != nil {
		own.takeEffectOf(under)
	}
	return &own
}

// Answers are the results of commands run for one resource. A plan may look several times, and no
// command should run again.
type Answers struct {
	mu      sync.Mutex
	answers map[string]answer
}

type answer struct {
	res command.Result
	err error
}

// KnownAnswers returns the cached answers of commands, nil if there is no cache.
func (l *Looks) KnownAnswers() *Answers {
	if l == nil {
		return nil
	}
	return l.Answers
}

// Ask returns the result of c from the cache, or runs it.
func (a *Answers) Ask(c command.Cmd, run func() (command.Result, error)) (command.Result, error) {
	if a == nil {
		return run()
	}
	key := fmt.Sprintf("%q", [][]string{c.Argv, c.Env, {c.Dir, c.Path, string(c.Stdin)}})
	a.mu.Lock()
	defer a.mu.Unlock()
	x, ok := a.answers[key]
	if !ok {
		x.res, x.err = run()
		if a.answers == nil {
			a.answers = make(map[string]answer)
		}
		a.answers[key] = x
	}
	return x.res, x.err
}
