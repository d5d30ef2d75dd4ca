package overlay

import (
	"errors"
	"slices"
	"sync"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A LookKind is the kind of thing that a look asks about.
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

// MattersMissing reports whether a look makes a difference only if it finds nothing
// and something fails for that: a parent, an owner, a program.
func (k LookKind) MattersMissing() bool {
	return k == DirectoryLook || k == UserLook || k == GroupLook || k == ProgramLook || k == UnitLook
}

// A Look is something that was looked at.
type Look struct {
	Kind LookKind
	// Name is a path without links in its directory, or the name of the other kinds.
	Name string
	// Found says that there is such a thing now, or will be.
	Found bool
}

// Looks remembers what a plan looked at on behalf of one resource.
type Looks struct {
	// Grant, if it is set, says whether something that is missing is to count as
	// there. It is asked about directories, users, groups and programs. Doubts are those who
	// may bring it, as Assume was told of them.
	Grant func(l Look, doubts []any) bool
	// Answers are what is known already of what commands say. May be nil.
	Answers *Answers

	mu     sync.Mutex
	list   []Look
	doubts []any
	vague  []vagueLook
}

// A vagueLook is a look at something of a kind that nobody knows yet.
type vagueLook struct {
	path    string
	by      any
	missing bool // nothing stands there now
}

// Recording returns a view that notes in l what is looked at; nil for one that does not.
func (o *View) Recording(l *Looks) *View {
	x := *o
	x.looks = l
	return &x
}

// Looks returns where it is noted what is looked at; nil if it is not.
func (o *View) Looks() *Looks {
	if o == nil {
		return nil
	}
	return o.looks
}

// List returns what was looked at.
func (l *Looks) List() []Look {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// IsEmpty reports whether nothing was looked at.
func (l *Looks) IsEmpty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)+len(l.doubts) == 0
}

// IsVague reports whether something of a kind that nobody knows yet was looked at. It was seen
// as a file.
func (l *Looks) IsVague() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.vague) > 0
}

// Imagined returns who will bring something of a kind that nobody knows yet to a path at which
// nothing stands now. The attributes that were seen of it are made up.
func (l *Looks) Imagined(path string) map[any]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var by map[any]bool
	for _, x := range l.vague {
		if x.missing && x.path == path {
			if by == nil {
				by = make(map[any]bool)
			}
			by[x.by] = true
		}
	}
	return by
}

// Doubts returns the authors (see [View.Assume]) who may leave something else than was
// seen, each once.
func (l *Looks) Doubts() []any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.doubts)
}

// add notes a look, unless it is granted.
func (l *Looks) add(x Look, doubts ...any) bool {
	if !x.Found && l.Grant != nil && l.Grant(x, doubts) {
		return true
	}
	l.note(x)
	l.doubt(doubts...)
	return x.Found
}

// note notes a look.
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
		if x != nil && !slices.Contains(l.doubts, x) {
			l.doubts = append(l.doubts, x)
		}
	}
}

// path notes a look at a path that leads to p.
func (l *Looks) path(p place, deep bool) {
	x := Look{Kind: PathLook, Name: p.path, Found: p.info.Kind != safepath.Missing}
	if deep {
		x.Kind = TreeLook
	}
	l.note(x)
	l.doubt(p.doubts...)
	if p.vague {
		l.doubt(p.entry.by)
		l.mu.Lock()
		defer l.mu.Unlock()
		if x := (vagueLook{p.path, p.entry.by, p.imagined}); !slices.Contains(l.vague, x) {
			l.vague = append(l.vague, x)
		}
	}
}

// directory notes a question whether a directory stands at a path, and reports
// whether it counts as one.
func (l *Looks) directory(p place, is bool) bool {
	doubts := p.doubts
	if p.vague {
		doubts = append(slices.Clone(doubts), p.entry.by)
	}
	x := Look{Kind: DirectoryLook, Name: p.path, Found: is}
	if p.info.Kind != safepath.Missing {
		x.Found = true // no pending resource makes another kind of it
		l.add(x, doubts...)
		return is
	}
	return l.add(x, doubts...)
}

// RecordLook records a look by other ways than the file system, such as a command. It
// reports whether the thing is there or is to count as there.
func (o *View) RecordLook(kind LookKind, name string, found bool) bool {
	l := o.Looks()
	if l == nil {
		return found
	}
	return l.add(Look{kind, name, found})
}

// NoteError records as a doubt the author whose pending effect an error is about.
func (l *Looks) NoteError(err error) {
	if e, ok := errors.AsType[*NotKnownError](err); ok && l != nil {
		l.doubt(e.By)
	}
}
