package luaapi

import (
	"context"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// An evaluator calls the functions of scripts, within limits. The parts of an Interp share it, and it knows none of them.
type evaluator struct {
	vm    *lua.LState
	opts  *Options
	types []*resource.Type
	next  *lua.LFunction // the iterator of pairs

	worker  *lua.LState // the thread of Invoke, nil until needed
	invoked int         // number of nested calls of Invoke
	loading []string    // the modules that are being loaded
	entries *entries    // of a console, or nil

	// Tables has the read-only tables of ccm.
	Tables *Tables

	source  *sourceMap
	globals *globalTable
	report  *mistakeCollector
	limits  *limits
	convert *converter
	taint   *taintTracker
	concat  *concatenator
	weak    weakTables
}

// newEvaluator returns an evaluator without globals.
func newEvaluator(opts *Options) *evaluator {
	ev := &evaluator{
		vm: lua.NewState(lua.Options{
			SkipOpenLibs:        true,
			CallStackSize:       callDepth,
			MinimizeStackMemory: true,
			RegistrySize:        2048,
			RegistryGrowStep:    4096,
			RegistryMaxSize:     registrySize,
		}),
		opts:    opts,
		types:   opts.Registry.Types(),
		source:  &sourceMap{notesOf: make(map[string][]diag.Note)},
		globals: &globalTable{library: opts.Library},
	}
	ev.vm.Panic = throwObject
	ev.report = &mistakeCollector{opts: opts, source: ev.source, globals: ev.globals, ctx: opts.Context}
	ev.report.reset()
	ev.Tables = &Tables{
		vm: ev.vm, opts: opts, report: ev.report, source: ev.source,
		byProxy: make(map[*lua.LTable]*readonlyTable), byContents: make(map[*lua.LTable]*readonlyTable),
	}
	ev.limits = &limits{vm: ev.vm, opts: opts, report: ev.report, tables: ev.Tables}
	ev.concat = &concatenator{limits: ev.limits, source: ev.source}
	ev.concat.fn = ev.vm.NewFunction(ev.concat.join)
	ev.report.contents, ev.report.join = ev.Tables.Contents, ev.concat.fn
	ev.convert = &converter{tables: ev.Tables}
	ev.taint = &taintTracker{secrets: opts.Secrets, tables: ev.Tables, limits: ev.limits, report: ev.report}
	return ev
}

// evaluate calls a function within the limits of time and memory. The error is
// a [*diag.Error], or nil; the mistakes of declarations are in ev.report.
func (ev *evaluator) evaluate(ctx context.Context, fn *lua.LFunction) error {
	defer ev.limits.begin(ctx)()
	return ev.call(fn)
}

// call calls a function in an evaluation whose limits have begun.
func (ev *evaluator) call(fn *lua.LFunction) (err error) {
	L := ev.vm
	L.SetContext(ev.report.ctx)
	defer func() {
		if r := recover(); r != nil {
			err = ev.report.fault(L, r)
			ev.renew()
		}
	}()
	L.Push(fn)
	L.Call(0, 0)
	if ev.report.ctx.Err() != nil {
		return ev.report.stopped(diag.Pos{}, nil)
	}
	return nil
}

// forgetFrame overwrites the frame of the last call: gopher-lua leaves it on its stack, where it
// keeps all code of the script in memory.
func (ev *evaluator) forgetFrame() {
	ev.vm.Push(ev.vm.NewFunction(func(*lua.LState) int { return 0 }))
	ev.vm.Call(0, 0)
}

// throwObject throws an error. gopher-lua's own function formats the stack for every error; here
// that is done only when needed.
func throwObject(L *lua.LState) {
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: L.Get(-1)})
}

// renew replaces the thread of scripts after an error, because the interrupted calls are
// still on its stack.
func (ev *evaluator) renew() {
	ev.vm.RemoveContext()
	th, _ := ev.vm.NewThread()
	th.Panic = throwObject
	th.G.MainThread, th.G.CurrentThread = th, th
	ev.vm, ev.limits.coroutines, ev.loading = th, 0, nil
}
