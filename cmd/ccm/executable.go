package main

import (
	"os"
	"runtime"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/bundle"
)

// escapeFlag, as the first argument, turns an executable that contains a site back into ccm: the
// other arguments are those of ccm.
const escapeFlag = "--ccm"

// ownArguments returns the arguments of the command line. For an executable made by ccm bundle
// --exe, they are the arguments of ccm run for the site inside.
func ownArguments(e *cli.Env, args []string) ([]string, error) {
	self, err := openSelf()
	if err != nil {
		return args, nil // an executable that cannot be read, such as a removed one, counts as ccm without a site
	}
	defer self.Close()
	found, err := bundle.InExecutable(self)
	if found == nil || err != nil {
		return args, err
	}
	e.HasSite = true
	if len(args) > 0 && args[0] == escapeFlag {
		return args[1:], nil
	}
	name, err := os.Executable()
	return append([]string{"run", name}, args...), err
}

// escaped returns the arguments with which this executable does what ccm does with args: if it
// contains a site, escapeFlag comes first.
func escaped(e *cli.Env, args []string) []string {
	if e.HasSite {
		return append([]string{escapeFlag}, args...)
	}
	return args
}

// openSelf opens the executable of this process.
func openSelf() (*os.File, error) {
	if runtime.GOOS == "linux" {
		return os.Open("/proc/self/exe") // works even after the executable was removed or replaced
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}
