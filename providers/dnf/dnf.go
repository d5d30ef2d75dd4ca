// Package dnf provides packages on Fedora, RHEL and their relatives. It asks rpm
// what is installed and dnf what could be, and has dnf make the changes.
package dnf

import (
	"context"
	"fmt"

	"github.com/luaccm/ccm/providers/pkgtool"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Name is the name of the provider.
const Name = "dnf"

// Providers returns what this package provides.
func Providers() []resource.Binding {
	return []resource.Binding{resources.PackageType.Provide(Name, tool.Suits, packages{})}
}

// tool runs the commands of rpm and dnf.
var tool = &pkgtool.Tool{Commands: []string{"dnf", "rpm"}, Families: []string{"rhel", "fedora"}, Reason: reason}

// change runs a command that changes the machine. dnf itself waits for the locks of other
// processes.
func change(ctx context.Context, h *host.Host, argv ...string) error {
	return tool.Change(ctx, h, func(run func(argv ...string) (host.Result, error)) error {
		res, err := run(argv...)
		if err == nil && didNothing(res) {
			return fmt.Errorf("%s: there is nothing to do, dnf says%s", host.Cmd{Argv: argv}, tool.LastWords(res))
		}
		return err
	})
}
