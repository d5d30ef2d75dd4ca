package luaapi

import (
	"cmp"
	"context"
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// Types of scripts are part of the language in two ways: they have constructors like any other
// type, and their functions are called after the evaluation, while the machine is converged.

// DefineType adds a type to the registry of this run, which must be a
// [resource.Registry.Layer], and returns its constructor. In a
// console a type can be defined again.
func (in *Interp) DefineType(f resource.Binding) (*lua.LTable, error) {
	add := in.opts.Registry.Add
	if in.entries != nil {
		add = in.opts.Registry.Replace
	}
	if in.invoked > 0 {
		return nil, errClosed
	}
	t, err := add(f)
	if err != nil {
		return nil, err
	}
	mt := in.vm.CreateTable(0, 1)
	mt.RawSetString("__call", in.vm.NewFunction(in.declarer.construct(t)))
	c := in.declarer.constructorTable(t, mt, in.vm.NewFunction(in.declarer.setDefaults(t)))
	if in.declarer.constructors == nil {
		in.declarer.constructors = make(map[*lua.LTable]bool)
	}
	in.declarer.constructors[c] = true
	return c, nil
}

// IsInteractive reports whether the texts come from a [Console].
func (in *Interp) IsInteractive() bool { return in.entries != nil }

// errClosed is the error of a declaration after the catalog is complete.
var errClosed = diag.SubjectCannot("resources", "be declared during the run")

// Invoke calls a function of a script, and returns its first results. It is called after the
// evaluation, or by a Go function that the script has called. A declaration in the function is a
// mistake. The error is a [*diag.Error] with its place in the script, or a [diag.List].
//
// The function is ended with ctx, and when it has run for the time limit of a script. Time in
// [Interp.Outside] does not count.
func (ev *evaluator) Invoke(ctx context.Context, fn *lua.LFunction, results int, args ...lua.LValue) (out []lua.LValue, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := newStopwatch(ev.opts.Timeout, ev.opts.WaitTime, func() { cancel(errTimeout) })
	defer watch.stop()
	defer ev.limits.watchMemory(cancel)()
	defer ev.nest(ctx, watch)()
	L := ev.thread()
	L.SetContext(ctx)
	defer func() {
		r := recover()
		if r == nil {
			ev.worker = L
			err = ev.report.mistakes.Err()
			return
		}
		e := ev.report.fault(L, r)
		switch cause := context.Cause(ctx); {
		case cause == nil || tellsEnd(ev.report.ctx, e):
		case ofLimits(cause):
			e.Hint = ""
		default:
			e = &diag.Error{Pos: e.Pos, Notes: e.Notes, Err: cause}
		}
		ev.report.mistakes.Add(e)
		if out, err = nil, ev.report.mistakes.Err(); len(ev.report.mistakes) == 1 {
			err = e
		}
	}()
	base := L.GetTop()
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	L.Call(len(args), results)
	for i := range results {
		out = append(out, L.Get(base+i+1))
	}
	L.SetTop(base)
	return out, nil
}

// thread returns the thread of Invoke. After a call without an error it is put back; after an
// error the interrupted calls are still on its stack.
func (ev *evaluator) thread() *lua.LState {
	L := ev.worker
	ev.worker = nil
	if L == nil {
		L, _ = ev.vm.NewThread()
		L.Panic = throwObject
	}
	return L
}

// nest saves the state of the current evaluation and begins a new one. The function that
// it returns restores the state.
func (ev *evaluator) nest(ctx context.Context, watch *stopwatch) (leave func()) {
	type state struct {
		report    mistakeCollector
		loadStack []string
		nested    int
		watch     *stopwatch
		current   *lua.LState
	}
	was := state{*ev.report, ev.loading, ev.limits.coroutines, ev.limits.watch, ev.vm.G.CurrentThread}
	ev.report.reset()
	ev.report.ctx = ctx
	ev.loading, ev.limits.coroutines, ev.limits.watch = nil, 0, watch
	ev.invoked++
	return func() {
		ev.invoked--
		*ev.report = was.report
		ev.loading, ev.limits.coroutines, ev.limits.watch, ev.vm.G.CurrentThread = was.loadStack, was.nested, was.watch, was.current
	}
}

// Outside calls f without counting its time for the function of [Interp.Invoke]: f waits for
// something else than the script, such as a command or a download.
func (in *Interp) Outside(f func()) {
	if in.limits.watch != nil {
		in.limits.watch.stop()
		defer in.limits.watch.start()
	}
	f()
}

// Require loads a module for a script of that name. The error is a [diag.List]; mistakes in the
// module's name lack a position.
func (in *Interp) Require(ctx context.Context, script, module string) error {
	_, err := in.require(ctx, script, module)
	return err
}

// RequireFunctions is Require. It returns the functions by name in the table that the module
// returns; none if the module returns something else.
func (in *Interp) RequireFunctions(ctx context.Context, script, module string) (map[string]Function, error) {
	value, err := in.require(ctx, script, module)
	table, ok := value.(*lua.LTable)
	if err != nil || !ok {
		return nil, err
	}
	list := make(map[string]Function)
	for _, name := range stringKeys(in.Tables.Contents(table)) {
		if fn, ok := table.RawGetString(name).(*lua.LFunction); ok {
			if f, ok := in.source.function(fn); ok {
				list[name] = f
			}
		}
	}
	return list, nil
}

func (in *Interp) require(ctx context.Context, script, module string) (value lua.LValue, err error) {
	in.report.reset()
	in.modules.setScript(script)
	err = in.evaluate(ctx, in.vm.NewFunction(func(L *lua.LState) int {
		L.Push(global(in.vm, "require"))
		L.Push(lua.LString(module))
		L.Call(1, 1)
		value = L.Get(-1)
		return 0
	}))
	in.report.mistakes.Add(err)
	return value, in.report.mistakes.Err()
}

// ThrowIn throws a mistake about the table argument of the running function, at the value at path
// or, if key is set, at its name, as far as these are written in the script.
func (in *Interp) ThrowIn(L *lua.LState, path schema.Path, key bool, hint, format string, args ...any) {
	f, notes := in.source.origin(L)
	pos := in.source.framePos(f)
	if p := in.source.argument(f, path, key); p.Line > 0 {
		pos = p
		if pos.File == "" {
			pos.File = f.file
		}
	}
	err := fmt.Errorf(format, args...)
	in.report.raise(L, &diag.Error{Pos: pos, Err: err, Hint: cmp.Or(hint, diag.HintOf(err)), Notes: notes})
}

// FunctionPlace returns the place where a function of a script begins.
func (in *Interp) FunctionPlace(fn *lua.LFunction) diag.Pos {
	if fn.IsG {
		return diag.Pos{}
	}
	return in.source.lineOf(fn.Proto.LineDefined, fn.Proto.SourceName)
}

// Values returns a thread to make values with. Nothing may run in it.
func (in *Interp) Values() *lua.LState { return in.vm }
