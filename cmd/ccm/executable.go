package main

import (
	"os"
	"runtime"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/bundle"
)

// escapeFlag is the first argument with which an executable that has a site in it is ccm: what follows
// are the arguments of ccm.
const escapeFlag = "--ccm"

// ownArguments returns the arguments of the command line. In an executable that ccm bundle --exe has
// made they are those of ccm run of the site in it.
func ownArguments(e *cli.Env, args []string) ([]string, error) {
	self, err := openSelf()
	if err != nil {
		return args, nil // of a program that was removed there is nothing to read
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

// escaped returns arguments of ccm for this executable.
func escaped(e *cli.Env, args []string) []string {
	if e.HasSite {
		return append([]string{escapeFlag}, args...)
	}
	return args
}

// openSelf opens the executable of this process.
func openSelf() (*os.File, error) {
	if runtime.GOOS == "linux" {
		return os.Open("/proc/self/exe") // also if it was removed or replaced since
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}
