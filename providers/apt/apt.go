// Package apt provides packages on Debian and its relatives. It asks dpkg for installed packages
// and apt for available ones, and apt makes the changes.
package apt

import (
	"context"
	"errors"
	"slices"
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

// tool runs commands of dpkg and apt so that they ask no questions.
var tool = newTool()

func newTool() *pkgtool.Tool {
	return &pkgtool.Tool{
		Doc:      "Queries packages with dpkg and apt, and changes them with apt.",
		Helpers:  []string{"apt-mark", "dpkg", "dpkg-deb", "touch"},
		Commands: []string{"dpkg-query", "apt-cache", "apt-get"},
		Families: []string{"debian"},
		Env: []string{
			"DEBIAN_FRONTEND=noninteractive",
			"APT_LISTBUGS_FRONTEND=none",
			"APT_LISTCHANGES_FRONTEND=none",
		},
		Index:       []string{"/var/lib/apt/lists/*_*", "/var/lib/apt/lists/partial", "/var/lib/apt/periodic/update-success-stamp"},
		IndexDir:    "/var/lib/apt/lists/partial",
		UpdateIndex: []string{"apt-get", "update", "-q", "-o", lockTimeout, "-o", "APT::Update::Error-Mode=any"},
		Shared:      []string{"-t ", "--target-release ", "--default-release ", "-o ", "--option ", "-c ", "--config-file "},
		Reason:      reason,
	}
}

// lockTimeout makes apt wait, in seconds, for other processes that hold the locks of the package
// database.
const lockTimeout = "DPkg::Lock::Timeout=600"

// othersFailed is the message of dpkg before its list of failed packages. Apt then fails,
// whichever packages it was called for: one broken package fails each command.
const othersFailed = "Errors were encountered while processing:"

// change runs a command of apt on packages. If it fails only because of other packages, and these
// are as desired, that is only a warning.
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
	h.Log().Warn("apt failed for other packages", "error", err.Error())
	return nil
}

// run runs a command of apt that changes the machine. If apt refuses because dpkg was interrupted
// before, by a loss of power or because it was killed, it configures the unfinished packages
// first, as apt demands.
func run(ctx context.Context, h *host.Host, argv ...string) error {
	return tool.Change(ctx, h, func(run func(argv ...string) (host.Result, error)) error {
		res, err := run(argv...)
		if err == nil || !strings.Contains(string(res.Stderr), interruptedMessage) {
			return err
		}
		h.Log().Warn("dpkg was interrupted earlier; unfinished packages are configured first", "command", strings.Join(configure, " "))
		// The failing package may be the one to be repaired.
		_, failure := run(configure...)
		if res, err = run(argv...); err != nil && strings.Contains(string(res.Stderr), interruptedMessage) {
			return errors.Join(err, failure)
		}
		return err
	})
}

// performInstall installs packages. Those that the site wants must not be removed for them: apt is first
// called so that it removes nothing, and if it refuses for that reason, it is asked what it would
// remove.
func performInstall(ctx context.Context, h *host.Host, wants []resources.Package, argv, specs []string) error {
	if resource.DesiredFrom(ctx) == nil {
		return change(ctx, h, wants, slices.Concat(argv, specs)...)
	}
	err := change(ctx, h, wants, slices.Concat(argv, []string{"--no-remove"}, specs)...)
	if err == nil || !strings.Contains(err.Error(), removalRefused) {
		return err
	}
	t, err := simulate(ctx, &h.View, "install", wants[0], specs)
	if err != nil {
		return err
	}
	if err := pkgtool.CheckRemovals(ctx, wants, t.removes, withoutArch); err != nil {
		return err
	}
	return change(ctx, h, wants, slices.Concat(argv, specs)...)
}

// removalRefused is the message of apt if --no-remove forbids what it was called for.
const removalRefused = "Packages need to be removed but remove is disabled"

// interruptedMessage is the message of apt for an unfinished database of dpkg.
const interruptedMessage = "dpkg was interrupted, you must manually run"

// configure is the command that finishes packages begun by dpkg.
var configure = []string{"dpkg", "--force-confold", "--configure", "-a"}
