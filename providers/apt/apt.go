// Package apt provides packages on Debian and its relatives. It asks dpkg what
// is installed and apt what could be, and has apt make the changes.
package apt

import (
	"context"
	"fmt"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "apt"

// Providers returns what this package provides.
func Providers() []resource.Factory {
	return []resource.Factory{resources.PackageType.Provide(Name, suits, packages{})}
}

// suits says that apt manages packages wherever its commands are. On a system
// that is known to be of another family they may be there as well, but are not
// what manages it.
func suits(f *facts.Facts, _ resources.Package) (int, error) {
	for _, command := range []string{"dpkg-query", "apt-cache", "apt-get"} {
		if _, err := host.LookPath(command, ""); err != nil {
			return 0, err
		}
	}
	if family, err := f.Get("os.family"); err == nil && family != "" && family != "debian" {
		return 50, nil
	}
	return 1, nil
}

// environment keeps every tool from asking questions.
var environment = []string{
	"DEBIAN_FRONTEND=noninteractive",
	"APT_LISTBUGS_FRONTEND=none",
	"APT_LISTCHANGES_FRONTEND=none",
}

// lockTimeout is for how many seconds apt waits for other processes that hold
// the locks of the package database.
const lockTimeout = "DPkg::Lock::Timeout=600"

// database is held while any command of this package runs: the database is the
// machine's, so there is one lock in a process, however many hosts and
// registries there are.
var database sync.Mutex

// query runs a command that only asks. Its error is short: the command may name
// every package of a run.
func query(ctx context.Context, v *host.View, argv ...string) (host.Result, error) {
	database.Lock()
	defer database.Unlock()
	return v.Query(ctx, host.Cmd{Argv: argv, Env: environment})
}

// change runs a command that changes the machine.
func change(ctx context.Context, h *host.Host, argv ...string) error {
	database.Lock()
	defer database.Unlock()
	cmd := host.Cmd{Argv: argv, Env: environment}
	res, err := h.Run(ctx, cmd)
	if err != nil || res.Code == 0 {
		return err
	}
	return fmt.Errorf("%s: exit status %d%s", cmd, res.Code, lastWords(res))
}
