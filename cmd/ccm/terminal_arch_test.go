package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOnlyTerminalWrites: all output for people goes through package terminal. No other code uses standard output or
// standard error, or writes control sequences.
func TestOnlyTerminalWrites(t *testing.T) {
	const root = "../.."
	// Exceptions with their reasons.
	except := map[string][]string{
		"cmd/ccm/main.go":                      {"os.Stdout", "os.Stderr"}, // passes them to writers of package terminal
		"cmd/ccm/repl.go":                      {"os.Stdout", "os.Stderr"}, // the user's editor and pager have the terminal to themselves
		"luaapi/repl/term/editor.go":           {"os.Stdout", "escape"},    // requires its size; passes control sequences to the line editor
		"luaapi/repl/term/complete.go":         {"os.Stdout"},              // requires its size
		"luaapi/repl/term/color.go":            {"escape"},                 // passes control sequences to the line editor
		"luaapi/repl/term/probe.go":            {"escape"},                 // reads answers of a terminal
		"cmd/ccm/secret/editor.go":             {"os.Stdout", "os.Stderr"}, // the user's editor has the terminal to itself
		"runtime/encryption/pluginidentity.go": {"os.Stderr"},              // passes it to a writer of package terminal, for messages of plugins of age
		"cmd/ccm/inspect/data.go":              {"fmt.Fprint"},             // data
		"cmd/ccm/author/systempage.go":         {"fmt.Fprint"},             // a page of HTML
		"cmd/ccm/session.go":                   {"fmt.Fprint"},             // for evaluation by a shell
		"luaapi/dump.go":                       {"escape"},                 // begins what string.dump returns
		"docs/website/demo/main.go":            {"log.Fatal"},              // for contributors
	}
	used := make(map[string]bool)
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, root+"/"))
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasSuffix(name, "test") || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return fs.SkipDir
		case entry.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"), strings.HasPrefix(name, "runtime/terminal/"):
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for at, what := range writes(file, strings.HasPrefix(name, "cmd/ccm/")) {
			allowed := false
			for _, x := range except[name] {
				if x == what {
					allowed, used[name+" "+x] = true, true
				}
			}
			require.True(t, allowed, "%s:%d: %s: what people read is written by package terminal", name, set.Position(at).Line, what)
		}
		return nil
	}))
	require.Greater(t, files, 100)
	for name, list := range except {
		for _, x := range list {
			require.True(t, used[name+" "+x], "%s: %s is no longer needed as an exception", name, x)
		}
	}
}

// writes returns the uses of functions that only package terminal may use.
func writes(file *ast.File, command bool) map[token.Pos]string {
	found := make(map[token.Pos]string)
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BasicLit:
			text := strings.ToLower(x.Value)
			if x.Kind == token.STRING && (strings.Contains(text, "\\x1b") || strings.Contains(text, "\\033") || strings.Contains(text, "\\u001b") || strings.Contains(text, "\x1b")) {
				found[x.Pos()] = "escape"
			}
		case *ast.CallExpr:
			if f, ok := x.Fun.(*ast.Ident); ok && f.Obj == nil && (f.Name == "print" || f.Name == "println") && len(x.Args) > 0 && command {
				found[x.Pos()] = "println"
			}
		case *ast.SelectorExpr:
			pkg, ok := x.X.(*ast.Ident)
			if !ok || pkg.Obj != nil {
				return true
			}
			switch name := pkg.Name + "." + x.Sel.Name; {
			case name == "os.Stdout", name == "os.Stderr":
				found[x.Pos()] = name
			case strings.HasPrefix(name, "fmt.Print"), strings.HasPrefix(name, "log.Print"), strings.HasPrefix(name, "log.Fatal"):
				found[x.Pos()] = name
			case command && strings.HasPrefix(name, "fmt.Fprint"):
				found[x.Pos()] = "fmt.Fprint"
			}
		}
		return true
	})
	return found
}
