package luaapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"github.com/luaccm/ccm/luaapi/syntax"
)

// WithoutCallSites compiles every declaration of in through a table.
func (in *Interp) WithoutCallSites() { in.modules.noCallSites = true }

// Corpus returns the texts of the tests.
func Corpus(t testing.TB) (texts []string) {
	files, err := filepath.Glob("testdata/*.lua")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts = append(texts, strings.Split(string(text), "\n---\n")...)
	}
	return texts
}

// Divisions returns how many functions the rewriter has made of parts of a text.
func (in *Interp) Divisions(text string) (int, error) {
	stmts, err := syntax.ParseText(text, "")
	if err != nil {
		return 0, err
	}
	written := 1 // the text itself
	syntax.Walk(stmts, func(n ast.PositionHolder) {
		if _, ok := n.(*ast.FunctionExpr); ok {
			written++
		}
	}, nil)
	fn, _, err := in.modules.load("x", "", text)
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
