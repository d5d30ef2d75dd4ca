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

// circles are the structs whose fields may lead back to them: most are trees, in which a part has parts.
var circles = map[string]string{
	"luaapi":           "callSite+chunk+defaultValue+defaults+locator+sourceMap", // a text, and the places of what it declares
	"luaapi/spec":      "block+part+test",
	"luaapi/std":       "luaType+param",
	"runtime/data":     "Entry+Node+children",
	"runtime/host":     "Host+Temp+batchEntry", // a host for one file of a batch
	"runtime/luadata":  "Field+Value",
	"runtime/safepath": "Handle+Location", // a file and the directory that it is in
	"runtime/schema":   "Field+Schema",
}

// TestNoBackPointers: no part has a field that leads back to its owner, embedded or through other structs.
// Structs that lead to each other are one object in several pieces, of which none can be read alone.
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
		knows := make(map[string]map[string]bool) // by struct, those that its fields lead to
		for name := range structs {
			knows[name] = make(map[string]bool)
			reach(structs, name, knows[name])
		}
		found := make(map[string]bool)
		for name := range structs {
			circle := []string{name}
			for other := range knows[name] {
				if other != name && knows[other][name] {
					circle = append(circle, other)
				}
			}
			if len(circle) > 1 {
				slices.Sort(circle)
				found[strings.Join(circle, "+")] = true
			}
		}
		assert.ElementsMatch(t, strings.Fields(circles[pkg]), slices.Collect(maps.Keys(found)), "%s: structs that lead to each other", pkg)
	}
}

// reach adds to seen the structs that the fields of a struct lead to.
func reach(structs map[string][]string, name string, seen map[string]bool) {
	for _, next := range structs[name] {
		if !seen[next] {
			seen[next] = true
			reach(structs, next, seen)
		}
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
