package host

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/luaccm/ccm/runtime/host/fetch"
)

// A Planned is what a plan assumes to stand at a path after something earlier
// in the order has been done. Where something will stand, so will the
// directories above it.
type Planned struct {
	Path string
	Kind FileKind
	// Content is what a file will hold; nil if nobody knows, or Source or Kept is
	// set.
	Content *string
	// Source is the file of the user whose content it will hold (see OpenSource).
	Source string
	// Kept says that a file holds what it did.
	Kept bool
	// Attr is its owner, group and mode; nil if they are not known, or stay.
	Attr *Attr
	// Target is where a symbolic link will point.
	Target string
	// Vague says that something will stand there, and Kind is not known.
	Vague bool
	// Unsure says that nobody knows whether anything will stand there, or below.
	Unsure bool
	// Open says that nobody knows what will be in a directory.
	Open bool
	// Account is a user or group that there will be; nothing is said of a path then.
	Account *Account
}

// An Account is a user or a group.
type Account struct {
	Kind LookKind // UserLook or GroupLook
	Name string
	ID   uint32 // NoAccount if it is not known
}

// ErrNotKnown means that nobody knows yet what a look will find: in a plan,
// something earlier in the order is going to bring or change it.
var ErrNotKnown = errors.New("what it will hold is not known before it is written")

// A NotKnownError is an [ErrNotKnown] about one path.
type NotKnownError struct {
	Path string
	By   any // that brings it, as Assume was told
}

// Error names the path.
func (e *NotKnownError) Error() string { return e.Path + ": " + ErrNotKnown.Error() }

// Unwrap returns ErrNotKnown.
func (e *NotKnownError) Unwrap() error { return ErrNotKnown }

// An overlay is what a plan assumes of the file system, as one view has it.
type overlay struct {
	*assumptions
	// without is those whose assumptions do not count.
	without map[any]bool
	// dirs remembers directories that were walked to, by the path that was asked
	// for. It is replaced when one may have become another.
	dirs atomic.Pointer[sync.Map]
}

// Assumptions is all that a plan assumes. Its paths have no links in their
// directories.
type assumptions struct {
	ctx    context.Context // of the plan
	base   *View           // the machine as it is
	active atomic.Bool
	// doubtful is set once something is assumed that is not sure.
	doubtful atomic.Bool

	mu      sync.RWMutex
	entries map[string]*planEntry
	// below has, by directory, the names under which there are entries, or entries
	// further down.
	below map[string]map[string]bool
	// accounts are the users and groups that there will be.
	accounts map[accountKey]*planEntry
	// authors are those who bring about what is assumed.
	authors map[any]bool
	// answers are what commands have said, see AskMany.
	answers sync.Map
}

// A planEntry is what is assumed of one path.
type planEntry struct {
	Planned
	by any
	// tentative says that it is so only if what by stands for does what its forecast
	// says.
	tentative bool
	// layered says that an unsure entry lies over what was assumed before, which the
	// rest of it tells.
	layered bool
	// fresh says that nothing of what stands below it now will.
	fresh bool
	// under is what was assumed before, nil for nothing.
	under *planEntry
	depth int // how many are under it
}

// mostUnder is how much of what was assumed before of one path is remembered.
const mostUnder = 8

func newOverlay(ctx context.Context, m *machine) *overlay {
	o := &overlay{assumptions: &assumptions{
		ctx: ctx, base: &View{machine: m}, entries: make(map[string]*planEntry), below: make(map[string]map[string]bool), authors: make(map[any]bool),
		accounts: make(map[accountKey]*planEntry),
	}}
	o.dirs.Store(new(sync.Map))
	return o
}

// Planning returns a view of the same machine that can be told what a plan
// assumes. Whatever is looked at through it counts as if that had been done. What is
// fetched for that is fetched within the context.
func (v *View) Planning(ctx context.Context) *View {
	return &View{machine: v.machine, plan: newOverlay(ctx, v.machine)}
}

// planned returns the overlay that looks have to heed, nil if there is none.
func (v *View) planned() *overlay {
	if v.plan == nil || v.looks == nil && !v.plan.active.Load() {
		return nil
	}
	return v.plan
}

// Assume makes every look answer as if p stood there. It does nothing outside
// plans.
func (v *View) Assume(p ...Planned) { v.AssumeBy(nil, false, p...) }

// AssumeBy is Assume that says who brings it about. What is tentative is so only
// if that one does what it is expected to do: looks at it are in doubt
// ([Looks.Doubts]).
func (v *View) AssumeBy(by any, tentative bool, p ...Planned) {
	if v.plan == nil {
		return
	}
	for _, x := range p {
		v.plan.assume(v, x, by, tentative)
	}
	if len(p) > 0 {
		v.plan.active.Store(true)
	}
}

