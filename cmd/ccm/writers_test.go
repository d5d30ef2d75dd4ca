package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// TestSavedThroughLinks: root lets commands write into a directory of a user, who has put links to a directory and a
// file of root there. Each command refuses, and names both owners.
func TestSavedThroughLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	isolate(t)
	const ada = 54321
	base, err := os.MkdirTemp("", "ccm-saved-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	require.NoError(t, os.Chmod(base, 0o755))
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"victim", "ada", "ada/files"} {
		require.NoError(t, os.Mkdir(at(dir), 0o755))
	}
	site, large := at("site.lua"), at("large")
	require.NoError(t, os.WriteFile(site, []byte(`exec { "true", onlyif = "false" }`), 0o644))
	require.NoError(t, os.WriteFile(large, bytes.Repeat([]byte("x"), 8000), 0o644))
	require.NoError(t, os.WriteFile(at("victim/secret"), []byte(hosttest.Secret), 0o600))
	require.NoError(t, os.WriteFile(at("victim/plan"), []byte(`{"protocol":"io.choria.ccm.v1.plan"}`), 0o600)) // a saved plan may be replaced
	links := map[string]string{
		"ada/dir": "../victim", "ada/file": "../victim/secret", "ada/plan": "../victim/plan",
		"ada/files/" + strings.Split(large, "/")[1]: "../../victim", // an import writes below it
	}
	for name, target := range links {
		require.NoError(t, os.Symlink(target, at(name)))
		require.NoError(t, os.Lchown(at(name), ada, ada))
	}
	require.NoError(t, os.Chown(at("ada"), ada, ada))
	require.NoError(t, os.Chown(at("ada/files"), ada, ada))
	before := hosttest.Snapshot(t, at("victim"))

	for name, args := range map[string][]string{
		"types in a directory":   {"types", at("ada/dir/new")},
		"types of a directory":   {"types", at("ada/dir")},
		"definitions below":      {"types", "--definitions", at("ada/dir/ccm.lua")},
		"definitions at a link":  {"types", "--definitions", at("ada/file")},
		"init in a directory":    {"init", at("ada/dir/new")},
		"init of a directory":    {"init", at("ada/dir")},
		"manual pages":           {"docs", "--man", at("ada/dir/man")},
		"manual pages at a link": {"docs", "--man", at("ada/dir")},
		"profile below":          {"plan", "--profile=" + at("ada/dir/cpu"), site},
		"profile at a link":      {"plan", "--profile=" + at("ada/file"), site},
		"plan below":             {"plan", "--out", at("ada/dir/plan"), site},
		"plan at a link":         {"plan", "--out", at("ada/plan"), site},
		"imported files":         {"import", "--allow-insecure", "--files", at("ada/files"), "file", large},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, status := ccm(t, nil, args...)
			require.NotZero(t, status, out)
			require.Contains(t, out, "unsafe symbolic link: ")
			require.Contains(t, out, " belongs to 54321 and leads to ")
			require.Contains(t, out, ", which belongs to root ")
			require.Equal(t, before, hosttest.Snapshot(t, at("victim")))
		})
	}
}

// writers are functions that follow links whoever owns them.
var writers = []string{"WriteFile", "Create", "CreateTemp", "Mkdir", "MkdirAll", "MkdirTemp", "OpenFile", "Rename", "Remove", "RemoveAll",
	"Symlink", "Link", "Chmod", "Chown", "Lchown", "Chtimes", "Truncate", "CopyFS", "OpenRoot", "Chdir"}

