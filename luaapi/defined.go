package luaapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// Types that scripts define are part of the language in two ways: they have
// constructors like any other type, and their functions are called after the
// evaluation, while the machine is converged.

// defined is what an interpreter knows of the types that its scripts define.
type defined struct {
	made    map[*lua.LTable]bool // their constructors
	worker  *lua.LState          // the thread of Invoke, nil until it is needed
	invoked int                  // calls of Invoke inside one another
	watch   *stopwatch           // of the innermost
}

// DefineType adds a type to the registry of this run, which must be a
// [resource.Registry.Layer], and returns its constructor. Whoever types what a
// session evaluates can define a type anew.
func (in *Interp) DefineType(f resource.Factory) (*lua.LTable, error) {
	add := in.opts.Registry.Add
	if in.session != nil {
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
	mt.RawSetString("__call", in.vm.NewFunction(in.construct(t)))
	c := in.constructorTable(t, mt, in.vm.NewFunction(in.setDefaults(t)))
	if in.made == nil {
		in.made = make(map[*lua.LTable]bool)
	}
	in.made[c] = true
	return c, nil
}

// IsSession reports whether a person types what is evaluated.
func (in *Interp) IsSession() bool { return in.session != nil }

// errClosed says that the catalog of a run is complete.
var errClosed = errors.New("nothing can be declared any more: the machine is being converged")

// Invoke calls a function that a script has defined, and returns its first
// results. It is for the time after the evaluation, or for a Go function that
// the script has called: what the function declares is a mistake. The error is a
// [*diag.Error] at its place in the script, or a [diag.List].
//
// The function is ended with ctx, and when it has run for as long as a script
// may take, not counting the time in [Interp.Outside].
func (in *Interp) Invoke(ctx context.Context, fn *lua.LFunction, results int, args ...lua.LValue) (out []lua.LValue, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := newStopwatch(in.opts.Timeout, func() { cancel(errTimeout) })
	defer watch.stop()
	defer in.watchMemory(cancel)()
	defer in.enter(ctx, watch)()
	L := in.thread()
	L.SetContext(ctx)
	defer func() {
		r := recover()
		if r == nil {
			in.worker = L
			err = in.mistakes.Err()
			return
		}
		e := in.fault(L, r)
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errTimeout) && !errors.Is(cause, errMemory) {
			e = &diag.Error{Pos: e.Pos, Notes: e.Notes, Err: cause}
		} else if cause != nil {
			e.Hint = ""
		}
		in.mistakes.Add(e)
		if out, err = nil, in.mistakes.Err(); len(in.mistakes) == 1 {
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

// thread takes the thread of Invoke. It is put back after a call without an
// error; after an error there is still on it what was running then.
func (in *Interp) thread() *lua.LState {
	L := in.worker
	in.worker = nil
	if L == nil {
		L, _ = in.vm.NewThread()
		L.Panic = throwObject
	}
	return L
}

// enter puts aside the state of whatever is being evaluated. The function that
// it returns brings it back.
func (in *Interp) enter(ctx context.Context, watch *stopwatch) (leave func()) {
	type state struct {
		ctx      context.Context
		mistakes diag.List
		noted    map[string]bool
		raised   raised
		fatal    *diag.Error
		loading  []string
		nested   int
		watch    *stopwatch
		current  *lua.LState
	}
	was := state{in.ctx, in.mistakes, in.noted, in.raised, in.fatal, in.loading, in.nested, in.watch, in.vm.G.CurrentThread}
	in.ctx, in.mistakes, in.noted, in.raised, in.fatal = ctx, nil, make(map[string]bool), raised{}, nil
	in.loading, in.nested, in.watch = nil, 0, watch
	in.invoked++
	return func() {
		in.invoked--
		in.ctx, in.mistakes, in.noted, in.raised, in.fatal = was.ctx, was.mistakes, was.noted, was.raised, was.fatal
		in.loading, in.nested, in.watch, in.vm.G.CurrentThread = was.loading, was.nested, was.watch, was.current
	}
}

// Outside calls f, whose time does not count as that of the function which
// [Interp.Invoke] has called: a command, a download.
func (in *Interp) Outside(f func()) {
	if in.watch != nil {
		in.watch.stop()
		defer in.watch.start()
	}
	f()
}

// A stopwatch calls a function after some time, not counting the time in which
// it stands still.
type stopwatch struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

func newStopwatch(limit time.Duration, end func()) *stopwatch {
	return &stopwatch{time.AfterFunc(limit, end), limit, time.Now()}
}

func (w *stopwatch) stop() {
	w.timer.Stop()
	w.left -= time.Since(w.since)
}

func (w *stopwatch) start() {
	w.since = time.Now()
	w.timer.Reset(max(0, w.left))
}

// CallerSource returns a text that stands for the place of the script that called
// and for all that is written in its file.
func (in *Interp) CallerSource(L *lua.LState) string {
	f := caller(L)
	text, _ := in.source(f.file)
	return fmt.Sprintf("%s %x", in.place(f.node, f.file), sha256.Sum256([]byte(text)))
}

// Require loads a module, as a script of that name would. The error is a
// [diag.List]; what is wrong with the name itself has no place.
func (in *Interp) Require(ctx context.Context, script, module string) error {
	in.mistakes, in.fatal, in.raised = nil, nil, raised{}
	in.setScript(script)
	err := in.evaluate(ctx, in.vm.NewFunction(func(L *lua.LState) int {
		L.Push(in.global("require"))
		L.Push(lua.LString(module))
		L.Call(1, 0)
		return 0
	}))
	in.mistakes.Add(err)
	return in.mistakes.Err()
}

// Caller returns the place of the script that called.
func (in *Interp) Caller(L *lua.LState) diag.Pos { return in.spot(caller(L)) }

// ThrowIn throws a mistake in the table that a script gave to the function which
// it called: at the value that path leads to, or at its name if key is set, as
// far as it is written there.
func (in *Interp) ThrowIn(L *lua.LState, path schema.Path, key bool, hint, format string, args ...any) {
	f, notes := in.origin(L)
	pos := in.spot(f)
	if p := in.argument(f, path, key); p.Line > 0 {
		pos = p
		if pos.File == "" {
			pos.File = f.file
		}
	}
	in.raise(L, &diag.Error{Pos: pos, Err: fmt.Errorf(format, args...), Hint: hint, Notes: notes})
}

// argument returns the place of what path leads to in the table that the call at
// f is given.
func (in *Interp) argument(f frame, path schema.Path, key bool) diag.Pos {
	c := in.chunkOf(f.node)
	if c == nil || len(path) == 0 {
		return diag.Pos{}
	}
	t := c.tree()
	call, ok := t.node(f.node).(*ast.FuncCallExpr)
	if !ok {
		return diag.Pos{}
	}
	name, _ := path[0].(string)
	field := fieldNamed(tableArg(call), []string{name})
	if field == nil {
		return diag.Pos{}
	}
	if p := inValue(t, field, path[1:], key); p.Line > 0 {
		return p
	}
	return inValue(t, field, path[1:], true) // a function has no place of its own
}

// FunctionPlace returns where a function of a script begins.
func (in *Interp) FunctionPlace(fn *lua.LFunction) diag.Pos {
	if fn.IsG {
		return diag.Pos{}
	}
	return in.place(fn.Proto.LineDefined, fn.Proto.SourceName)
}

// Values returns a thread to make values with. Nothing is to run in it.
func (in *Interp) Values() *lua.LState { return in.vm }
