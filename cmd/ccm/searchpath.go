package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/cmd/ccm/cli"
)

// modulesVariable names the variable with directories of modules.
const modulesVariable = "CCM_PATH"

// temporaryVariable is the variable for the directory of temporary files (POSIX.1-2017, XBD 8.3).
// Without it the directory is /tmp.
const temporaryVariable = "TMPDIR"

// limitPaths removes untrusted directories from PATH, CCM_PATH and TMPDIR, and from TMPDIR one that does not exist. It
// warns once. Root
// runs commands found in PATH and works on files below TMPDIR. Started commands do so too;
// therefore the variables are changed for the whole process.
func limitPaths(e *cli.Env, cmd *cobra.Command) {
	e.Modules = e.Files.SearchPath(modulesVariable)
	if dir := os.Getenv(temporaryVariable); dir != "" {
		fi, err := os.Stat(dir)
		isDir := err == nil && fi.IsDir()
		if !isDir {
			e.Messages.Warn(fmt.Sprintf("ignoring %s: directory %s does not exist (temporary files go to /tmp)", temporaryVariable, dir))
		}
		if !isDir || len(e.Files.TrustedDirectories(temporaryVariable, []string{dir})) == 0 {
			_ = os.Unsetenv(temporaryVariable)
		}
	}
	if e.Files.Trust() == nil || cmd.Flags().Lookup("root") == nil {
		return // this command runs no other commands
	}
	have := os.Getenv("PATH")
	if dirs := strings.Join(e.Files.SearchPath("PATH"), ":"); dirs != have {
		_ = os.Setenv("PATH", dirs)
	}
}
