package host

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// PendingNumber returns the number of an account that will exist, or a placeholder. It is not ok
// outside of a plan.
func PendingNumber(v *View, a *overlay.Account) (id uint32, ok bool) {
	if v.overlay == nil {
		return 0, false
	}
	return overlay.Placeholder(v.overlay, a), true
}

// AccountAuthors returns the authors of the users and groups that a plan assumes, at most [overlay.MostCreators] or so.
func AccountAuthors(v *View) []any { return overlay.AccountAuthors(v.planned()) }

// ChangesAccounts reports whether an author changes a user or group in a plan.
func ChangesAccounts(v *View, by any) bool { return overlay.ChangesAccounts(v.planned(), by) }

// Planning returns a view of the same machine for a plan. Effects can be assumed over it; looks
// see them as done. The context ends the downloads that such looks need.
func (v *View) Planning(ctx context.Context) *View {
	return &View{machine: v.machine, overlay: overlay.New(ctx, underlay{&View{machine: v.machine}})}
}

// An underlay is the machine as an overlay sees it.
type underlay struct{ *View }

// OpenUserFile opens a file of the user.
func (u underlay) OpenUserFile(name string) (*os.File, error) { return u.Sources().OpenFile(name) }

// FetchSource returns what is behind a URL.
func (u underlay) FetchSource(ctx context.Context, url string) ([]byte, error) {
	return u.Sources().fetch(ctx, url)
}

// InScratch reports whether a path of the operating system is a scratch directory or below one.
func (u underlay) InScratch(name string) bool { return u.inScratch(name) }

// ReadNames is ReadDir with the limit of a call that reads names.
func (u underlay) ReadNames(name string, r *safepath.NameReader) ([]string, error) {
	return u.readDir(name, r)
}

// ReadTree is Tree with the limit of a call that reads names.
func (u underlay) ReadTree(name string, r *safepath.NameReader) ([]safepath.TreeEntry, error) {
	return u.tree(name, r)
}

// planned returns the overlay that looks have to go through, nil if they need none.
func (v *View) planned() *overlay.View {
	if !v.overlay.IsActive() {
		return nil
	}
	return v.overlay
}

// Overlay returns the overlay of a plan. It is nil outside plans; a nil overlay assumes and records
// nothing.
func (v *View) Overlay() *overlay.View { return v.overlay }

// IsPlan reports whether v is the view of a plan.
func (v *View) IsPlan() bool { return v.overlay != nil }

// Without returns a view without the effects that are assumed because of authors (see
// [overlay.View.Assume]). Outside plans it returns v.
func (v *View) Without(authors map[any]bool) *View {
	if v.overlay == nil {
		return v
	}
	return &View{machine: v.machine, overlay: v.overlay.Without(authors)}
}

// Recording returns a view that records its looks in l. Outside plans it records nothing.
func (v *View) Recording(l *overlay.Looks) *View {
	if v.overlay == nil {
		return v
	}
	return &View{machine: v.machine, overlay: v.overlay.Recording(l)}
}

// AskMany returns the answers of a command about names, which must be distinct. Ask runs the
// command for some of the names; its answer has an entry for each name that the command knows. A
// plan asks once about each name. Errors are not cached.
func AskMany[T any](v *View, command string, names []string, ask func(names []string) (map[string]T, error)) (map[string]T, error) {
	if v.overlay == nil {
		return ask(names)
	}
	return overlay.AskMany(v.overlay, command, names, ask)
}

// LookPath finds a command like [command.LookPath], by its path for the operating system. In a plan it sees assumed
// files. A relative name with a slash begins in dir. Below a root that commands enter it looks there, for those of
// [command.DefaultPath] if list is empty.
func (v *View) LookPath(name, list, dir string) (string, error) {
	if v.overlay.Looks() != nil {
		return v.overlay.Commands().LookPath(name, list, dir)
	}
	if v.CommandRoot() != "/" {
		return overlay.New(context.Background(), underlay{v}).Recording(new(overlay.Looks)).Commands().LookPath(name, list, dir)
	}
	file := name
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		file = filepath.Join(v.root, dir, name)
	}
	if _, err := os.Stat(file); strings.Contains(name, "/") && os.IsNotExist(err) {
		return "", diag.ProgramNotFound("command %q", name)
	}
	return command.LookPath(name, list)
}

// CheckProgram returns the error with which a command is going to fail because its program must not run or is missing.
func (v *View) CheckProgram(ctx context.Context, c Cmd) error {
	if err := v.refused(c); err != nil {
		return err
	}
	var err error
	switch {
	case !c.BelowRoot || v.CommandRoot() == "/":
		if _, err = v.LookPath(c.Argv[0], c.Path, c.Dir); err == nil {
			err = v.checkArchitecture(ctx)
		}
	case v.overlay.Looks() != nil:
		err = v.overlay.Commands().Find(c)
	default:
		_, err = command.LookPath(c.Argv[0], c.Path)
	}
	return err
}

// checkArchitecture returns the error with which every command below the root is going to fail: the root is for another
// architecture, and the machine has no emulator for it. It tries the shell, because not every emulator is listed where
// this process could see it.
func (v *View) checkArchitecture(ctx context.Context) error {
	if v.CommandRoot() == "/" {
		return nil
	}
	name, err := FollowLink(v, "/bin/sh")
	if err != nil {
		return nil // commands that need no shell may run
	}
	f, err := v.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if arch := command.ELFArch(f); arch == "" || arch == runtime.GOARCH {
		return nil
	}
	_, err = v.Query(ctx, Cmd{Argv: []string{"/bin/sh", "-c", ":"}})
	return err
}

// Query runs a command that only looks.
func (v *View) Query(ctx context.Context, c Cmd) (Result, error) {
	if err := v.refused(c); err != nil {
		return Result{}, err
	}
	var known *overlay.Answers
	if o := v.planned(); o != nil {
		if res, answered, err := o.Commands().Query(c); answered {
			return res, err
		}
		known = o.Looks().KnownAnswers()
	}
	c = v.prepared(c)
	return known.Ask(c, func() (Result, error) { return v.runner.Run(ctx, c) })
}
