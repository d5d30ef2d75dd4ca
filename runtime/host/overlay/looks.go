package overlay

import (
	"errors"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A LookKind is the kind of thing that a look is about.
type LookKind uint8

// The kinds of looks.
const (
	PathLook       LookKind = iota // a path
	DirectoryLook                  // whether a directory stands at a path
	TreeLook                       // a path and what is below it
	UserLook                       // a user, by name
	GroupLook                      // a group, by name
	ProgramLook                    // where a command is, by its name or path
	CommandLook                    // what a command said, by its words
	UnitLook                       // a unit of the service manager, by name
	RepositoryLook                 // what the repositories have of a package, by name
)

// MattersMissing reports whether a look matters only if it finds nothing and therefore something
// fails: a parent, an owner, a program.
func (k LookKind) MattersMissing() bool {
	return k == DirectoryLook || k == UserLook || k == GroupLook || k == ProgramLook || k == UnitLook
}

// A Look is one question about the machine.
type Look struct {
	Kind LookKind
	// Name is a path without links in its directory, or the name of the other kinds.
	Name string
	// Found is set if there is such a thing now, or will be.
	Found bool
}

// Looks remembers what a plan looked at on behalf of one resource.
type Looks struct {
	// Grant, if not nil, decides whether a missing thing counts as there. It is asked about
	// directories, users, groups and programs. Doubts are the authors who may bring the thing, as
	// given to Assume.
	Grant func(l Look, doubts []any) bool
	// Answers is the cache of results of commands. May be nil.
	Answers *Answers

	mu     sync.Mutex
	list   []Look
	doubts []any
	// doubted are the authors in doubts: in a plan of many commands these are thousands.
	doubted map[any]bool
	vague   []vagueLook
	// reads are the looks at paths on which alone the results of commands depend, by the words of
	// these.
	reads map[string][]Look
}

// A vagueLook is a look at something whose kind is not known yet.
type vagueLook struct {
	path    string
	author  any
	missing bool // nothing is there now
}

// Recording returns a view that records its looks in l; with nil it records none.
func (o *View) Recording(l *Looks) *View {
	x := *o
	x.looks = l
	return &x
}

// Looks returns the record of looks; nil if there is none.
func (o *View) Looks() *Looks {
	if o == nil {
		return nil
	}
	return o.looks
}

// List returns the recorded looks.
func (l *Looks) List() []Look {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// ListReads is List with looks at paths in place of the commands that depend on nothing else.
func (l *Looks) ListReads() (list []Look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.list {
		reads, ok := l.reads[x.Name]
		if x.Kind != CommandLook || !ok {
			reads = []Look{x}
		}
		list = append(list, reads...)
	}
	return list
}

func (l *Looks) noteReads(command string, reads []Look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reads == nil {
		l.reads = make(map[string][]Look)
	}
	l.reads[command] = reads
}

// IsEmpty reports whether there are no looks.
func (l *Looks) IsEmpty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)+len(l.doubts) == 0
}

// IsVague reports whether there was a look at something whose kind is not known yet. The look has
// seen a file there.
func (l *Looks) IsVague() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.vague) > 0
}

// Imagined returns the authors who will bring something of unknown kind to a path that is missing
// now. The attributes that the look has seen are invented.
func (l *Looks) Imagined(path string) map[any]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var by map[any]bool
	for _, x := range l.vague {
		if x.missing && x.path == path {
			if by == nil {
				by = make(map[any]bool)
			}
			by[x.author] = true
		}
	}
	return by
}

// Doubts returns the authors (see [View.Assume]) who may leave something else than the looks have
// seen, each once.
func (l *Looks) Doubts() []any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.doubts)
}

// add records a look, unless Grant lets the thing count as there. It reports whether the thing
// counts as there.
func (l *Looks) add(x Look, doubts ...any) bool {
	if !x.Found && l.Grant != nil && l.Grant(x, doubts) {
		return true
	}
	l.note(x)
	l.doubt(doubts...)
	return x.Found
}

// note records a look.
func (l *Looks) note(x Look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.list, x) {
		l.list = append(l.list, x)
	}
}

func (l *Looks) doubt(by ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteDoubts(by)
}

func (l *Looks) noteDoubts(by []any) {
	for _, x := range by {
		if x == nil || l.doubted[x] {
			continue
		}
		if l.doubted == nil {
			l.doubted = make(map[any]bool)
		}
		l.doubted[x], l.doubts = true, append(l.doubts, x)
	}
}

// recordPath records a look at a path that leads to p.
func (l *Looks) recordPath(p place, deep bool) {
	x := Look{Kind: PathLook, Name: p.path, Found: p.info.Kind != safepath.Missing}
	if deep {
		x.Kind = TreeLook
	}
	l.note(x)
	l.doubt(p.doubts...)
	if p.vague {
		l.doubt(p.entry.author)
		l.mu.Lock()
		defer l.mu.Unlock()
		if x := (vagueLook{p.path, p.entry.author, p.imagined}); !slices.Contains(l.vague, x) {
			l.vague = append(l.vague, x)
		}
	}
}

// recordDirectory records the question whether a path is a directory, and reports whether it counts as
// one.
func (l *Looks) recordDirectory(p place, is bool) bool {
	doubts := p.doubts
	if p.vague {
		doubts = append(slices.Clone(doubts), p.entry.author)
	}
	x := Look{Kind: DirectoryLook, Name: p.path, Found: is}
	if p.info.Kind != safepath.Missing {
		x.Found = true // no pending resource turns it into a directory
		l.add(x, doubts...)
		return is
	}
	return l.add(x, doubts...)
}

// RecordLook records a look that was made other than by files, such as by a command. It reports
// whether the thing is there or counts as there.
func (o *View) RecordLook(kind LookKind, name string, found bool) bool {
	l := o.Looks()
	if l == nil {
		return found
	}
	return l.add(Look{kind, name, found})
}

// NoteError records the author whose pending effect an error is about, as a doubt.
func (l *Looks) NoteError(err error) {
	if e, ok := errors.AsType[*NotKnownError](err); ok && l != nil {
		l.doubt(e.Author)
	}
}
