// Package facts has the facts about a machine: a tree of plain data (nil, bool, int64, float64, string, []any,
// map[string]any). A branch is gathered on first use, at most once in a run.
//
// Begin with [New] and [Facts.Get].
package facts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// A Gatherer gathers one branch of the tree.
type Gatherer struct {
	// Name is the name of the branch at the top of the tree.
	Name string
	// Doc describes the branch in one sentence for users.
	Doc string
	// Costly marks a branch that takes more than a few milliseconds.
	Costly bool
	// OnlyNamed leaves the branch out of the whole tree: it is gathered only by its name.
	OnlyNamed bool
	// CacheTime is how long an answer may be kept for later commands, until the machine boots again;
	// 0 for not at all.
	CacheTime time.Duration
	// Volatile are the paths below the branch of facts that change without anybody changing the machine: "" for the
	// whole branch, * for all items of a list and all names of a table ([WithoutVolatile]).
	Volatile []string
	// Gather gathers the branch. An error goes to the caller that asks for the branch. Nil means that
	// the machine does not have it, and the branch is absent.
	Gather func(ctx context.Context, v *host.View) (any, error)
}

// Facts is a read-only tree of facts. It is safe for concurrent use.
type Facts struct {
	view     *host.View
	names    []string
	branches map[string]*branch
}

type branch struct {
	Gatherer
	once     func() (any, error)
	gathered bool
	mu       sync.Mutex
}

// New returns the facts of the machine of v. The values in over are merged over gathered ones, at
// any depth, and win.
func New(ctx context.Context, v *host.View, gatherers []Gatherer, over map[string]any) *Facts {
	f := &Facts{view: v, branches: make(map[string]*branch)}
	for _, g := range gatherers {
		extra, replaced := over[g.Name]
		b := &branch{Gatherer: g}
		b.once = sync.OnceValues(func() (any, error) {
			if _, isMap := extra.(map[string]any); replaced && !isMap {
				return extra, nil
			}
			val, err := g.Gather(ctx, v)
			if err != nil {
				return nil, fmt.Errorf("fact %s: %w", g.Name, err)
			}
			if replaced {
				return Merge(val, extra), nil
			}
			return val, nil
		})
		f.branches[g.Name] = b
	}
	for name, val := range over {
		if f.branches[name] == nil {
			f.branches[name] = &branch{Gatherer: Gatherer{Name: name}, once: func() (any, error) { return val, nil }, gathered: true}
		}
	}
	f.names = slices.Sorted(maps.Keys(f.branches))
	return f
}

// Static returns facts that are known already.
func Static(tree map[string]any) *Facts {
	return New(context.Background(), nil, nil, tree)
}

// Merge lays over over base: maps are merged deep, anything else is replaced.
// Neither argument is changed.
func Merge(base, over any) any {
	b, ok1 := base.(map[string]any)
	o, ok2 := over.(map[string]any)
	if !ok1 || !ok2 {
		return over
	}
	out := make(map[string]any, len(b)+len(o))
	maps.Copy(out, b)
	for k, v := range o {
		if old, ok := out[k]; ok {
			out[k] = Merge(old, v)
			continue
		}
		out[k] = v
	}
	return out
}

// View returns the machine that the facts are of; the one that this process runs on for [Static] facts.
func (f *Facts) View() *host.View {
	if f == nil || f.view == nil {
		return thisMachine()
	}
	return f.view
}

// Names returns the names at the top of the tree in order.
func (f *Facts) Names() []string { return f.names }

// Gatherer returns the gatherer of the branch with that name.
func (f *Facts) Gatherer(name string) (Gatherer, bool) {
	b, ok := f.branches[name]
	if !ok {
		return Gatherer{}, false
	}
	return b.Gatherer, true
}

