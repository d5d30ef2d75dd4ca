package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// backPointers are the pairs of structs that know each other today, by their package. The list only gets shorter.
var backPointers = map[string]string{
	"luaapi": "Console+Interp Interp+declarer Interp+globalTable Interp+mistakeCollector Interp+moduleLoader",
}

// trees are the pairs of structs of which one has the other as a part, at any depth.
var trees = map[string]string{
	"luaapi/spec":      "block+part",
	"luaapi/std":       "luaType+param",
	"runtime/data":     "Node+children",
	"runtime/luadata":  "Field+Value",
	"runtime/safepath": "Handle+Location", // a file and the directory that it is in
	"runtime/schema":   "Field+Schema",
}

// TestNoBackPointers: a part does not know what it is a part of, as a field or embedded. A struct with a field of
// another struct of its package that points back to it is one object in two pieces, and neither can be read alone.
func TestNoBackPointers(t *testing.T) {
	fields := make(map[string]map[string][]string) // by package and struct, the structs in its fields
	files := token.NewFileSet()
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), root+"/")
		if fields[pkg] == nil {
			fields[pkg] = make(map[string][]string)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, x := range s.Fields.List {
					fields[pkg][spec.Name.Name] = append(fields[pkg][spec.Name.Name], namesOfType(x.Type)...)
				}
			}
			return true
		})
	}
	for pkg, structs := range fields {
		found := make(map[string]bool)
		for part, list := range structs {
			for _, owner := range list {
				if owner < part && slices.Contains(structs[owner], part) {
					found[owner+"+"+part] = true
				}
			}
		}
		known := strings.Fields(backPointers[pkg] + " " + trees[pkg])
		assert.ElementsMatch(t, known, slices.Collect(maps.Keys(found)), "%s: structs that point to each other", pkg)
	}
}

// namesOfType returns the types of the same package of which a field has one or many.
func namesOfType(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.Ident:
		return []string{e.Name}
	case *ast.StarExpr:
		return namesOfType(e.X)
	case *ast.ArrayType:
		return namesOfType(e.Elt)
	case *ast.MapType:
		return append(namesOfType(e.Key), namesOfType(e.Value)...)
	case *ast.IndexExpr:
		return namesOfType(e.X)
	}
	return nil
}
