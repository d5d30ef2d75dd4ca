package safepath_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// byPath are the calls that take a path, which only this package may use.
var byPath = map[string][]string{
	"os": {"Open", "OpenFile", "Create", "Lstat", "Stat", "ReadFile", "WriteFile", "ReadDir", "Readlink", "Remove", "RemoveAll", "Rename", "Mkdir", "MkdirAll",
		"MkdirTemp", "CreateTemp", "Chmod", "Chown", "Lchown", "Chtimes", "Symlink", "Link", "Truncate", "OpenRoot", "OpenInRoot", "DirFS", "CopyFS"},
	"filepath": {"EvalSymlinks", "Walk", "WalkDir", "Glob"},
	"syscall": {"Open", "Openat", "Creat", "Lstat", "Stat", "Chmod", "Chown", "Lchown", "Mkdir", "Rmdir", "Unlink", "Rename", "Link", "Symlink", "Readlink",
		"Truncate", "Statfs", "Access", "Utimes", "UtimesNano", "Mknod", "Mkfifo", "Setxattr", "Getxattr"},
	"unix": {"Open", "Openat", "Openat2", "Creat", "Lstat", "Stat", "Chmod", "Chown", "Lchown", "Mkdir", "Rmdir", "Unlink", "Rename", "Link", "Symlink", "Readlink",
		"Truncate", "Statfs", "Access", "Utimes", "UtimesNano", "Mknod", "Mkfifo", "Setxattr", "Getxattr", "Lsetxattr", "Lgetxattr", "Statx"},
}

// TestOnlyTheWalkUsesPaths: a file that is opened by its path can be exchanged for another one by a link, so calls
// that take a path need a reason.
func TestOnlyTheWalkUsesPaths(t *testing.T) {
	allowed := map[string]string{
		"safepath/location.go Open unix.Openat":                "a name in a directory that is open, not followed",
		"safepath/system_linux.go quick unix.Openat2":          "the walk",
		"safepath/system_linux.go OpenBelow unix.Openat2":      "a name in a directory that is open, without links",
		"safepath/system_linux.go quick unix.Open":             "what trust.Policy has judged",
		"safepath/system_linux.go OpenDirectoryAt unix.Openat": "a name in a directory that is open, the root, a link of proc(5) that root is believed for",
		"safepath/system_linux.go Chmod unix.Chmod":            "/proc/self/fd, which leads to what is open",
		"safepath/system_linux.go MakesUnnamed unix.Access":    "/proc/self/fd",
		"safepath/system_unix.go OpenDirectoryAt unix.Openat":  "a name in a directory that is open, the root",
		"safepath/system_unix.go quick unix.Open":              "what trust.Policy has judged",
		"safepath/system_unix.go Stat unix.Stat":               "what trust.Policy has judged",
		"safepath/system_unix.go MemoryFile os.CreateTemp":     "in a directory of the user; what was made has no name any more",
		"safepath/system_unix.go MemoryFile os.Remove":         "the name that was made just now",
		"safepath/links.go areHardLinksSafe os.ReadFile":       "a setting of the kernel",
		"safepath/ownroot.go OpenOwn os.OpenRoot":              "compared with what is open",
		"host/scratch.go WithScratch os.MkdirTemp":             "in a directory of the user; what was made is compared",
		"host/command/command.go LookPath os.Stat":             "commands are run by path",
		"host/assume.go LookPath os.Stat":                      "commands are run by path",
		"host/overlay/command.go isExecutable os.Stat":         "commands are run by path",
		"host/command/commands.go processAt os.ReadFile":       "/proc/PID/stat, which the kernel says",
		"host/command/orphan.go hasVariable os.ReadFile":       "/proc/PID/environ, which the kernel says",
		"host/command/orphan.go processes os.Open":             "/proc",
		"host/systembus/systembus.go connect os.Stat":          "a socket is connected to by path",
		"host/save.go SaveFrom os.OpenFile":                    "what the shell has opened for this process",
		"safepath/kernel_linux.go isMountRoot unix.Statx":      "what is open",
		"safepath/xattr_linux.go xattr unix.Getxattr":          "/proc/self/fd, which leads to what is open",
		"safepath/xattr_linux.go setXattr unix.Setxattr":       "/proc/self/fd, which leads to what is open",
		"safepath/constraint_linux.go Constraint unix.Statx":   "what is open",
		"host/obstacle.go mountPointOf os.ReadFile":            "/proc/self/mountinfo, which the kernel says",
		"host/obstacle.go isSwap os.ReadFile":                  "/proc/swaps, which the kernel says",
		"host/mounts.go MountsBelow os.ReadFile":               "/proc/self/mountinfo, which the kernel says",
		"safepath/usernamespace.go IsBorrowedRoot unix.Stat":   "/, which is always there",
		"safepath/usernamespace.go readIDMap os.ReadFile":      "/proc/self/uid_map, which the kernel says",
		"host/save.go umask os.ReadFile":                       "/proc/self/status, which the kernel says",
		"host/command/chroot.go foreignArch os.Open":           "in the root of a process that has no other",
		"host/command/chroot_linux.go":                         "the files of a process whose root is the image",
		"host/command/exec.go hasNullDevice os.Stat":           "/dev/null, whoever made it",
	}
	var files []string
	for _, dir := range []string{"../safepath", "../host"} {
		require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "hosttest" {
				return fs.SkipDir
			}
			if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				files = append(files, name)
			}
			return err
		}))
	}
	used := make(map[string]bool)
	for _, name := range files {
		src, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, decl := range src.Decls {
			in := "var"
			if f, ok := decl.(*ast.FuncDecl); ok {
				in = f.Name.Name
			}
			if g, ok := decl.(*ast.GenDecl); ok && len(g.Specs) > 0 {
				if v, ok := g.Specs[0].(*ast.ValueSpec); ok {
					in = v.Names[0].Name
				}
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := sel.X.(*ast.Ident)
				if !ok || !slices.Contains(byPath[pkg.Name], sel.Sel.Name) {
					return true
				}
				file := strings.TrimPrefix(name, "../")
				use := fmt.Sprintf("%s %s %s.%s", file, in, pkg.Name, sel.Sel.Name)
				if allowed[file] != "" {
					use = file
				}
				used[use] = true
				if allowed[use] == "" {
					t.Errorf("%s reaches a file by a path: go through a safepath.Location", use)
				}
				return true
			})
		}
	}
	for use := range allowed {
		require.True(t, used[use], "%s is not needed any more", use)
	}
}
