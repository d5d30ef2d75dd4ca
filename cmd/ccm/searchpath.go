package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
)

// modulesVariable names the variable with directories of modules.
const modulesVariable = "CCM_PATH"

// temporaryVariable names the variable with the directory for temporary files
// (POSIX.1-2017, XBD 8.3). Without it that is /tmp.
const temporaryVariable = "TMPDIR"

// limitPaths leaves out directories of PATH, CCM_PATH and TMPDIR that are not trusted,
// and says so once. Root runs commands that it finds in PATH, and works on files below
// TMPDIR; so do the commands that it starts, so both are changed for all of them.
func limitPaths(e *cli.Env, cmd *cobra.Command) {
	e.Modules = e.Files.SearchPath(modulesVariable)
	if dir := os.Getenv(temporaryVariable); dir != "" && len(e.Files.TrustedDirectories(temporaryVariable, []string{dir})) == 0 {
		_ = os.Unsetenv(temporaryVariable)
	}
	if e.Files.Trust() == nil || cmd.Flags().Lookup("root") == nil {
		return // it runs no commands
	}
	have := os.Getenv("PATH")
	if dirs := strings.Join(e.Files.SearchPath("PATH"), ":"); dirs != have {
		_ = os.Setenv("PATH", dirs)
	}
}