func (o *overlay) assume(v *View, x Planned, by any, tentative bool) {
	if x.Account != nil {
		o.assumeAccount(x, by, tentative)
		return
	}
	at, err := o.find(x.Path, false)
	if err != nil || at.path == "" {
		at = place{path: path.Clean(x.Path)}
	}
	if tentative && (x.Kind == Regular || x.Kind == Symlink) && !x.Vague && at.missingAt != "" && at.missingAt != at.path {
		return // whoever brings the directory is to blame, and not what is put into it
	}
	x.Path = at.path
	e := &planEntry{Planned: x, by: by, tentative: tentative, fresh: at.fresh || at.info.Kind != Directory}
	if x.Source != "" && x.Content == nil {
		if content, known := o.contentOfSource(v, x.Source); known {
			e.Content, e.Source = content, ""
		} else if name, ok := o.ofMachine(x.Source); ok && !fetch.IsURL(x.Source) {
			if p, err := o.find(name, true); err == nil {
				e.Source = o.sourceAt(x.Source, p)
			}
		}
	}
	if x.Unsure {
		if end, err := o.find(x.Path, true); err == nil && end.path != x.Path && end.path != "" {
			o.assume(v, Planned{Path: end.path, Unsure: true}, by, tentative)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	old := o.entries[x.Path]
	e.over(old)
	if x.Unsure && old != nil {
		e.lie(old)
	}
	if x.Kept && old != nil && old.Kind == x.Kind {
		e.Content, e.Source, e.Kept = old.Content, old.Source, old.Kept
	}
	if x.Kind == Missing && !x.Unsure && !x.Vague {
		o.removeBelow(x.Path, e)
	}
	o.entries[x.Path] = e
	o.authors[by] = true
	if tentative || x.Unsure || x.Vague || x.Open {
		o.doubtful.Store(true)
	}
	for dir := path.Dir(x.Path); x.Path != "/"; dir = path.Dir(dir) {
		o.addBelow(dir, e, at)
		if dir == "/" {
			break
		}
	}
	if x.Kind != Regular || at.info.Kind == Directory || at.gone {
		o.dirs.Store(new(sync.Map))
	}
}

// over puts an entry over what was assumed before.
func (e *planEntry) over(old *planEntry) {
	if old != nil && old.by == e.by && e.by != nil {
		old = old.under
	}
	if old != nil && old.depth < mostUnder {
		e.under, e.depth = old, old.depth+1
	}
}

// lie makes an unsure entry say what was assumed before.
func (e *planEntry) lie(old *planEntry) {
	e.Planned, e.Unsure, e.layered, e.fresh = old.Planned, true, !old.Unsure || old.layered, old.fresh
}

// addBelow notes that there is something in a directory, which is made too if it
// is not there.
func (o *overlay) addBelow(dir string, e *planEntry, at place) {
	name := strings.TrimPrefix(strings.TrimPrefix(e.Path, strings.TrimSuffix(dir, "/")), "/")
	name, _, more := strings.Cut(name, "/")
	if o.below[dir] == nil {
		o.below[dir] = make(map[string]bool)
	}
	o.below[dir][name] = true
	child := path.Join(dir, name)
	if !more || e.Kind == Missing && !e.Vague && !e.Unsure || at.missingAt == "" || len(child) < len(at.missingAt) {
		return
	}
	if old := o.entries[child]; old == nil || old.Kind == Missing {
		made := &planEntry{
			Planned: Planned{Path: child, Kind: Directory, Unsure: e.Unsure}, by: e.by, tentative: e.tentative, fresh: true,
		}
		made.over(old)
		o.entries[child] = made
	}
}

// removeBelow makes nothing of what is assumed stand below a path that e removes.
func (o *overlay) removeBelow(name string, e *planEntry) {
	for base := range o.below[name] {
		child := path.Join(name, base)
		o.removeBelow(child, e)
		if old := o.entries[child]; old != nil && (old.Kind != Missing || old.Unsure || old.Vague) {
			gone := &planEntry{Planned: Planned{Path: child}, by: e.by, tentative: e.tentative, fresh: true}
			gone.over(old)
			o.entries[child] = gone
		}
	}
}

// at returns what is assumed of a path without links in its directory.
func (o *overlay) at(name string) *planEntry {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.counted(o.entries[name])
}

// namesBelow returns the names in a directory of which something is assumed.
func (o *overlay) namesBelow(dir string) []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return slices.Sorted(maps.Keys(o.below[dir]))
}

// bringers returns who may make something below a path at which nothing stands.
func (o *overlay) bringers(name string) []any {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var list []any
	var visit func(name string)
	visit = func(name string) {
		if e := o.counted(o.entries[name]); e != nil && (e.Unsure || e.Vague || e.tentative) {
			list = append(list, e.by)
		}
		for child := range o.below[name] {
			visit(path.Join(name, child))
		}
	}
	visit(name)
	return list
}

// IsDoubtful reports whether a plan assumes something that is not sure.
func (v *View) IsDoubtful() bool { return v.plan != nil && v.plan.doubtful.Load() }

// asIs reports whether what stands there now counts.
func (e *planEntry) asIs() bool {
	return e == nil || e.Unsure && !e.layered || e.Kept && !e.Vague
}

// Assumed reports whether a plan assumes something about the path. What stands
// there now then says nothing about what will.
func (v *View) Assumed(name string) (FileKind, bool) {
	if v.plan == nil || !v.plan.active.Load() {
		return Missing, false
	}
	p, err := v.plan.find(name, false)
	if err != nil || p.entry == nil || p.entry.Path != p.path {
		return Missing, false
	}
	return p.entry.Kind, true
}

// NotKnown returns the error that nobody knows what will stand at a path of which
// a plan assumes something.
func (v *View) NotKnown(name string) error {
	err := &NotKnownError{Path: name}
	if v.plan != nil {
		if p, findErr := v.plan.find(name, false); findErr == nil && p.entry != nil {
			err.By = p.entry.by
		}
	}
	return err
}

// PathOf returns a path without links in its directory, as a plan has it.
func (v *View) PathOf(name string) string {
	if v.plan == nil {
		return path.Clean(name)
	}
	p, err := v.plan.find(name, false)
	if err != nil {
		return path.Clean(name)
	}
	return p.path
}
