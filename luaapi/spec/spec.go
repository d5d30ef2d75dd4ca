// Package spec runs the tests of sites: files in the words of busted and
// luassert, and what they ask of catalogs.
//
//	describe("web", function()
//	  it("runs nginx", function()
//	    assert.resource(catalog("site.lua"), "service#nginx", { ensure = "running" })
//	  end)
//	end)
//
// Each file has an interpreter of its own. Begin with [Options.Run].
package spec

import (
	"context"
	"time"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A Status is the result of a test.
type Status string

// Results of tests. A Failure comes from an assertion, an Error from anything else.
const (
	Success Status = "success"
	Failure Status = "failure"
	Error   Status = "error"
	Pending Status = "pending"
)

// A Result is the record of one test.
type Result struct {
	File string
	// Name is the name of the test, after the names of its blocks.
	Name   string
	Pos    diag.Pos
	Tags   []string
	Status Status
	// Errs are the reasons of a failure; for a pending test, the reason why it is pending.
	Errs     diag.List
	Duration time.Duration
}

// A Fixture is the machine of a test, as the tested script finds it.
type Fixture struct {
	Facts    map[string]any
	Data     map[string]any
	Args     []string
	Env      map[string]string
	Files    map[string]string
	Packages map[string]string
	Services map[string]string
	Commands map[string]Answer
}

// An Answer is the output and the exit code of a command.
type Answer struct {
	Stdout, Stderr string
	Code           int
}

// A Catalog has the resources of a script or manifest, and an imaginary machine.
type Catalog interface {
	Catalog() *catalog.Catalog
	// Converge converges the machine.
	Converge(ctx context.Context) (Outcome, error)
	// ReadFile returns the content of a file of the machine.
	ReadFile(path string) ([]byte, error)
	// Commands returns the commands that were run, in order.
	Commands() []string
}

// An Outcome has the results of converging, and the changes that a second run would make.
type Outcome struct {
	// Events are in the order of the catalog.
	Events []Event
	// SecondRun are the resources that a second run would change.
	SecondRun []Event
}

// An Event is the result of one resource.
type Event struct {
	ID, Outcome string
	Pos         diag.Pos
	// Reason is the reason of a failure, or the difference that a second run would change.
	Reason string
}

// Options are the options of running specs.
type Options struct {
	// Interp returns an interpreter with the additions that extend makes.
	Interp func(extend func(in *luaapi.Interp)) *luaapi.Interp
	// Catalog evaluates a script or manifest.
	Catalog func(ctx context.Context, file string, g Fixture) (Catalog, error)
	Clock   host.Clock
	// Registry has the types, including types that the spec or its modules define.
	Registry *resource.Registry
	// Scratch makes an empty directory. Imagine sets up a directory as the machine of a spec, and
	// returns the runner of commands there.
	Scratch func() (root string, err error)
	Imagine func(root string, g Fixture) (host.Runner, error)
	// Filter reports whether a test is to be run.
	Filter func(name string, tags []string) bool
	// Report is called at the end of each test.
	Report func(r Result)
	// Machine is the machine of blocks and tests with { system = true }. Without one these are pending; with one only
	// they are run.
	Machine Machine
}

// A runner runs one file.
type runner struct {
	Options
	in       *luaapi.Interp
	asserter *asserter
	file     string

	root, current *block
	running       bool // a test is being run, so no further one can be declared
}

// Run runs the tests of a file. The returned sources have the evaluated texts. The error reports that
// the file cannot be evaluated.
func (o Options) Run(ctx context.Context, file string, text []byte) (diag.Sources, error) {
	r := &runner{Options: o, file: file, root: &block{}}
	r.current = r.root
	r.in = o.Interp(r.extend)
	defer r.in.Close()
	if err := r.in.Run(ctx, file, string(text)); err != nil {
		return r.in.Sources(), err
	}
	r.running = true
	r.runBlock(ctx, r.root)
	return r.in.Sources(), nil
}
