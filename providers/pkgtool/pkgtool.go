// Package pkgtool has the common parts of package providers: on which machines a package manager
// is used, the running of its commands one at a time, and the reason of a failure in its output.
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
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Tool is a package manager. There is one Tool in a process, however many hosts and registries
// there are, because the machine has one database.
type Tool struct {
	// Doc is the Doc of the provider's [resource.Description].
	Doc string
	// Commands are the programs that it needs, Helpers other programs that it calls.
	Commands, Helpers []string
	// Families are the machines that it manages, as values of the fact os.family.
	Families []string
	// Env is added to the environment of its commands.
	Env []string
	// Index lists patterns of paths that are touched when the package index is read. UpdateIndex
	// is the command that reads it.
	Index       []string
	UpdateIndex []string
	// IndexDir is a directory that each attempt to read the index touches, whether files of Index
	// change or not; "" if there is none. After a failure, touch restores its time.
	IndexDir string
	// ReadsIndex is set if a query of the tool fetches a missing index by itself.
	ReadsIndex bool
	// Shared lists the options that its queries accept as well. Options that end with a space are
	// followed by a word.
	Shared []string
	// SuccessStatuses lists the exit statuses, besides 0, of a command that made its changes.
	SuccessStatuses []int
	// IsFailure reports, from the output, whether a command that exits 0 failed in part: its
	// changes are made, and the script of a package failed. It is nil if the tool exits with
	// another status then.
	IsFailure func(stdout, stderr []string) bool
	// OfUser is set if it refuses root: ccm runs as the user who owns its packages.
	OfUser bool
	// Reason returns the lines of standard output and standard error that explain a failure.
	Reason func(stdout, stderr []string) []string

	mu sync.Mutex // one command at a time

	indexMu sync.Mutex
	index   struct { // its age when this process last looked
		at     time.Time
		err    error
		before time.Time // the time before a failed attempt
		found  bool      // whether there was an index before it
	}
}

// Suits is the [resource.Suitability] of the provider. A machine of another family may have the
// commands too, and another package manager: there the priority is low.
func (t *Tool) Suits(f *facts.Facts, _ resources.Package) (int, error) {
	for _, name := range t.Commands {
		if _, err := f.View().LookPath(name, "", ""); err != nil {
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
	return resource.Description{Doc: t.Doc, Commands: slices.Concat(t.Commands, t.Helpers), Live: true}
}

// Query runs a command that changes nothing. Its error is short, because the command may name
// every package of a run.
func (t *Tool) Query(ctx context.Context, v *host.View, argv ...string) (host.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return v.Query(ctx, host.Cmd{Argv: argv, Env: t.Env})
}

// Change calls change with a function that runs commands. No other command of the tool runs until
// change returns. The function returns the result and, as its error, the reason of a failure.
func (t *Tool) Change(ctx context.Context, h *host.Host, change func(run func(argv ...string) (host.Result, error)) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return change(func(argv ...string) (host.Result, error) {
		cmd := host.Cmd{Argv: argv, Env: t.Env}
		res, err := h.Run(ctx, cmd)
		if err == nil && res.Code != 0 && !slices.Contains(t.SuccessStatuses, res.Code) {
			err = fmt.Errorf("%s: %w%s", cmd, diag.ExitStatus(res.Code), t.LastWords(res))
		} else if err == nil && t.IsFailure != nil && t.IsFailure(Lines(res.Stdout), Lines(res.Stderr)) {
			err = &resource.DoneError{Err: fmt.Errorf("%s: %w%s", cmd, diag.Failed("a package script", nil), t.LastWords(res))}
		}
		return res, err
	})
}

// StatusAll returns the states of packages. It calls status for the packages with the same
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

// Upgrade upgrades packages by installing the new version. After a refresh of the index, the
// installed version may prove to be the latest.
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

// Ask calls query with the sorted, distinct names. Without names it does not.
func Ask[T any](ctx context.Context, v *host.View, names []string, query func(context.Context, *host.View, []string) (T, error)) (answer T, err error) {
	if len(names) == 0 {
		return answer, nil
	}
	slices.Sort(names)
	return query(ctx, v, slices.Compact(names))
}

// Predict returns the predictions of predict. For a user other than root it returns the error
// that root is needed; for a tool that refuses root, the reverse. Predict is called for packages
// with the same options, of which all or none manage their hold.
func (t *Tool) Predict(ctx context.Context, v *host.View, wants []resources.Package, predict func(context.Context, *host.View, []resources.Package) []resource.Prediction) []resource.Prediction {
	err := overlay.NeedsRoot("only root can install and remove packages")
	if t.OfUser && err == nil {
		err = &resource.WrongUserError{Text: t.Commands[0] + " refuses root: run ccm as the owner of its packages"}
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
	if !t.OfUser { // the packages of others are not in /usr
		t.predictReadOnly(v, wants, list)
	}
	return list
}

// predictReadOnly adds the error that /usr, to which packages are unpacked, is read-only. A hold or a mark may be all that a
// package lacks, and needs no /usr.
func (t *Tool) predictReadOnly(v *host.View, wants []resources.Package, list []resource.Prediction) {
	err := host.CheckWritable(v, "/usr")
	for i := range list {
		if err == nil || list[i].Err != nil || wants[i].Hold != nil || wants[i].Manual {
			continue
		}
		list[i] = resource.Prediction{Err: err, Look: overlay.Look{Kind: overlay.PathLook, Name: "/usr", Found: true}}
	}
}

func pick[T any](list []T, at []int) []T {
	some := make([]T, len(at))
	for n, i := range at {
		some[n] = list[i]
	}
	return some
}

// byOptions groups the indices of packages with the same options that all manage their hold or
// all do not, in order.
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

// SharedOptions returns the options of a package that queries accept as well.
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
