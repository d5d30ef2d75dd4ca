package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	mostLines = 250
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
	require.LessOrEqual(t, strings.Count(string(text), "\n"), mostLines)
	top := topLevel(t)
	mentions := 0
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
	require.Greater(t, mentions, 50, "the page is read as it is written")
}

// TestArchitecturePackages: every package is on the page; one that is deeper than two folders
// may be left to the package in whose folder it lies.
func TestArchitecturePackages(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	named := make(map[string]bool)
	for _, m := range quoted.FindAllStringSubmatch(withoutBlocks(string(text)), -1) {
		named[m[1]] = true
	}
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != root, d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if !named[dir] && (strings.Count(dir, "/") < 2 || !named[filepath.Dir(dir)]) {
			t.Errorf("%s has no package %s", page, dir)
		}
		return err
	}))
}

// mostMethods is how many methods a type may have: one with more is several ideas.
const mostMethods = 40

// TestTypesHaveFewMethods: a type is one idea. One that has grown is split by what its parts do, not by embedding.
func TestTypesHaveFewMethods(t *testing.T) {
	methods := make(map[string]int)
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != root, d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		for _, declared := range declarations(t, name) {
			if typ, _, ok := strings.Cut(declared, "."); ok {
				methods[strings.TrimPrefix(filepath.Dir(name), root+"/")+"."+typ]++
			}
		}
		return nil
	}))
	require.Greater(t, len(methods), 500, "the tree is read as it is")
	for typ, n := range methods {
		assert.LessOrEqual(t, n, mostMethods, typ)
	}
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

// declarations returns the names of what a file declares at its top level; methods as
// Type.Method.
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
