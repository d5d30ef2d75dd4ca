package luaapi

import (
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// A chunk is a compiled text: the script, a module, a string given to load.
//
// gopher-lua records only the line of an instruction. So each node of the syntax tree
// gets a number, and the compiler takes that for its line: the machine then reports the
// exact expression.
// Numbers begin at nodeBase, beyond all lines, and no two chunks share one.
// [chunk.tree] leads from a number to the expression and to its columns.
type chunk struct {
	name  string // in messages
	dir   string // the absolute directory that relative paths start from
	text  string
	owner *Package // the package of the code; nil for that of the site, and of ccm itself

	loaded bool   // it was given to load
	source string // the name that load was given, "" for none

	first int      // the number of its first node
	nodes []uint32 // for each node: line*8, +1 if [chunk.curried], +2 if [chunk.spread], +4 if [chunk.isCall]

	callSites []*callSite            // by number; an element is nil once that call cannot run again
	nilable   map[int][]nilableField // fields that may turn out nil, by the node of the call with the table
	cut       map[int]ast.Expr       // names of which Lua keeps the first value only, by the node of the call
	numerals  bool                   // it may have numbers such as 0644; see numerals.go
	script    bool                   // set for the script that is run, not for its modules
	foreign   bool                   // set for code of others: assignments to globals define them for the code of others alone

	env      *lua.LTable
	defaults map[*resource.Type]*defaults
	common   *defaults // of all types; nil for none

	tree func() *syntax.Tree
	// forget frees the tree; it is parsed again when needed.
	forget func()
}

// setTree sets what makes the tree.
func (c *chunk) setTree(make func() *syntax.Tree) {
	c.forget = func() { c.tree = sync.OnceValue(make) }
	c.forget()
}

// nodeBase is the lowest number of a node.
const nodeBase = 1 << 24

// numberNodes replaces the lines of the nodes of c by their numbers.
func (c *chunk) numberNodes(stmts []ast.Stmt) {
	var curried, spread ast.Expr
	w := syntax.Walker{Enter: func(n ast.PositionHolder) {
		switch n := n.(type) {
		case *ast.LocalAssignStmt:
			spread = spreadCall(len(n.Names), n.Exprs)
		case *ast.AssignStmt:
			spread = spreadCall(len(n.Lhs), n.Rhs)
		}
		if !syntax.HasNumber(n) {
			return
		}
		entry := uint32(n.Line()) << 3
		if call, ok := n.(*ast.FuncCallExpr); ok {
			entry |= 4
			if call == curried {
				entry |= 1
			}
			if call == spread {
				entry |= 2
			}
			if inner, ok := call.Func.(*ast.FuncCallExpr); ok {
				curried = inner
			}
			if table := syntax.TableArg(call); table != nil {
				if e := CutName(table); e != nil {
					if c.cut == nil {
						c.cut = make(map[int]ast.Expr)
					}
					c.cut[c.first+len(c.nodes)] = e
				}
				if fields := nilableFields(table, true); fields != nil {
					if c.nilable == nil {
						c.nilable = make(map[int][]nilableField)
					}
					c.nilable[c.first+len(c.nodes)] = fields
				}
			}
		}
		n.SetLine(c.first + len(c.nodes))
		c.nodes = append(c.nodes, entry)
	}}
	w.Stmts(stmts)
}

// spreadCall returns the call of which the values are assigned to several variables, nil
// if there is none.
func spreadCall(targets int, exprs []ast.Expr) ast.Expr {
	if n := len(exprs); n == 0 || targets <= n || !manyValues(exprs[n-1]) {
		return nil
	}
	return exprs[len(exprs)-1]
}

// CutName returns the first unpack(...) or ... among the names in the table of a
// constructor of which Lua keeps one value, because it is not the last field; nil if there
// is none.
func CutName(t *ast.TableExpr) ast.Expr {
	for i, f := range t.Fields {
		if i == len(t.Fields)-1 || f.Key != nil || !manyValues(f.Value) {
			continue
		}
		switch v := f.Value.(type) {
		case *ast.Comma3Expr:
			return v
		case *ast.FuncCallExpr:
			if v.Func != nil && lastName(v) == "unpack" {
				return v
			}
		}
	}
	return nil
}

// release drops the declarations outside of functions, and the part of the syntax tree
// that they hold: the text has run and does not run again. Those in functions may.
func (c *chunk) release() {
	for i, s := range c.callSites {
		if s != nil && !s.inFunction {
			c.callSites[i] = nil
		}
	}
}

// line returns the line of a node.
func (c *chunk) line(node int) int { return int(c.nodes[node-c.first] >> 3) }

// curried reports whether the result of the call is called at once, as in
// file "/etc/motd" { ... }.
func (c *chunk) curried(node int) bool { return c.nodes[node-c.first]&1 != 0 }

// spread reports whether the results of the call are assigned to several variables.
func (c *chunk) spread(node int) bool { return c.nodes[node-c.first]&2 != 0 }

// isCall reports whether the node is written as a call.
func (c *chunk) isCall(node int) bool { return c.nodes[node-c.first]&4 != 0 }

// load parses a text and compiles it to a function. The error for invalid Lua is a [*diag.Error] that wraps a [syntax.Error].
func (ml *moduleLoader) load(name, dir, text string) (*lua.LFunction, *chunk, error) {
	return ml.loadOf(nil, name, dir, text, false)
}

// loadOf is load for a text of a package, or of other code that is foreign.
func (ml *moduleLoader) loadOf(of *Package, name, dir, text string, foreign bool) (*lua.LFunction, *chunk, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	c := &chunk{name: name, dir: dir, text: text, owner: of, first: ml.source.nextNode(),
		foreign: foreign || of != nil || ml.isVendored(name)}
	ml.source.chunks = append(ml.source.chunks, c)
	stmts, err := syntax.ParseText(syntax.WithoutShebang(text), name)
	if err != nil {
		return nil, nil, syntax.Mistake(name, syntax.WithoutShebang(text), err)
	}
	c.numerals = mayHaveNumerals(text)
	if ml.report.ctx.Err() != nil {
		return nil, nil, ml.report.stopped(diag.Pos{File: name, Line: 1}, nil)
	}
	c.numberNodes(stmts)
	separateNames(stmts, syntax.WithoutShebang(text))
	c.setTree(func() *syntax.Tree { return syntax.NewTree(c.first, syntax.WithoutShebang(text)) })
	proto, err := ml.compileChunk(c, stmts)
	if err != nil {
		return nil, nil, ml.report.compileMistake(c, err)
	}
	proto.LineDefined, proto.LastLineDefined = 0, 0 // as Lua has it
	c.env = ml.environment(c)
	fn := ml.vm.NewFunctionFromProto(proto)
	fn.Env = c.env
	return fn, c, nil
}

// compileChunk makes code of the syntax tree of c, after it has rewritten the declarations in it
// that need no table (callsite.go), and what gopher-lua would compile slowly (constants.go).
func (ml *moduleLoader) compileChunk(c *chunk, stmts []ast.Stmt) (*lua.FunctionProto, error) {
	d := &rewriter{ev: ml.evaluator, declarer: ml.declarer, c: c, chunk: len(ml.source.chunks), long: len(c.text) >= shortText}
	if !ml.noCallSites {
		d.findCallSites(stmts)
	}
	return d.compile(stmts)
}

// environment returns the globals as the code of c sees them: it reads through
// to the real ones. An assignment is reported as a mistake, and works nevertheless, so that
// the other mistakes of the script are found too.
func (ml *moduleLoader) environment(c *chunk) *lua.LTable {
	if c.foreign && c.owner == nil {
		return ml.vendoredGlobals()
	}
	globals := ml.vm.Env
	if c.owner != nil {
		globals = ml.packageGlobals(c.owner)
	}
	env := ml.vm.CreateTable(0, 0)
	env.Metatable = ml.throughTo(globals)
	return env
}

// throughTo returns the metatable of environments that read through to a table of globals.
func (ml *moduleLoader) throughTo(globals *lua.LTable) *lua.LTable {
	if mt := ml.environments[globals]; mt != nil {
		return mt
	}
	mt := ml.vm.CreateTable(0, 2)
	mt.RawSetString("__index", globals)
	mt.RawSetString("__newindex", ml.vm.NewFunction(func(L *lua.LState) int {
		env, name, value := L.CheckTable(1), keyText(L.Get(2)), L.Get(3)
		if c := ml.source.chunkOf(caller(L).node); c != nil && c.foreign {
			env.RawSet(L.Get(2), value)
			return 0
		}
		ml.report.noteGlobal(L, name, value)
		env.RawSetString(name, value)
		if globals.RawGetString(name) == lua.LNil {
			globals.RawSetString(name, value)
		}
		return 0
	}))
	if ml.environments == nil {
		ml.environments = make(map[*lua.LTable]*lua.LTable)
	}
	ml.environments[globals] = mt
	return mt
}
