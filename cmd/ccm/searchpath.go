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

// limitPaths leaves out directories of PATH and of CCM_PATH that are not believed, and
// says so once. Root runs commands that it finds there, and so do the shells that it
// starts: PATH is changed for all of them.
func (e *env) limitPaths(cmd *cobra.Command) {
	e.modules = e.believedPath(modulesVariable)
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
	var dirs []string
	trust := e.trust()
	for _, dir := range filepath.SplitList(os.Getenv(variable)) {
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
