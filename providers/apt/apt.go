// Package apt provides packages on Debian and its relatives. It asks dpkg what
// is installed and apt what could be, and has apt make the changes.
package apt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "apt"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, suits, packages{})}
}

// suits says that apt manages packages wherever its commands are. On a system
// that is known to be of another family they may be there as well, but are not
// what manages it.
func suits(f *facts.Facts, _ resources.Package) (int, error) {
	for _, name := range []string{"dpkg-query", "apt-cache", "apt-get"} {
		if _, err := command.LookPath(name, ""); err != nil {
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

// change runs a command of apt that changes the machine. If apt refuses because dpkg
// was interrupted before, by a loss of power or because it was killed, what that left
// is configured first, as apt says one has to.
func change(ctx context.Context, h *host.Host, argv ...string) error {
	database.Lock()
	defer database.Unlock()
	res, err := attempt(ctx, h, argv...)
	if err == nil || !strings.Contains(string(res.Stderr), interrupted) {
		return err
	}
	h.Log().Warn("dpkg was interrupted earlier; what it left unfinished is configured first", "command", strings.Join(configure, " "))
	// What it cannot configure may be what is going to be repaired.
	_, failed := attempt(ctx, h, configure...)
	if res, err = attempt(ctx, h, argv...); err != nil && strings.Contains(string(res.Stderr), interrupted) {
		return errors.Join(err, failed)
	}
	return err
}

// interrupted is what apt says if dpkg has left its database unfinished.
const interrupted = "dpkg was interrupted, you must manually run"

// configure has dpkg finish what it had begun.
var configure = []string{"dpkg", "--force-confold", "--configure", "-a"}

// attempt runs a command that changes the machine. If it fails, the result says how as well.
func attempt(ctx context.Context, h *host.Host, argv ...string) (host.Result, error) {
	cmd := host.Cmd{Argv: argv, Env: environment}
	res, err := h.Run(ctx, cmd)
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("%s: exit status %d%s", cmd, res.Code, lastWords(res))
	}
	return res, err
}
