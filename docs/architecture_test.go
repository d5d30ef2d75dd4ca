package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	require.Greater(t, checkNames(t, page), 50, "the page is read as it is written")
}

// TestWalksPage is the same for the page with other ways.
func TestWalksPage(t *testing.T) {
	require.Greater(t, checkNames(t, "walks.md"), 20)
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

// TestArchitecturePackages: every package is on the page; one deeper than two folders may be covered by the package
// in whose folder it is.
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

// listedImports is the second column of a row that names all that its packages import; other rows have words.
var listedImports = regexp.MustCompile("^(none|and|as|`[\\w./]+`|[,; ])+$")

// TestArchitectureImports: packages import only the packages that the table allows, and none that it forbids. A name
// stands for the package that ends with it, and for those below; "as" stands for the row of another package, and for
// that package.
func TestArchitectureImports(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	imports := ownImports(t)
	rows := make(map[string]importRow) // by the last part of the name of the first package
	checked := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		packages := packagesOf(cells[1])
		if fi, err := os.Stat(filepath.Join(root, packages[0])); err != nil || !fi.IsDir() {
			continue // another table
		}
		allowed, banned, _ := strings.Cut(cells[2], "not ")
		allowed = strings.Trim(allowed, "; ")
		row := importRow{banned: quotedIn(banned), allowed: quotedIn(allowed), complete: listedImports.MatchString(allowed)}
		if as := asRow.FindStringSubmatch(allowed); as != nil {
			other := rows[as[1]]
			row.banned, row.allowed = append(row.banned, other.banned...), append(row.allowed, other.allowed...)
			row.complete = row.complete && other.complete
		}
		rows[filepath.Base(packages[0])] = row
		for _, p := range packages {
			for _, i := range imports[p] {
				if i == "runtime/diag" {
					continue // all packages may import it
				}
				if isNamedIn(i, row.banned) {
					t.Errorf("%s: %s imports %s, against its row: %s", page, p, i, cells[2])
				}
				if row.complete && !isNamedIn(i, row.allowed) && !isBelow(i, packages) {
					t.Errorf("%s: %s imports %s, which its row does not list: %s", page, p, i, cells[2])
				}
			}
		}
		if row.complete {
			checked++
		}
	}
	require.Greater(t, checked, 20, "the table is read as it is written")
}

// asRow is the reference of a row to another one.
var asRow = regexp.MustCompile("as `([^`]+)`")

// An importRow is the part about imports of a row in the table.
type importRow struct {
	allowed, banned []string
	complete        bool // nothing else is imported than what is allowed
}

// packagesOf returns the packages of a cell, in which .../ stands for the package before.
func packagesOf(cell string) (list []string) {
	for _, name := range quotedIn(cell) {
		if rest, ok := strings.CutPrefix(name, ".../"); ok {
			name = list[0] + "/" + rest
		}
		list = append(list, name)
	}
	return list
}

// quotedIn returns the texts in backquotes.
func quotedIn(text string) (list []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// isNamedIn reports whether a package, or one above it, is named in a row.
func isNamedIn(path string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains("/"+path+"/", "/"+name+"/") })
}

// isBelow reports whether a package is one of some, or below one.
func isBelow(path string, packages []string) bool {
	return slices.ContainsFunc(packages, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// ownImports returns what each package of the repository imports of others of it.
func ownImports(t *testing.T) map[string][]string {
	imports := make(map[string][]string)
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		dir := strings.TrimPrefix(filepath.Dir(name), root+"/")
		for _, i := range f.Imports {
			if own, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "github.com/luaccm/ccm/"); ok && !slices.Contains(imports[dir], own) {
				imports[dir] = append(imports[dir], own)
			}
		}
	}
	return imports
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
