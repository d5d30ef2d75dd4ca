package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/luaccm/ccm/runtime/diag"
)

// modulesVariable names the variable with directories of modules.
const modulesVariable = "CCM_PATH"

// temporaryVariable names the variable with the directory for temporary files
// (POSIX.1-2017, XBD 8.3). Without it that is /tmp.
const temporaryVariable = "TMPDIR"

// limitPaths leaves out directories of PATH, CCM_PATH and TMPDIR that are not believed,
// and says so once. Root runs commands that it finds in PATH, and works on files below
// TMPDIR; so do the commands that it starts, so both are changed for all of them.
func (e *env) limitPaths(cmd *cobra.Command) {
	e.modules = e.believedPath(modulesVariable)
	if dir := os.Getenv(temporaryVariable); dir != "" && len(e.believedDirectories(temporaryVariable, []string{dir})) == 0 {
		_ = os.Unsetenv(temporaryVariable)
	}
	if e.trust() == nil || cmd.Flags().Lookup("root") == nil {
		return // it runs no commands
	}
	have := os.Getenv("PATH")
	if dirs := strings.Join(e.believedPath("PATH"), ":"); dirs != have {
		_ = os.Setenv("PATH", dirs)
	}
}

// believedPath returns the directories of a search path without those that are not
// believed. As root these are the relative ones too: what they name depends on where
// ccm was started.
func (e *env) believedPath(variable string) []string {
	return e.believedDirectories(variable, filepath.SplitList(os.Getenv(variable)))
}

// believedDirectories is believedPath for directories that a variable names in another form.
func (e *env) believedDirectories(variable string, names []string) []string {
	var dirs []string
	trust := e.trust()
	for _, dir := range names {
		var err error
		switch {
		case dir == "" && trust == nil:
			continue
		case trust == nil:
		case !filepath.IsAbs(dir):
			err = diag.Errorf(diag.Pos{}, "%q is not believed as root, because it is not absolute", dir).WithHint("name the whole path")
		default:
			err = e.checkPlace(dir)
		}
		if err != nil {
			e.warn("left out of " + variable + ": " + err.Error())
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs
}
