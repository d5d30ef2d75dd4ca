package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// What plans assume and look at, as package overlay has it.
type (
	PathEffect    = overlay.PathEffect
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

// PathsInText returns the absolute paths that are in a text.
func PathsInText(text string) []string { return overlay.PathsInText(text) }

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

// OpenUserFile opens a file of the user.
func (u underlay) OpenUserFile(name string) (*os.File, error) { return u.Sources().OpenFile(name) }

// FetchSource returns what is behind a URL.
func (u underlay) FetchSource(ctx context.Context, url string) ([]byte, error) {
	return u.Sources().fetch(ctx, url)
}

// InScratch reports whether a path of the operating system is that of a scratch directory,
// or of something in one.
func (u underlay) InScratch(name string) bool { return u.inScratch(name) }

// ReadNames is ReadDir for one call that reads names.
func (u underlay) ReadNames(name string, r *safepath.NameReader) ([]string, error) {
	return u.readDir(name, r)
}

// ReadTree is Tree for one call that reads names.
func (u underlay) ReadTree(name string, r *safepath.NameReader) ([]TreeEntry, error) {
	return u.tree(name, r)
}

// planned returns the overlay that looks have to heed, nil if there is none.
func (v *View) planned() *overlay.View {
	if !v.plan.IsActive() {
		return nil
	}
	return v.plan
}

// Plan returns what a plan assumes over the machine. Outside plans it is nil, which assumes
// nothing and notes nothing.
func (v *View) Plan() *overlay.View { return v.plan }

// IsPlan reports whether v is that of a plan.
func (v *View) IsPlan() bool { return v.plan != nil }

// Without returns a view for which nothing counts that is assumed because of
// authors (see [overlay.View.Assume]). It is v outside plans.
func (v *View) Without(authors map[any]bool) *View {
	if v.plan == nil {
		return v
	}
	return &View{machine: v.machine, plan: v.plan.Without(authors)}
}

// Recording returns a view that remembers what is looked at in l. Outside plans it
// remembers nothing.
func (v *View) Recording(l *Looks) *View {
	if v.plan == nil {
		return v
	}
	return &View{machine: v.machine, plan: v.plan.Recording(l)}
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
	if v.plan.Looks() != nil {
		return v.plan.Commands().LookPath(name, list, dir)
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

// Query runs a command that only asks.
func (v *View) Query(ctx context.Context, c Cmd) (Result, error) {
	if err := v.refused(c); err != nil {
		return Result{}, err
	}
	var known *Answers
	if o := v.planned(); o != nil {
		if res, answered, err := o.Commands().Query(c); answered {
			return res, err
		}
		known = o.Looks().KnownAnswers()
	}
	c.Files = v.files
	return known.Ask(c, func() (Result, error) { return v.runner.Run(ctx, c) })
}
