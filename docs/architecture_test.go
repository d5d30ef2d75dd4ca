package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root = ".."
	page = "architecture.md"
	// mostLines is how long the page may be: it is to be read in one go.
	mostLines = 150
)

var (
	quoted = regexp.MustCompile("`([^`\n]+)`")
	// mention is a declaration of a file, as the page speaks of it: path.go: Type.Method.
	mention = regexp.MustCompile(`^([\w/.-]+\.go): ([\w.]+)$`)
	// pathLike is a path or a pattern of paths. One with NAME or TOOL in it is for the reader
	// to fill in.
	pathLike = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]+)*(/|\.\w+)$|^[\w.-]+(/[\w.*-]+)+$`)
	toFillIn = regexp.MustCompile(`NAME|TOOL|symlink`)
)

// TestArchitecturePage: all files and declarations that the page names are there.
func TestArchitecturePage(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(text), "\n"), mostLines, "lines; a row of a table may be long")
	require.Greater(t, checkNames(t, page), 50, "the page is read as it is written")
}

// checkNames checks the files and declarations that a page names, and returns how many declarations these are.
func checkNames(t *testing.T, page string) (mentions int) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	top := topLevel(t)
	for _, m := range quoted.FindAllStringSubmatch(withoutBlocks(string(text)), -1) {
		if d := mention.FindStringSubmatch(m[1]); d != nil {
			mentions++
			assert.Contains(t, declarations(t, filepath.Join(root, d[1])), d[2], m[1])
			continue
		}
		first, _, _ := strings.Cut(m[1], "/")
		if !top[first] || !pathLike.MatchString(m[1]) || toFillIn.MatchString(m[1]) {
			continue
		}
		found, err := filepath.Glob(filepath.Join(root, m[1]))
		require.NoError(t, err)
		assert.NotEmpty(t, found, m[1])
	}
	return mentions
}

// topLevel has the names at the top of the repository.
func topLevel(t *testing.T) map[string]bool {
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	names := make(map[string]bool)
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}

// withoutBlocks returns a page without its fenced blocks.
func withoutBlocks(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "```") {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

// declarations returns the names that a file declares at its top level; methods as Type.Method.
func declarations(t *testing.T, name string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if !assert.NoError(t, err) {
		return nil
	}
	var names []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				names = append(names, receiver(d.Recv.List[0].Type)+"."+d.Name.Name)
				continue
			}
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
