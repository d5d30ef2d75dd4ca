package site

import (
	"fmt"
	"os"
	"time"

	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
)

// Options say how a script or manifest is read. The flags of every command that
// reads one fill them in.
type Options struct {
	// Root is the directory below which the file system is converged.
	Root  string
	Facts FactOptions
	Data  DataOptions
	// EvalTimeout is how long a script or manifest may take to evaluate; 0 means that
	// there is no limit.
	EvalTimeout time.Duration
	// Strict takes what is warned of otherwise for an error.
	Strict bool
	// Targets are resources, as TYPE#NAME, to which the catalog is cut down, with what
	// they require. Without any it is whole.
	Targets []string
	// Dialect is that of manifests; see manifest.Loader.
	Dialect string
}

// check reports options that can have no effect.
func (o *Options) check(h *host.Host) error {
	if o.EvalTimeout < 0 {
		return fmt.Errorf("--eval-timeout: want a duration such as 30s, got %s", o.EvalTimeout)
	}
	if fi, err := os.Stat(h.Root()); err != nil || !fi.IsDir() {
		return fmt.Errorf("--root: %s is not a directory", o.Root)
	}
	return nil
}

// FactOptions say which facts are known of the machine.
type FactOptions struct {
	// Known are taken instead of those of the machine; nil gathers them.
	Known       *facts.Facts
	Assignments []string // NAME=VALUE
	File        string   // in JSON or YAML; "" for none
}

// DataOptions say which data and which environment expressions see.
type DataOptions struct {
	File    string // the hierarchy document; "" for the one that is found
	None    bool   // no data is read
	EnvFile string // "" for the one that is found
	ReadEnv bool   // ./.env is read, if it is there
	Site    string // the script or manifest that was named, "" if none was
}
