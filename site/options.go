package site

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// Options describe how to read a script or manifest. The flags of every command that reads one fill
// them in.
type Options struct {
	// Root is the directory below which the file system is converged.
	Root string
	// Offline is set if the machine is not running, as below a root: no service of it is started.
	Offline bool `json:",omitempty"`
	Facts   FactOptions
	Data    DataOptions
	// EvalTimeout is the time limit to evaluate a script or manifest; 0 means none.
	EvalTimeout time.Duration
	// EvalMemory is the limit, in bytes, on the memory of a script's evaluation; 0 means
	// luaapi.DefaultMemory.
	EvalMemory uint64
	// Strict makes warnings errors.
	Strict bool
	Part   PartOptions
	// Dialect is that of manifests; see manifest.Loader.
	Dialect string
	Bundle  BundleOptions
	// Whole keeps the whole manifest besides its catalog, so that it can be converted. After
	// mistakes, the part that could be read is returned with the error, without a catalog.
	Whole bool `json:"-"`
	// WithData lets removals take along what no run has created.
	WithData bool `json:",omitempty"`
}

// selectionFlags returns the options that select what is declared, as flags with absolute paths:
// facts, data and the environment. Files that are found without a flag do not count. Neither does
// the root, which is recorded separately, nor the part, because a run of a part leaves the other
// resources alone.
func (o *Options) selectionFlags() (flags []string, err error) {
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

// check returns the mistake in the time limit, the root or the time of an image.
func (o *Options) check(h *host.Host) error {
	if o.EvalTimeout < 0 {
		return fmt.Errorf("--eval-timeout: %w", diag.Expected("a duration such as 30s").Got("%s", o.EvalTimeout))
	}
	if fi, err := os.Stat(h.Root()); err != nil || !fi.IsDir() {
		return fmt.Errorf("--root: %w", diag.Not(o.Root, "a directory"))
	}
	_, err := sourceDate(&h.View)
	return err
}

// PartOptions select a part of the catalog. Without any it is whole.
type PartOptions struct {
	// Targets are resources, as TYPE#NAME, and patterns. They are kept with the resources that
	// they require.
	Targets []string
	// Tags and SkipTags are lists of tags with commas between them. Resources with one of Tags are
	// kept with those that they require; resources with one of SkipTags are left out.
	Tags, SkipTags []string
	// WithDependents also keeps the resources that require a kept one, with everything that those
	// require.
	WithDependents bool
}

// isWhole reports whether the options select everything.
func (o *PartOptions) isWhole() bool { return len(o.Targets)+len(o.Tags)+len(o.SkipTags) == 0 }

// selection returns the selection of the options.
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
		return s, diag.Conflicting("--target", "--tags")
	}
	if s.WithDependents = o.WithDependents; s.WithDependents && len(s.Targets)+len(s.Tags) == 0 {
		return s, diag.Requires("--with-dependents", "--target or --tags")
	}
	return s, nil
}

// BundleOptions describe which bundles, and which remote scripts and manifests, are trusted.
type BundleOptions struct {
	// SHA256 is their expected SHA-256 in hexadecimal; "" for any.
	SHA256 string `json:",omitempty"`
	// Signers is the file of allowed signers, in the format of ssh-keygen(1); "" requires no
	// signature.
	Signers string `json:",omitempty"`
}

// FactOptions describe which facts of the machine are known.
type FactOptions struct {
	// Facts replace the facts of the machine; nil gathers them.
	Facts       *facts.Facts `json:"-"`
	Assignments []string     // NAME=VALUE
	File        string       // in JSON or YAML; "" for none
	// Values are those of a Go program. They override all others.
	Values map[string]any `json:",omitempty"`
}

// DataOptions describe which data and which environment expressions see.
type DataOptions struct {
	File    string // the hierarchy document; "" to search for one
	None    bool   // read no data
	Context string // of NATS, for kvGet(), kv://, obj:// and the registry; "" for the default
	// Registry has the options of the service registry.
	Registry RegistryOptions
	EnvFile  string // "" to search for one
	ReadEnv  bool   // read ./.env if it exists
	Site     string `json:"-"` // the named script or manifest, "" for none
	// Values are those of a Go program. They override those of the file.
	Values map[string]any `json:",omitempty"`
}
