// Package dnf provides packages on Fedora, RHEL and their relatives. It asks rpm
// what is installed and dnf what could be, and has dnf make the changes.
package dnf

import (
	"context"
	"fmt"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "dnf"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, suits, packages{})}
}

// suits says that dnf manages packages wherever it and rpm are. On a system
// that is known to be of another family they may be there as well, but are not
// what manages it.
func suits(f *facts.Facts, _ resources.Package) (int, error) {
	for _, name := range []string{"dnf", "rpm"} {
		if _, err := command.LookPath(name, ""); err != nil {
			return 0, err
		}
	}
	if family, err := f.Get("os.family"); err == nil && family != "" && family != "rhel" && family != "fedora" {
		return 50, nil
	}
	return 1, nil
}

// database is held while any command of this package runs: the database is the
// machine's, so there is one lock in a process, however many hosts and
// registries there are.
var database sync.Mutex

// query runs a command that only asks.
func query(ctx context.Context, v *host.View, argv ...string) (host.Result, error) {
	database.Lock()
	defer database.Unlock()
	return v.Query(ctx, host.Cmd{Argv: argv})
}

// change runs a command that changes the machine. Other processes that hold
// the locks of dnf and rpm are waited for by themselves.
func change(ctx context.Context, h *host.Host, argv ...string) error {
	database.Lock()
	defer database.Unlock()
	cmd := host.Cmd{Argv: argv}
	res, err := h.Run(ctx, cmd)
	switch {
	case err != nil:
		return err
	case res.Code != 0:
		return fmt.Errorf("%s: exit status %d%s", cmd, res.Code, lastWords(res))
	case didNothing(res):
		return fmt.Errorf("%s: there is nothing to do, dnf says%s", cmd, lastWords(res))
	}
	return nil
}
