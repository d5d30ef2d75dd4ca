package luaapi

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// WithoutCallSites compiles every declaration of in through a table.
func (in *Interp) WithoutCallSites() { in.compiler.noCallSites = true }

// Corpus returns the texts of the tests.
var Corpus = corpus

// Divisions returns how many functions the rewriter has made of parts of a text.
func (in *Interp) Divisions(text string) (int, error) {
	stmts, err := parseText(text, "")
	if err != nil {
		return 0, err
	}
	written := 1 // the text itself
	Walk(stmts, func(n ast.PositionHolder) {
		if _, ok := n.(*ast.FunctionExpr); ok {
			written++
		}
	}, nil)
	fn, _, err := in.compiler.load("x", "", text)
	if err != nil {
		return 0, err
	}
	return functions(fn.Proto) - written, nil
}

func functions(p *lua.FunctionProto) int {
	n := 1
	for _, inner := range p.FunctionPrototypes {
		n += functions(inner)
	}
	return n
}
