package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// noNames are words that must not name a type, a field or a file: pronouns and participles. A bool field may have
// one.
var noNames = regexp.MustCompile(`^(?i:told|spent|dealt|foreseen|struck|owed|begun|said|kept|taken|shown|anew|again|beside|besides|doomed|` +
	`what|who|whom|whoever|which|why|how|mine|theirs|it|this|that|these|those|many|took|got|wrong|trail|crew|glance|debt|wish|wishes)$`)

// TestNamesAreNouns: types, fields and files have the usual words for what they are.
func TestNamesAreNouns(t *testing.T) {
	names := 0
	for _, name := range goFiles(t) {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		check := func(pos token.Pos, kind, declared string) {
			if names++; noNames.MatchString(declared) {
				t.Errorf("%s: %s is no name of a %s", files.Position(pos), declared, kind)
			}
		}
		check(f.Pos(), "file", strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".go"), "_test"))
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				check(n.Pos(), "type", n.Name.Name)
			case *ast.StructType:
				for _, field := range n.Fields.List {
					if isBool(field.Type) {
						continue
					}
					for _, id := range field.Names {
						check(id.Pos(), "field", id.Name)
					}
				}
			}
			return true
		})
	}
	require.Greater(t, names, 5000)
}

// isBool reports whether a type is bool, *bool or atomic.Bool.
func isBool(typ ast.Expr) bool {
	switch x := typ.(type) {
	case *ast.Ident:
		return x.Name == "bool"
	case *ast.SelectorExpr:
		return x.Sel.Name == "Bool"
	case *ast.StarExpr:
		return isBool(x.X)
	}
	return false
}