// TestCommandsWriteByHost: commands and the prompt write files with [host.Host.Save] and similar methods, which
// follow no unsafe link.
func TestCommandsWriteByHost(t *testing.T) {
	// Exceptions with their reasons.
	except := map[string][]string{
		"cmd/ccm/cli/question.go":      {"OpenFile"},                                                  // the terminal, /dev/tty
		"cmd/ccm/cli/passphrase.go":    {"OpenFile"},                                                  // the terminal, /dev/tty
		"cmd/ccm/secret/editor.go":     {"MkdirTemp", "WriteFile", "OpenFile", "Remove", "RemoveAll"}, // the file for the user's editor, in its own directory with a random name
		"cmd/ccm/author/test.go":       {"MkdirTemp", "RemoveAll", "Mkdir"},                           // the machine of a spec, with a random name
		"cmd/ccm/author/studio.go":     {"Chdir"},                                                     // to the site, as if commands were typed there
		"cmd/ccm/author/systemtest.go": {"MkdirTemp", "RemoveAll"},                                    // the same
		"cmd/ccm/compare.go":           {"MkdirTemp", "RemoveAll"},                                    // a commit of the site, in its own directory with a random name
		"cmd/ccm/fleet/readers.go":     {"MkdirTemp", "RemoveAll", "OpenRoot"},                        // the content of a bundle, in its own directory with a random name
		"cmd/ccm/ssh/request.go":       {"MkdirTemp", "WriteFile", "RemoveAll"},                       // a script from standard input, in its own directory with a random name
		"site/factcache.go":            {"OpenFile"},                                                  // read, if it is a file of this user
		"site/statedirectory.go":       {"MkdirTemp", "RemoveAll"},                                    // the state of a run without one, in its own directory with a random name
		"site/bundles/enter.go":        {"Chdir"},                                                     // to an own directory that nobody else can write, and back
		"luaapi/repl/term/tool.go":     {"CreateTemp", "Remove"},                                      // the file for the user's editor, with a random name
		"luaapi/repl/history.go":       {"MkdirAll", "OpenFile"},                                      // the history, in a directory that root has to trust first
	}
	used := make(map[string]bool)
	dirs := []string{"site", "site/bundles", "site/recovery", "site/remote", "site/prompt", "luaapi/repl", "luaapi/repl/term", "luaapi/std", "luaapi/stubs", "luaapi"}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case d.Name() == "testdata", d.Name() == "newsite":
			return fs.SkipDir
		}
		dirs = append(dirs, filepath.Join("cmd/ccm", path))
		return nil
	}))
	for _, dir := range dirs {
		files, err := filepath.Glob("../../" + dir + "/*.go")
		require.NoError(t, err)
		if !strings.HasPrefix(dir, "cmd/ccm/") {
			require.NotEmpty(t, files)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			name := dir + "/" + filepath.Base(path)
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				x, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if pkg, ok := x.X.(*ast.Ident); ok && pkg.Obj == nil && pkg.Name == "os" && slices.Contains(writers, x.Sel.Name) {
					used[name+" "+x.Sel.Name] = true
					require.Contains(t, except[name], x.Sel.Name, "%s: os.%s follows the links of anybody: host.Save and its like do not", set.Position(x.Pos()), x.Sel.Name)
				}
				return true
			})
		}
	}
	for name, list := range except {
		for _, x := range list {
			require.True(t, used[name+" "+x], "%s: os.%s is no longer needed as an exception", name, x)
		}
	}
}

// TestReplacedByAtomicfile: a file that is not on the managed machine is replaced by package atomicfile.
func TestReplacedByAtomicfile(t *testing.T) {
	// Exceptions with their reasons.
	except := map[string]string{
		"runtime/atomicfile/":                "the package itself",
		"runtime/host/":                      "the managed machine",
		"runtime/safepath/":                  "the managed machine",
		"runtime/state/statedir/":            "a Directory of atomicfile",
		"fleet/agent/":                       "a directory of a version, and the link to it",
		"runtime/module/resolve/":            "directories of modules",
		"runtime/testsystem/image_linux.go":  "the directory of an image",
		"runtime/testsystem/packagecache.go": "an answer that has its name only once it is complete",
		"studio/model/":                      "keys of YAML",
		"test/":                              "measures the system calls",
	}
	used := make(map[string]bool)
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || !strings.HasPrefix(sel.Sel.Name, "Rename") { // Renameat too
				return true
			}
			reason := ""
			for name := range except {
				if strings.HasPrefix(filepath.ToSlash(path), "../../"+name) {
					reason, used[name] = except[name], true
				}
			}
			require.NotEmpty(t, reason, "%s: replace files by package atomicfile", set.Position(n.Pos()))
			return true
		})
		return nil
	}))
	for name := range except {
		require.True(t, used[name], "%s is no longer needed as an exception", name)
	}
}
