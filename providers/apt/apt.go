// Package apt provides packages on Debian and its relatives. It asks dpkg what
// is installed and apt what could be, and has apt make the changes.
package apt

import (
	"context"
	"errors"
	"strings"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "apt"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages{})}
}

// tool runs the commands of dpkg and apt, which must not ask questions.
var tool = newTool()

func newTool() *pkgtool.Tool {
	return &pkgtool.Tool{
		Doc:      "Asks dpkg what is installed, and apt what could be. Apt makes the changes.",
		Helpers:  []string{"apt-mark", "dpkg", "dpkg-deb"},
		Commands: []string{"dpkg-query", "apt-cache", "apt-get"},
		Families: []string{"debian"},
		Env: []string{
			"DEBIAN_FRONTEND=noninteractive",
			"APT_LISTBUGS_FRONTEND=none",
			"APT_LISTCHANGES_FRONTEND=none",
		},
		Index:       []string{"/var/lib/apt/lists/*_*", "/var/lib/apt/lists/partial", "/var/lib/apt/periodic/update-success-stamp"},
		IndexTried:  "/var/lib/apt/lists/partial",
		UpdateIndex: []string{"apt-get", "update", "-q", "-o", lockTimeout, "-o", "APT::Update::Error-Mode=any"},
		Shared:      []string{"-t ", "--target-release ", "--default-release ", "-o ", "--option ", "-c ", "--config-file "},
		Reason:      reason,
	}
}

// lockTimeout is for how many seconds apt waits for other processes that hold
// the locks of the package database.
const lockTimeout = "DPkg::Lock::Timeout=600"

// othersFailed is what dpkg says before it lists the packages that it could not handle. Apt then
// fails whichever packages it was called for: one that is broken for long fails each command.
const othersFailed = "Errors were encountered while processing:"

// change has apt do something with packages. That it failed for others is only said if these are
// as they are wanted.
func change(ctx context.Context, h *host.Host, wants []resources.Package, argv ...string) error {
	err := run(ctx, h, argv...)
	if err == nil || !strings.Contains(err.Error(), othersFailed) {
		return err
	}
	states, errs := packages{}.StatusAll(ctx, &h.View, wants)
	for i, want := range wants {
		if errs[i] != nil || !want.InOrder(states[i]) {
			return err
		}
	}
	h.Log().Warn("apt has failed for other packages", "error", err.Error())
	return nil
}

// run runs a command of apt that changes the machine. If apt refuses because dpkg
// was interrupted before, by a loss of power or because it was killed, the unfinished
// packages are configured first, as apt demands.
func run(ctx context.Context, h *host.Host, argv ...string) error {
	return tool.Change(ctx, h, func(run func(argv ...string) (host.Result, error)) error {
		res, err := run(argv...)
		if err == nil || !strings.Contains(string(res.Stderr), interruptedMessage) {
			return err
		}
		h.Log().Warn("dpkg was interrupted earlier; what it left unfinished is configured first", "command", strings.Join(configure, " "))
		// A package that it cannot configure may be the one to be repaired.
		_, failure := run(configure...)
		if res, err = run(argv...); err != nil && strings.Contains(string(res.Stderr), interruptedMessage) {
			return errors.Join(err, failure)
		}
		return err
	})
}

// interrupted is the message of apt for an unfinished database of dpkg.
const interruptedMessage = "dpkg was interrupted, you must manually run"

// configure is the command that finishes packages which dpkg has begun.
var configure = []string{"dpkg", "--force-confold", "--configure", "-a"}
