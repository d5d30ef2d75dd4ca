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
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Tool is a package manager. The database is the machine's, so there is one Tool in a
// process, however many hosts and registries there are.
type Tool struct {
	// Commands are the programs that it needs.
	Commands []string
	// Families are the values of the fact os.family of the machines that it manages.
	Families []string
	// Env is added to the environment of its commands.
	Env []string
	// Reason returns the lines of the standard output and the standard error that explain
	// a failure.
	Reason func(stdout, stderr []string) []string

	mu sync.Mutex // one command at a time
}

// Suits is the [resource.Suits] of the provider. A machine of another family may have the
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
		if err == nil && res.Code != 0 {
			err = fmt.Errorf("%s: exit status %d%s", cmd, res.Code, t.LastWords(res))
		}
		return res, err
	})
}

// Status returns the state of one package by way of those of many.
func Status(ctx context.Context, v *host.View, p resource.Batch[resources.Package, resources.PackageState], want resources.Package) (resources.PackageState, error) {
	states, errs := p.StatusAll(ctx, v, []resources.Package{want})
	return states[0], errs[0]
}

// Ask calls query with the names in order, each of them once, unless there are none.
func Ask[T any](ctx context.Context, v *host.View, names []string, query func(context.Context, *host.View, []string) (T, error)) (answer T, err error) {
	if len(names) == 0 {
		return answer, nil
	}
	slices.Sort(names)
	return query(ctx, v, slices.Compact(names))
}

// Foresee returns the prospects of foresee for root, and the error that root is needed for
// any other user.
func Foresee(ctx context.Context, v *host.View, wants []resources.Package, foresee func(context.Context, *host.View, []resources.Package) []resource.Prospect) []resource.Prospect {
	if err := host.NeedsRoot("only root can install and remove packages"); err != nil {
		return slices.Repeat([]resource.Prospect{{Err: err}}, len(wants))
	}
	return foresee(ctx, v, wants)
}
