package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goFiles returns the files of the repository with Go that is no test, from here.
func goFiles(t *testing.T) (names []string) {
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != root, d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			names = append(names, name)
		}
		return nil
	}))
	return names
}

// foreignWords lists the files that may look for words in the message of an error, and whose words they are: libraries
// that have no error of a type for it. Errors of ccm have a type or a sentinel.
var foreignWords = map[string]string{
	"fleet/agent/configreader.go":           "yaml",
	"luaapi/luatype/syntax.go":              "regexp",
	"luaapi/std/pattern.go":                 "regexp",
	"providers/apt/apt.go":                  "dpkg",
	"resources/exec.go":                     "regexp",
	"runtime/data/validate.go":              "expr",
	"runtime/encryption/decrypter.go":       "age",
	"runtime/facts/json.go":                 "encoding/json",
	"runtime/host/fetch/request.go":         "net/http",
	"runtime/nats/waiter.go":                "nats.go",
	"runtime/nats/stream.go":                "nats.go",
	"runtime/resource/contract/contract.go": "the author of a test, who says what its message has",
	"runtime/template/blocks/blocks.go":     "text/template",
	"runtime/template/compile.go":           "expr",
	"runtime/textedit/json.go":              "hujson",
	"runtime/textedit/toml.go":              "toml",
	"runtime/textedit/yaml.go":              "yaml",
	"runtime/textedit/yamltext/text.go":     "yaml",
}

// TestErrorsAreNotReadByTheirWords: code decides by types and sentinels, so that a message can be reworded.
func TestErrorsAreNotReadByTheirWords(t *testing.T) {
	matching := regexp.MustCompile(`^(?:strings|bytes|regexp)\.(?:Contains|HasPrefix|HasSuffix|Cut|CutPrefix|CutSuffix|TrimPrefix|TrimSuffix|EqualFold|Index|MatchString)$`)
	isMessage := func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
				sel, ok := call.Fun.(*ast.SelectorExpr)
				found = found || ok && sel.Sel.Name == "Error"
			}
			return !found
		})
		return found
	}
	isWords := func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		return ok && strings.ContainsFunc(literal.Value[1:], func(r rune) bool { return r != 'n' && unicode.IsLetter(r) }) || !ok && !isMessage(n)
	}
	found := make(map[string]bool)
	for _, name := range goFiles(t) {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			var reads bool
			switch n := n.(type) {
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) != 2 {
					break
				}
				pkg, _ := sel.X.(*ast.Ident)
				reads = pkg != nil && matching.MatchString(pkg.Name+"."+sel.Sel.Name) && isMessage(n.Args[0]) && isWords(n.Args[1])
			case *ast.BinaryExpr:
				literal, ok := n.Y.(*ast.BasicLit)
				reads = (n.Op == token.EQL || n.Op == token.NEQ) && isMessage(n.X) && ok && literal.Value != `""`
			}
			if reads {
				at := strings.TrimPrefix(filepath.ToSlash(name), root+"/")
				found[at] = true
				if foreignWords[at] == "" {
					t.Errorf("%s: give the error a type, or say whose words these are", files.Position(n.Pos()))
				}
			}
			return true
		})
	}
	for name := range foreignWords {
		assert.True(t, found[name], "%s reads no words any more", name)
	}
}

// abilities is the number of optional interfaces that who adds a type meets. It does not rise: what one type needs is a
// field of resource.Traits or of resource.Bulk.
const abilities = 21

// TestAbilities: the interfaces of runtime/resource are those of the parts of a type, and few more.
func TestAbilities(t *testing.T) {
	var found []string
	files, err := filepath.Glob(filepath.Join(root, "runtime/resource/*.go"))
	require.NoError(t, err)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() && spec.Name.Name != "Spec" && spec.Name.Name != "Provider" {
				if _, ok := spec.Type.(*ast.InterfaceType); ok {
					found = append(found, spec.Name.Name)
				}
			}
			return true
		})
	}
	assert.Len(t, found, abilities, "optional interfaces of specs, states and providers: %s", strings.Join(found, " "))
}

// TestLiteralsAreReadable: a struct has at most seven fields in one line of its literal. The rows of tables are exempt.
func TestLiteralsAreReadable(t *testing.T) {
	const most = 7
	for _, name := range goFiles(t) {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || literal.Type == nil {
				return true
			}
			fields := map[int]int{} // by line
			for _, e := range literal.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					if _, ok := pair.Key.(*ast.Ident); ok {
						fields[files.Position(e.Pos()).Line]++
					}
				}
			}
			for line, n := range fields {
				assert.LessOrEqual(t, n, most, "%s:%d: put the fields into several lines, by what belongs together", name, line)
			}
			return true
		})
	}
}
