// Package luaapi evaluates scripts: Lua with a constructor for each type of resource, the
// facts and modules beside the script, without access to the machine.
//
//	file { "/etc/motd", content = "hi\n", owner = "root", group = "root", mode = "0644" }
//
// A script only declares resources, which go to a [catalog.Builder]. Every mistake has a
// position, and all mistakes of a script are found at once: a constructor that finds one
// records it, and the script goes on.
//
// The sandbox protects against accidents, not against an enemy: a script can
// use up the time and the memory that it is granted, but no more of the time and
// little more of the memory.
//
// Begin with [New] and [Interp.Run].
package luaapi

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// DefaultTimeout is how long a script may run unless Options say otherwise.
const DefaultTimeout = 60 * time.Second

// DefaultMemory is how many bytes a script may hold unless Options say
// otherwise.
const DefaultMemory = 1 << 30

// Options are the environment of scripts. Registry and Builder are required.
type Options struct {
	// Context ends functions of types that are called after the evaluation, such as decide; may be
	// nil.
	Context context.Context
	// Registry has the types for which there are constructors.
	Registry *resource.Registry
	// Builder gets the resources. A console also reads and removes resources there.
	Builder *catalog.Builder
	// Facts are those of the table facts.
	Facts *facts.Facts
	// Args are the elements of arg from 1 on; arg[0] is the name of the script.
	Args []string
	// Noop is ccm.noop.
	Noop bool
	// Version is ccm.version.
	Version string
	// Env returns the value of env.NAME.
	Env func(name string) (string, bool)
	// Secrets keeps the secrets of the script; nil for one of its own.
	Secrets *secret.Keeper
	// Print gets the output of print.
	Print io.Writer
	// Warn gets the warnings of ccm.warn and their positions.
	Warn func(pos diag.Pos, msg string)
	// Strict turns warnings into mistakes, except those of ccm.warn.
	Strict bool
	// Timeout is the evaluation deadline.
	Timeout time.Duration
	// WaitTime returns how long this process has waited for answers of the user so far. That time
	// does not count for the script. May be nil.
	WaitTime func() time.Duration
	// Memory is how many bytes a script may hold.
	Memory uint64
	// Path lists directories with modules, searched after those of the script.
	Path []string
	// Packages finds modules of others; nil if there are none.
	Packages Packages
	// ReadFile reads the files of modules; nil for os.ReadFile.
	ReadFile func(name string) ([]byte, error)
	// Library holds the modules that ship with ccm. They are searched last.
	Library fs.FS
	// Scope is that of all resources; nil means the script that is run.
	Scope *resource.Scope
	// Add adds a resource to the catalog instead of Builder.Add, such as [catalog.Unit.Add], which
	// also applies children; nil means Builder.Add.
	Add func(r *resource.Resource) (*resource.Resource, error)
	// Extend adds globals of packages above this one; see extension.go.
	Extend func(in *Interp)
}

// An Interp evaluates scripts that add to one catalog. It is not safe for use
// by several goroutines.
type Interp struct {
	*evaluator
	results  *Results
	declarer *declarer
	modules  *moduleLoader
}

// New returns an Interp that has not run a script yet.
func New(opts Options) *Interp {
	if opts.Facts == nil {
		opts.Facts = facts.Static(nil)
	}
	if opts.Env == nil {
		opts.Env = func(string) (string, bool) { return "", false }
	}
	if opts.ReadFile == nil {
		opts.ReadFile = os.ReadFile
	}
	if opts.Secrets == nil {
		opts.Secrets = secret.New(nil)
	}
	if opts.Print == nil {
		opts.Print = io.Discard
	}
	if opts.Warn == nil {
		opts.Warn = func(diag.Pos, string) {}
	}
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.Memory == 0 {
		opts.Memory = DefaultMemory
	}
	if opts.Context == nil {
		opts.Context = context.Background()
	}
	if opts.Add == nil {
		opts.Add = opts.Builder.Add
	}
	limitLists()
	in := &Interp{evaluator: newEvaluator(&opts)}
	in.results = &Results{ev: in.evaluator}
	in.declarer = &declarer{evaluator: in.evaluator, results: in.results}
	in.modules = &moduleLoader{evaluator: in.evaluator, declarer: in.declarer}
	in.openGlobals()
	if opts.Extend != nil {
		opts.Extend(in)
	}
	return in
}

// Close releases the interpreter, unless its scripts have defined types or called ccm.lazy or
// ccm.after: their functions are needed until the end of the run. Positions can be found after
// Close.
func (in *Interp) Close() {
	if !in.vm.IsClosed() && in.declarer.constructors == nil && !in.results.Needed() {
		in.vm.Close()
	}
}

// ForgetPlaces frees the tables of exact columns. When such a place is needed later, the text is
// parsed again.
func (in *Interp) ForgetPlaces() {
	for _, c := range in.source.chunks {
		c.forget()
	}
}

// Sources finds the texts of the script and of its modules.
func (in *Interp) Sources() diag.Sources { return in.shown }

// Run evaluates a script, which adds resources to the Builder. The error is a [diag.List] of all
// mistakes found, in the order of their places. The name is the script's file name: relative
// paths and the search for modules start from its directory.
func (in *Interp) Run(ctx context.Context, name, text string) error {
	in.report.reset()
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return err
	}
	in.modules.setScript(name)
	defer in.limits.begin(ctx)()
	fn, c, err := in.modules.load(name, dir, text)
	if err == nil {
		c.script = true
		err = in.call(fn)
		if err == nil {
			in.declarer.endOverrides()
		}
		c.release()
		in.forgetFrame()
	}
	in.report.mistakes.Add(err)
	return in.report.mistakes.Err()
}
