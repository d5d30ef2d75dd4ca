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

// unending are the functions with a context that nothing ends, with the reasons.
var unending = map[string]string{
	"cmd/ccm/main.go":                   "it is that of the process, which the second signal ends",
	"luaapi/repl/term/tool.go":          "an editor runs until the person who types leaves it",
	"site/stdlibtypes.go":               "modules that ship with ccm are evaluated, within the evaluation deadline",
	"runtime/testsystem/container.go":   "podman and docker have ten seconds to answer",
	"runtime/testsystem/incus.go":       "Incus and LXD have ten seconds to answer",
	"site/language.go":                  "the same",
	"luaapi/luaapi.go":                  "of an interpreter that was given none; evaluation has a deadline",
	"runtime/testsystem/ssh.go":         "the user's command restores a machine after a killed test",
	"runtime/testsystem/qemu.go":        "a machine is ended after a killed test",
	"luaapi/spec/execute.go":            "a test that needs a machine is only reported as pending",
	"luaapi/repl/show.go":               "a value is shown within the evaluation deadline",
	"runtime/facts/facts.go":            "facts that are known already wait for nothing",
	"runtime/host/assume.go":            "a command is searched in files; nothing is run or fetched",
	"runtime/host/accounts/accounts.go": "getent is given five seconds",
}

// Functions that may block take the context of the run, and none makes a new one.
func TestContexts(t *testing.T) {
	found := make(map[string]bool)
	top := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(top, path)
		if err != nil || strings.HasPrefix(name, "test/") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			x, ok := n.(*ast.SelectorExpr)
			if !ok || x.Sel.Name != "Background" && x.Sel.Name != "TODO" {
				return true
			}
			if pkg, ok := x.X.(*ast.Ident); ok && pkg.Name == "context" {
				found[name] = true
				require.Contains(t, unending, name, "%s: take the context of the run", set.Position(x.Pos()))
			}
			return true
		})
		return nil
	}))
	for name := range unending {
		require.True(t, found[name], "%s needs no exception any more", name)
	}
}
