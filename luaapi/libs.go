package luaapi

import (
	gomath "math"
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"
)

// A library is a table of functions of gopher-lua that scripts get. Others
// are not available. The order is the order of pairs, so that it is the same in every
// run.
type library struct {
	name  string
	open  lua.LGFunction
	names []string
}

var libraries = []library{
	{"", lua.OpenBase, []string{
		"_VERSION", "getmetatable", "rawequal", "select", "type",
	}},
	{"coroutine", lua.OpenCoroutine, []string{"create", "running", "status", "yield"}},
	{"math", lua.OpenMath, []string{
		"abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "deg", "exp", "floor", "fmod", "frexp",
		"huge", "ldexp", "log", "log10", "max", "min", "modf", "pi", "pow", "rad", "sin", "sinh", "sqrt", "tan", "tanh",
	}},
	{"os", lua.OpenOs, []string{"clock", "date", "difftime", "time"}},
	{"string", lua.OpenString, []string{"len", "reverse", "sub"}},
	{"table", lua.OpenTable, nil},
}

// A builtin is a function of this package that scripts get.
type builtin struct {
	name string
	fn   lua.LGFunction
}

// openGlobals makes the globals of scripts.
func (in *Interp) openGlobals() {
	L := in.vm
	origin := L.G.Global
	for _, lib := range libraries {
		L.Push(L.NewFunction(lib.open))
		L.Push(lua.LString(lib.name))
		L.Call(1, 0)
	}
	table := &tableLib{in.evaluator}
	base := &baseLib{ev: in.evaluator, modules: in.modules, table: table}
	math := &mathLib{}
	math.seed(1)
	base.iterators(origin)
	resume := origin.RawGetString("coroutine").(*lua.LTable).RawGetString("resume").(*lua.LFunction)
	yield := origin.RawGetString("coroutine").(*lua.LTable).RawGetString("yield").(*lua.LFunction)
	create := origin.RawGetString("coroutine").(*lua.LTable).RawGetString("create").(*lua.LFunction)

	globals := L.CreateTable(0, 64)
	L.G.Global, L.Env = globals, globals
	for _, lib := range libraries {
		from, to := origin, globals
		if lib.name != "" {
			from, to = origin.RawGetString(lib.name).(*lua.LTable), L.CreateTable(0, len(lib.names)+4)
			globals.RawSetString(lib.name, to)
		}
		for _, name := range lib.names {
			v := from.RawGetString(name)
			if fn, ok := v.(*lua.LFunction); ok {
				switch {
				case name == "select":
					v = L.NewFunction(withNumbers(1, 1, fn.GFunction))
				case lib.name == "string":
					v = L.NewFunction(in.Derived(withNumbers(2, 3, fn.GFunction)))
				case lib.name == "math":
					v = L.NewFunction(withNumbers(1, gomath.MaxInt, fn.GFunction))
				}
			}
			to.RawSetString(name, v)
		}
	}
	in.define(globals, base.functions())
	in.define(globals.RawGetString("string").(*lua.LTable), (&stringLib{ev: in.evaluator, patterns: make(map[string]*compiledPattern)}).functions())
	in.define(globals.RawGetString("table").(*lua.LTable), table.functions())
	in.define(globals.RawGetString("coroutine").(*lua.LTable), base.coroutineFunctions(create.GFunction, resume.GFunction, yield.GFunction))
	in.define(globals.RawGetString("math").(*lua.LTable), []builtin{{"random", math.random}, {"randomseed", math.randomSeed}})
	mathTable := globals.RawGetString("math").(*lua.LTable)
	mathTable.RawSetString("huge", lua.LNumber(gomath.Inf(1))) // that of gopher-lua is the largest finite number
	mathTable.RawSetString("mod", mathTable.RawGetString("fmod"))
	in.define(globals.RawGetString("os").(*lua.LTable), []builtin{{"date", date}, {"time", timeOf}})
	debug := L.CreateTable(0, 4)
	globals.RawSetString("debug", debug)
	in.modules.openDump(globals.RawGetString("string").(*lua.LTable))
	in.define(debug, []builtin{{"traceback", base.traceback}, {"getinfo", base.getInfo}, {"getmetatable", realMetatable}, {"setmetatable", base.setMetatable}})
	methods := L.CreateTable(0, 1)
	methods.RawSetString("__index", globals.RawGetString("string"))
	in.define(methods, textArithmetic())
	L.SetMetatable(lua.LString(""), methods)

	globals.RawSetString("_G", globals)
	in.modules.openPackage(globals)
	in.declarer.openHandles()
	globals.RawSetString("facts", in.Tables.factsTable())
	globals.RawSetString("env", in.Tables.envTable())
	globals.RawSetString("ccm", in.ccmTable())
	in.modules.packageTable().RawGetString("loaded").(*lua.LTable).RawSetString("ccm", globals.RawGetString("ccm"))
	globals.RawSetString("arg", L.CreateTable(len(in.opts.Args), 0))
	in.define(globals, []builtin{{"fact", in.Tables.fact}, {"require", in.modules.require}})
	in.declarer.defineConstructors(globals)
	in.globals.names = stringKeys(globals)
	in.modules.makeStrict(globals)
	if in.opts.Library != nil {
		in.Define("std", "", func(L *lua.LState) lua.LValue {
			return in.modules.stdTable(L.NewFunction(in.modules.require))
		})
	}
}

// define adds functions to a table.
func (ev *evaluator) define(t *lua.LTable, list []builtin) {
	for _, b := range list {
		t.RawSetString(b.name, ev.vm.NewFunction(b.fn))
	}
}

// setScript sets arg and package.path for the name of the script.
func (ml *moduleLoader) setScript(name string) {
	arg := global(ml.vm, "arg").(*lua.LTable)
	arg.RawSet(lua.LNumber(0), lua.LString(name))
	for i, a := range ml.opts.Args {
		arg.RawSetInt(i+1, lua.LString(a))
	}
	ml.setPath(name)
}

// A mathLib holds the functions of math that are not gopher-lua's.
type mathLib struct{ generator *rand.Rand }

// seed makes math.random start again. Unless a script asks for something else,
// its numbers are the same in every run, so that a script is deterministic.
func (lib *mathLib) seed(n uint64) { lib.generator = rand.New(rand.NewPCG(n, 0)) }

func (lib *mathLib) randomSeed(L *lua.LState) int {
	lib.seed(uint64(int64(checkNumber(L, 1))))
	return 0
}

func (lib *mathLib) random(L *lua.LState) int {
	if L.GetTop() == 0 {
		L.Push(lua.LNumber(lib.generator.Float64()))
		return 1
	}
	low, high := int64(1), int64(checkNumber(L, 1))
	if L.GetTop() > 1 {
		low, high = high, int64(checkNumber(L, 2))
	}
	if low > high || high-low < 0 || high-low == 1<<63-1 {
		L.ArgError(L.GetTop(), "the interval is empty")
	}
	L.Push(lua.LNumber(low + lib.generator.Int64N(high-low+1)))
	return 1
}
