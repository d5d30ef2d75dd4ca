package host

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// What plans assume and look at, as package overlay has it.
type (
	Planned       = overlay.Planned
	Account       = overlay.Account
	Look          = overlay.Look
	Looks         = overlay.Looks
	LookKind      = overlay.LookKind
	Answers       = overlay.Answers
	NotKnownError = overlay.NotKnownError
)

// The kinds of looks.
const (
	PathLook       = overlay.PathLook
	DirectoryLook  = overlay.DirectoryLook
	TreeLook       = overlay.TreeLook
	UserLook       = overlay.UserLook
	GroupLook      = overlay.GroupLook
	ProgramLook    = overlay.ProgramLook
	CommandLook    = overlay.CommandLook
	UnitLook       = overlay.UnitLook
	RepositoryLook = overlay.RepositoryLook
)

// NoAccount is the number of a user or group that is not there yet.
const NoAccount = overlay.NoAccount

// Errors of looks in plans.
var (
	ErrNotKnown  = overlay.ErrNotKnown
	ErrNeedsRoot = overlay.ErrNeedsRoot
)

// NeedsRoot returns an error that says that root is needed for something, unless
// this process is root's.
func NeedsRoot(what string) error { return overlay.NeedsRoot(what) }

// Planning returns a view of the same machine that can be told what a plan
// assumes. Whatever is looked at through it counts as if that had been done. What is
// fetched for that is fetched within the context.
func (v *View) Planning(ctx context.Context) *View {
	return &View{machine: v.machine, plan: overlay.New(ctx, underlay{&View{machine: v.machine}})}
}

// An underlay is the machine as an overlay sees it.
type underlay struct{ *View }

// FetchSource returns what is behind a URL.
func (u underlay) FetchSource(ctx context.Context, url string) ([]byte, error) {
	return u.fetch(ctx, url)
}

// InScratch reports whether a path of the operating system is that of a scratch directory,
// or of something in one.
func (u underlay) InScratch(name string) bool { return u.inScratch(name) }

// ReadNames is ReadDir for one call that reads names.
func (u underlay) ReadNames(name string, r *safepath.NameReader) ([]string, error) {
	return u.readDir(name, r)
}

// planned returns the overlay that looks have to heed, nil if there is none.
func (v *View) planned() *overlay.View {
	if !v.plan.IsActive() {
		return nil
	}
	return v.plan
}

// IsPlan reports whether v is that of a plan.
func (v *View) IsPlan() bool { return v.plan != nil }

// Assume makes every look answer as if p stood there. It does nothing outside
// plans.
func (v *View) Assume(p ...Planned) { v.AssumeBy(nil, false, p...) }

// AssumeBy is Assume that says who brings it about. What is tentative is so only
// if that one does what it is expected to do: looks at it are in doubt
// ([Looks.Doubts]).
func (v *View) AssumeBy(by any, tentative bool, p ...Planned) {
	if v.plan != nil {
		v.plan.Assume(by, tentative, p...)
	}
}

// Assumed reports whether a plan assumes something about the path. What stands
// there now then says nothing about what will.
func (v *View) Assumed(name string) (FileKind, bool) {
	if v.plan == nil {
		return Missing, false
	}
	return v.plan.Assumed(name)
}

// Assumes reports whether anything is assumed that one of authors brings about.
func (v *View) Assumes(authors map[any]bool) bool { return v.plan != nil && v.plan.Assumes(authors) }

// Without returns a view for which nothing counts that is assumed because of
// authors (AssumeBy). It is v outside plans.
func (v *View) Without(authors map[any]bool) *View {
	if v.plan == nil {
		return v
	}
	return &View{machine: v.machine, plan: v.plan.Without(authors)}
}

// IsDoubtful reports whether a plan assumes something that is not sure.
func (v *View) IsDoubtful() bool { return v.plan != nil && v.plan.IsDoubtful() }

// NotKnown returns the error that nobody knows what will stand at a path of which
// a plan assumes something.
func (v *View) NotKnown(name string) error {
	err := &NotKnownError{Path: name}
	if v.plan != nil {
		err.By = v.plan.Bringer(name)
	}
	return err
}

// PathOf returns a path without links in its directory, as a plan has it.
func (v *View) PathOf(name string) string {
	if v.plan == nil {
		return path.Clean(name)
	}
	return v.plan.PathOf(name)
}

// Recording returns a view that remembers what is looked at in l. Outside plans it
// remembers nothing.
func (v *View) Recording(l *Looks) *View {
	if v.plan == nil {
		return v
	}
	return &View{machine: v.machine, plan: v.plan.Recording(l)}
}

// Looked notes that something was looked at by other ways than the file system. It
// reports whether it is there or is to count as there.
func (v *View) Looked(kind LookKind, name string, found bool) bool {
	if v.plan == nil {
		return found
	}
	return v.plan.Looked(kind, name, found)
}

// HangsOn notes that what was seen depends on what is at some paths, and below
// them.
func (v *View) HangsOn(names ...string) {
	if v.plan != nil {
		v.plan.HangsOn(names...)
	}
}

// Permits returns an error if the user of this process may not bring about what is
// planned. It is found out without trying.
func (v *View) Permits(list ...Planned) error {
	if v.plan == nil {
		return nil
	}
	return v.plan.Permits(list...)
}

// AskMany returns what command says of each of the names, in which no name stands twice. Ask
// puts the question about some of them; its answer has an entry for each that the command
// answered for. In a plan, ask is called only for names that it was not called for before.
// An error is not remembered.
func AskMany[T any](v *View, command string, names []string, ask func(names []string) (map[string]T, error)) (map[string]T, error) {
	if v.plan == nil {
		return ask(names)
	}
	return overlay.AskMany(v.plan, command, names, ask)
}

// LookPath finds a command as [command.LookPath] does. In a plan, what is assumed counts.
// Dir is where a name with a slash that is no absolute path begins.
func (v *View) LookPath(name, list, dir string) (string, error) {
	if v.plan.IsRecording() {
		return v.plan.LookPath(name, list, dir)
	}
	file := name
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		file = filepath.Join(v.root, dir, name)
	}
	if _, err := os.Stat(file); strings.Contains(name, "/") && os.IsNotExist(err) {
		return "", fmt.Errorf("command %q not found", name)
	}
	return command.LookPath(name, list)
}

// CommandText returns what is written in a command: its words, and, in a plan, the text of
// the scripts that are among them.
func (v *View) CommandText(c Cmd) string { return v.plan.CommandText(c) }

// Query runs a command that only asks.
func (v *View) Query(ctx context.Context, c Cmd) (Result, error) {
	if err := v.refused(c); err != nil {
		return Result{}, err
	}
	var known *Answers
	if o := v.planned(); o != nil {
		if res, answered, err := o.Query(c); answered {
			return res, err
		}
		known = o.Answers()
	}
	c.Root = v.root
	return known.Ask(c, func() (Result, error) { return v.runner.Run(ctx, c) })
}
