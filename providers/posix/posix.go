// Package posix provides files and commands on any POSIX system, and commands that a shell runs.
package posix

import (
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
)

// Providers returns what this package provides. Shell never wins by itself: it
// is chosen with provider = "shell".
func Providers() []resource.Binding {
	return []resource.Binding{
		resources.FileType.Provide("posix", resource.Always[resources.File](1), files{}),
		resources.ExecType.Provide("posix", resource.Always[resources.Exec](1), execs{doc: "Splits a line into words and runs it without a shell.", split: words}),
		resources.ExecType.Provide("shell", hasShell, execs{doc: "Passes a line to " + sh + " -c. Used only if the resource selects it.", split: shell}),
	}
}

const sh = "/bin/sh"

func hasShell(_ *facts.Facts, _ resources.Exec) (int, error) {
	if !isExecutable(sh) {
		return 0, diag.Missing(sh, "")
	}
	return 99, nil
}
