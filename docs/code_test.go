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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostMethods is how many methods a type may have: one with more is several ideas.
const mostMethods = 40

// TestTypesHaveFewMethods: a type is one idea. A grown one is to be split by its tasks, not by embedding.
func TestTypesHaveFewMethods(t *testing.T) {
	methods := make(map[string]int)
	for _, name := range goFiles(t) {
		for _, declared := range declarations(t, name) {
			if typ, _, ok := strings.Cut(declared, "."); ok {
				methods[strings.TrimPrefix(filepath.Dir(name), root+"/")+"."+typ]++
			}
		}
	}
	require.Greater(t, len(methods), 500, "the tree is read as it is")
	for typ, n := range methods {
		assert.LessOrEqual(t, n, mostMethods, typ)
	}
}

// docStart is how a comment of something exported begins: with its name, or with "A Name is".
var docStart = regexp.MustCompile(`^(?:(?:A|An|The) )?(\w+)`)

// TestExportedHaveComments: every exported name has a comment that begins with the name, also after a rename.
func TestExportedHaveComments(t *testing.T) {
	for _, name := range goFiles(t) {
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		check := func(pos token.Pos, declared, doc string) {
			if m := docStart.FindStringSubmatch(doc); ast.IsExported(declared) && (m == nil || m[1] != declared) {
				t.Errorf("%s: the comment of %s does not begin with its name", files.Position(pos), declared)
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
					check(d.Pos(), d.Name.Name, d.Doc.Text())
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if typ, ok := s.(*ast.TypeSpec); ok && len(d.Specs) == 1 {
						check(typ.Pos(), typ.Name.Name, d.Doc.Text())
					}
				}
			}
		}
	}
}

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
