// Package pkgtool is what the providers of packages have in common: which machines a
// package manager suits, its commands one at a time, and the reason of a failure in its
// output.
//
// Begin with [Tool].
package pkgtool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Tool is a package manager. The database is the machine's, so there is one Tool in a
// process, however many hosts and registries there are.
type Tool struct {
	// Doc is that of its [resource.Description].
	Doc string
	// Commands are the programs that it needs. Helpers are others that it calls.
	Commands, Helpers []string
	// Families are the values of the fact os.family of the machines that it manages.
	Families []string
	// Env is added to the environment of its commands.
	Env []string
	// Index lists patterns of paths that are touched when the package index is read, and
	// UpdateIndex is the command that reads it.
	Index       []string
	UpdateIndex []string
	// IndexTried is the path of Index that is touched even if the index cannot be read, if
	// there is one.
	IndexTried string
	// ReadsIndex says that its questions read an index that is missing.
	ReadsIndex bool
	// Shared lists the options that its commands for questions understand as well. Those
	// that end with a space are followed by a word of their own.
	Shared []string
	// Done lists the exit statuses besides 0 of a command that has made its changes.
	Done []int
	// IsFailure reports, by its output, that a command which exits 0 has failed in part: its
	// changes are made, and a script of a package failed. nil if the tool exits with
	// another status then.
	IsFailure func(stdout, stderr []string) bool
	// OfUser says that it refuses root: ccm runs as the user that its packages belong to.
	OfUser bool
	// Reason returns the lines of the standard output and the standard error that explain
	// a failure.
	Reason func(stdout, stderr []string) []string

	mu sync.Mutex // one command at a time

	indexMu sync.Mutex
	index   struct { // as this process has read it last
		at     time.Time
		err    error
		before time.Time // if there is an error: when it was read before that
	}
}

// Suits is the [resource.Suitability] of the provider. A machine of another family may have the
// commands too, but another package manager: there the priority is low.
func (t *Tool) Suits(f *facts.Facts, _ resources.Package) (int, error) {
	for _, name := range t.Commands {
		if _, err := command.LookPath(name, ""); err != nil {
			return 0, err
		}
	}
	if family, err := f.Get("os.family"); err == nil && family != "" && !slices.Contains(t.Families, fmt.Sprint(family)) {
		return 50, nil
	}
	return 1, nil
}

// Describe implements [resource.SelfDescriber].
func (t *Tool) Describe() resource.Description {
	return resource.Description{Doc: t.Doc, Commands: slices.Concat(t.Commands, t.Helpers)}
}

// Query runs a command that changes nothing. Its error is short, because the command may
// name every package of a run.
func (t *Tool) Query(ctx context.Context, v *host.View, argv ...string) (host.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return v.Query(ctx, host.Cmd{Argv: argv, Env: t.Env})
}

// Change calls change with a function that runs commands. No other command of the tool
// runs until it returns. The function returns the reason of a failure as its error, and
// the result as well.
func (t *Tool) Change(ctx context.Context, h *host.Host, change func(run func(argv ...string) (host.Result, error)) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return change(func(argv ...string) (host.Result, error) {
		cmd := host.Cmd{Argv: argv, Env: t.Env}
		res, err := h.Run(ctx, cmd)
		if err == nil && res.Code != 0 && !slices.Contains(t.Done, res.Code) {
			err = fmt.Errorf("%s: exit status %d%s", cmd, res.Code, t.LastWords(res))
		} else if err == nil && t.IsFailure != nil && t.IsFailure(Lines(res.Stdout), Lines(res.Stderr)) {
			err = &resource.DoneError{Err: fmt.Errorf("%s: a script of a package failed%s", cmd, t.LastWords(res))}
		}
		return res, err
	})
}

// Status returns the state of one package by way of those of many.
func Status(ctx context.Context, v *host.View, p resource.BulkStatus[resources.Package, resources.PackageState], want resources.Package) (resources.PackageState, error) {
	states, errs := p.StatusAll(ctx, v, []resources.Package{want})
	return states[0], errs[0]
}

// StatusAll returns the states of packages, of which status is asked for those with the same
// options.
func StatusAll(ctx context.Context, v *host.View, wants []resources.Package,
	status func(context.Context, *host.View, []resources.Package) ([]resources.PackageState, []error)) ([]resources.PackageState, []error) {
	states, errs := make([]resources.PackageState, len(wants)), make([]error, len(wants))
	for _, at := range byOptions(wants) {
		some, failed := status(ctx, v, pick(wants, at))
		for n, i := range at {
			states[i], errs[i] = some[n], failed[n]
		}
	}
	return states, errs
}

// Upgrade upgrades packages by installing the new version. What is upgraded only because the
// index was refreshed may prove to be the latest already.
func (t *Tool) Upgrade(ctx context.Context, h *host.Host, wants []resources.Package, p resources.PackageProvider) error {
	refreshed, err := t.Refresh(ctx, h, wants[0])
	if err != nil {
		return err
	}
	if refreshed && len(wants) == 1 {
		have, err := p.Status(ctx, &h.View, wants[0])
		if err != nil {
			return err
		}
		if wants[0].InOrder(have) {
			return resource.ErrUnchanged
		}
	}
	return p.Install(ctx, h, wants...)
}

// Ask calls query with the names in order, each of them once, unless there are none.
func Ask[T any](ctx context.Context, v *host.View, names []string, query func(context.Context, *host.View, []string) (T, error)) (answer T, err error) {
	if len(names) == 0 {
		return answer, nil
	}
	slices.Sort(names)
	return query(ctx, v, slices.Compact(names))
}

// Predict returns the predictions of predict for root, and the error that root is needed for
// any other user, or that it is refused. Predict is called for packages with the same options, of which either all
// or none say whether they are held.
func (t *Tool) Predict(ctx context.Context, v *host.View, wants []resources.Package, predict func(context.Context, *host.View, []resources.Package) []resource.Prediction) []resource.Prediction {
	err := host.NeedsRoot("only root can install and remove packages")
	if t.OfUser && err == nil {
		err = &resource.WrongUserError{Text: t.Commands[0] + " refuses root: run ccm as the user that its packages belong to"}
	} else if t.OfUser {
		err = nil
	}
	if err != nil {
		return slices.Repeat([]resource.Prediction{{Err: err}}, len(wants))
	}
	list := make([]resource.Prediction, len(wants))
	for _, at := range byOptions(wants) {
		for n, p := range predict(ctx, v, pick(wants, at)) {
			list[at[n]] = p
		}
	}
	return list
}

func pick(wants []resources.Package, at []int) []resources.Package {
	some := make([]resources.Package, len(at))
	for n, i := range at {
		some[n] = wants[i]
	}
	return some
}

// byOptions groups the indexes of packages with the same options that say alike whether they
// are held, in order.
func byOptions(wants []resources.Package) (groups [][]int) {
	for i, want := range wants {
		n := slices.IndexFunc(groups, func(at []int) bool {
			return slices.Equal(wants[at[0]].Options, want.Options) && (wants[at[0]].Hold == nil) == (want.Hold == nil)
		})
		if n < 0 {
			groups, n = append(groups, nil), len(groups)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}

// SharedOptions returns the options of a package that are those of questions too.
func (t *Tool) SharedOptions(options []string) (shared []string) {
	for i, word := range options {
		for _, x := range t.Shared {
			switch name, takesWord := strings.CutSuffix(x, " "); {
			case strings.HasPrefix(word, name+"="):
				shared = append(shared, word)
			case takesWord && word == name && i+1 < len(options):
				shared = append(shared, word, options[i+1])
			}
		}
	}
	return shared
}
