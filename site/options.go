package site

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
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
	// EvalMemory is how many bytes a script may hold while it is evaluated; 0 stands for what is
	// usual (luaapi.DefaultMemory).
	EvalMemory uint64
	// Strict takes what is warned of otherwise for an error.
	Strict bool
	Part   PartOptions
	// Dialect is that of manifests; see manifest.Loader.
	Dialect string
	Bundle  BundleOptions
}

// selecting returns those that select what is declared, as flags with absolute paths: facts,
// data and the environment. What is found without them is not among them, and neither are
// the root, which is recorded beside, and the part, for runs of a part leave the rest alone.
func (o *Options) selecting() (flags []string, err error) {
	for _, fact := range slices.Sorted(slices.Values(o.Facts.Assignments)) {
		flags = append(flags, "--fact", fact)
	}
	data := o.Data.File
	if data == "" && !o.Data.None {
		data = os.Getenv(DataVariable)
	}
	for _, x := range []struct{ flag, file string }{{"--facts", o.Facts.File}, {"--data", data}, {"--env-file", o.Data.EnvFile}} {
		if x.file == "" {
			continue
		}
		path, err := Name(x.file)
		if err != nil {
			return nil, err
		}
		flags = append(flags, x.flag, path)
	}
	if o.Data.None {
		flags = append(flags, "--no-data")
	}
	return flags, nil
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

// PartOptions say to which part the catalog is cut down. Without any it is whole.
type PartOptions struct {
	// Targets are resources, as TYPE#NAME, and patterns of them, which are kept with what
	// they require.
	Targets []string
	// Tags and SkipTags are lists of tags with commas between them. What has one of Tags
	// is kept with what it requires; what has one of SkipTags is left out.
	Tags, SkipTags []string
	// WithDependents keeps also what requires a target or what has one of Tags, and all
	// that that requires.
	WithDependents bool
}

// isWhole reports whether nothing is cut away.
func (o *PartOptions) isWhole() bool { return len(o.Targets)+len(o.Tags)+len(o.SkipTags) == 0 }

// selection returns what the options say.
func (o *PartOptions) selection() (s catalog.Selection, err error) {
	for _, t := range o.Targets {
		id, err := resource.ParseID(t)
		if err != nil {
			return s, fmt.Errorf("--target: %w", err)
		}
		s.Targets = append(s.Targets, id)
	}
	for _, list := range o.Tags {
		s.Tags = append(s.Tags, strings.Split(list, ",")...)
	}
	for _, list := range o.SkipTags {
		s.SkipTags = append(s.SkipTags, strings.Split(list, ",")...)
	}
	if len(s.Targets) > 0 && len(s.Tags) > 0 {
		return s, errors.New("--target and --tags exclude each other")
	}
	if s.WithDependents = o.WithDependents; s.WithDependents && len(s.Targets)+len(s.Tags) == 0 {
		return s, errors.New("--with-dependents goes only with --target or --tags")
	}
	return s, nil
}

// FactOptions say which facts are known of the machine.
type FactOptions struct {
	// Facts are taken instead of those of the machine; nil gathers them.
	Facts       *facts.Facts `json:"-"`
	Assignments []string     // NAME=VALUE
	File        string       // in JSON or YAML; "" for none
}

// DataOptions say which data and which environment expressions see.
type DataOptions struct {
	File    string // the hierarchy document; "" for the one that is found
	None    bool   // no data is read
	Context string // of NATS, for kvGet(), kv://, obj:// and the registry; "" for the usual one
	// Registry is that of services.
	Registry RegistryOptions
	EnvFile  string // "" for the one that is found
	ReadEnv  bool   // ./.env is read, if it is there
	Site     string `json:"-"` // the script or manifest that was named, "" if none was
}