// Gathered reports whether the branch with that name is gathered already.
func (f *Facts) Gathered(name string) bool {
	b, ok := f.branches[name]
	if !ok {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.gathered
}

// Branch returns one branch at the top of the tree; it gathers the branch if necessary.
func (f *Facts) Branch(name string) (any, error) {
	b, ok := f.branches[name]
	if !ok {
		return nil, &NotFoundError{Path: name, Part: name, Alternatives: f.names}
	}
	val, err := b.once()
	b.mu.Lock()
	b.gathered = true
	b.mu.Unlock()
	if val == nil && err == nil {
		return nil, &NotFoundError{Path: name, Part: name}
	}
	return val, err
}

// A NotFoundError reports that a fact does not exist.
type NotFoundError struct {
	Path         string   // that was asked for
	Part         string   // the first name of Path that does not exist
	Alternatives []string // existing names at that place
	// Scalar describes the value on the way that has no fields, such as "os.release is a text"; "" if
	// there is none.
	Scalar string
}

// Error reports which fact is not there.
func (e *NotFoundError) Error() string {
	if e.Scalar != "" {
		return fmt.Sprintf("no fact %q: %s", e.Path, e.Scalar)
	}
	return fmt.Sprintf("no fact %q", e.Path)
}

// Hint returns the name of the fact if the path is one of another program, else the path with the nearest name, or "".
func (e *NotFoundError) Hint() string {
	if hint := HintElsewhere(e.Path); hint != "" {
		return hint
	}
	near := diag.Nearest(e.Part, e.Alternatives)
	if near == "" {
		return ""
	}
	before := strings.Index("."+e.Path+".", "."+e.Part+".")
	return fmt.Sprintf("did you mean %q?", e.Path[:max(before, 0)]+near)
}

// Flat returns the name in names for a part of a text: release_major for the part major of release.
// Facts have such names because a text has no fields; a path may use either notation. It is "" if
// there is none.
func Flat(text, part string, names []string) string {
	if name := text + "_" + part; slices.Contains(names, name) {
		return name
	}
	return ""
}

// scalarType names the type of a value that has no fields; "" for a list or a table.
func scalarType(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	}
	return ""
}

// Get returns the fact at a dotted path, such as os.family; list items by their
// number from 0. A backslash before a dot makes it part of a name, as in
// net.interfaces.eth0\.100.ip. The empty path is the whole tree. The error is a
// [*NotFoundError] if there is no such fact.
func (f *Facts) Get(path string) (any, error) {
	if path == "" {
		return f.Tree()
	}
	return f.at(path, splitPath(path))
}

// At is Get for a path whose names are separate already.
func (f *Facts) At(parts []string) (any, error) {
	escaped := make([]string, len(parts))
	for i, part := range parts {
		escaped[i] = escapeName.Replace(part)
	}
	return f.at(strings.Join(escaped, "."), parts)
}

func (f *Facts) at(path string, parts []string) (any, error) {
	val, err := f.Branch(parts[0])
	if err != nil {
		if nf, ok := err.(*NotFoundError); ok {
			nf.Path = path
		}
		return nil, err
	}
	var siblings map[string]any // the map that val is in
	for i, part := range parts[1:] {
		var known []string
		ok, at := false, val
		switch x := val.(type) {
		case map[string]any:
			siblings = x
			if val, ok = x[part]; !ok {
				known = slices.Sorted(maps.Keys(x))
			}
		case []any:
			if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(x) {
				val, ok = x[i], true
			}
			siblings = nil
		case string:
			if val, ok = siblings[parts[i]+"_"+part]; ok {
				siblings = nil
			}
		}
		if !ok {
			e := &NotFoundError{Path: path, Part: part, Alternatives: known}
			if typ := scalarType(at); typ != "" {
				e.Scalar = strings.Join(parts[:i+1], ".") + " is " + typ
			}
			return nil, e
		}
	}
	return val, nil
}

// Tree gathers all branches except those with OnlyNamed. It leaves out absent branches, and
// branches with an error, which is part of the returned error.
func (f *Facts) Tree() (map[string]any, error) {
	tree := make(map[string]any, len(f.names))
	var errs diag.List
	for _, name := range f.names {
		if f.branches[name].OnlyNamed {
			continue
		}
		val, err := f.Branch(name)
		if _, absent := errors.AsType[*NotFoundError](err); absent {
			continue
		}
		if err != nil {
			errs.Add(err)
			continue
		}
		tree[name] = val
	}
	return tree, errs.Err()
}
