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

// A Status is what became of a test.
type Status string

// What becomes of tests. A failure is that of an assertion, an error any other.
const (
	Success Status = "success"
	Failure Status = "failure"
	Error   Status = "error"
	Pending Status = "pending"
)

// A Result is the record of one test.
type Result struct {
	File string
	// Name is that of the test behind those of its blocks.
	Name   string
	Pos    diag.Pos
	Tags   []string
	Status Status
	// Errs are why it failed; of one that is pending, why that is so.
	Errs     diag.List
	Duration time.Duration
}

// A Fixture is the machine of a test: what the script that it tests finds there.
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

// An Answer is what a command says and how it exits.
type Answer struct {
	Stdout, Stderr string
	Code           int
}

// A Catalog is what a script or manifest declares, and a machine that is only
// imagined.
type Catalog interface {
	Catalog() *catalog.Catalog
	// Converge converges the machine.
	Converge(ctx context.Context) (Outcome, error)
	// ReadFile returns the content of a file of the machine.
	ReadFile(path string) ([]byte, error)
	// Commands returns the commands that were run, in order.
	Commands() []string
}

// An Outcome is what converging has done, and what a second run would do.
type Outcome struct {
	// Events are in the order of the catalog.
	Events []Event
	// SecondRun are the resources that a second run would change.
	SecondRun []Event
}

// An Event is what became of one resource.
type Event struct {
	ID, Outcome string
	Pos         diag.Pos
	// Reason is why it failed, or what differs.
	Reason string
}

// Options are what specs are run with.
type Options struct {
	// Interp returns an interpreter that also has what extend adds.
	Interp func(extend func(in *luaapi.Interp)) *luaapi.Interp
	// Catalog evaluates a script or manifest.
	Catalog func(ctx context.Context, file string, g Fixture) (Catalog, error)
	Clock   host.Clock
	// Registry has the types, those that the spec or its modules define included.
	Registry *resource.Registry
	// Scratch makes an empty directory, and Imagine sets it up as the machine of a spec.
	// It returns the runner of commands there.
	Scratch func() (root string, err error)
	Imagine func(root string, g Fixture) (host.Runner, error)
	// Filter reports whether a test is to be run.
	Filter func(name string, tags []string) bool
	// Report is called for each test when it is done.
	Report func(r Result)
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

// Run runs the tests of a file. The texts of what was evaluated are found in the
// sources that it returns. The error is that of a file which cannot be evaluated.
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
