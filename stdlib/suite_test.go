package stdlib_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/luatype"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/resource/contract"
	"github.com/luaccm/ccm/stdlib"
)

// A suite tries every wanted state from every start, as the suite of a provider does.
type suite struct {
	name string // of the type and its module
	// starts are the files of the machine, by path. A path that ends with a slash is a directory, a text that begins
	// with -> a link, one that begins with #! a program.
	starts map[string]map[string]string
	// wants are the properties in Lua, without the name of the type.
	wants map[string]string
	// fails and phrases are by start/want.
	fails   map[string]string
	phrases map[string][]string
	// after are the expected contents of files, by start/want; nil means that a file must not exist.
	after map[string]map[string]*string
	// modes are the expected modes of files, by start/want.
	modes map[string]map[string]os.FileMode
	// machine returns a simulation of commands; nil for a machine without any.
	machine func(root string) host.Runner
}

// evaluate runs a script that uses one module and returns its resources.
func evaluate(t *testing.T, text string) (*resource.Registry, []*resource.Resource, string) {
	t.Helper()
	t.Chdir(t.TempDir()) // where modules would not be found as files
	base, err := resource.NewRegistry()
	require.NoError(t, err)
	reg := base.Layer()
	var list []*resource.Resource
	view := &host.New(host.Options{Root: t.TempDir()}).View
	in := luaapi.New(luaapi.Options{
		Registry: reg, Builder: new(catalog.Builder), Library: stdlib.Library,
		// Resources with the same name may have different properties here.
		Add: func(r *resource.Resource) (*resource.Resource, error) { list = append(list, r); return r, nil },
		Extend: func(in *luaapi.Interp) {
			std.Options{View: view}.Extend(in)
			luatype.Extend(in)
		},
	})
	t.Cleanup(in.Close)
	var out bytes.Buffer
	if err := in.Run(context.Background(), "site.lua", text); err != nil {
		diag.Render(&out, "", err, in.Sources())
	}
	return reg, list, out.String()
}

func (s suite) run(t *testing.T) {
	t.Helper()
	c := contract.Suite{
		Starts: make(map[string]func(string) (host.Runner, error)), Wants: make(map[string]any), Fails: s.fails, Phrases: s.phrases,
	}
	for name, files := range s.starts {
		c.Starts[name] = func(root string) (host.Runner, error) {
			if s.machine == nil {
				return &hosttest.Runner{}, plant(root, files)
			}
			return s.machine(root), plant(root, files)
		}
	}
	script := "local make = require \"std." + s.name + "\"\n"
	names := slices.Sorted(maps.Keys(s.wants))
	for _, name := range names {
		script += "make " + s.wants[name] + "\n"
	}
	reg, list, mistakes := evaluate(t, script)
	require.Empty(t, mistakes)
	require.Len(t, list, len(names))
	for i, name := range names {
		f, err := reg.Select(list[i], nil)
		require.NoError(t, err)
		c.Binding, c.Wants[name] = f, list[i].Spec
	}
	trials, err := c.Trials()
	require.NoError(t, err)
	known := make(map[string]bool)
	for _, x := range trials {
		known[x.Name] = true
		t.Run(x.Name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, x.Run(t.Context(), root, hosttest.Clock{}))
			for path, want := range s.after[x.Name] {
				text, err := os.ReadFile(filepath.Join(root, path))
				if want == nil {
					require.ErrorIs(t, err, os.ErrNotExist, path)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, *want, string(text), path)
			}
			for path, want := range s.modes[x.Name] {
				info, err := os.Lstat(filepath.Join(root, path))
				require.NoError(t, err)
				require.Equal(t, want, info.Mode().Perm(), path)
			}
		})
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(s.after)), slices.Collect(maps.Keys(s.modes))) {
		require.True(t, known[name], "no start and want are called %s", name)
	}
}

// plant writes files below a directory.
func plant(root string, files map[string]string) error {
	for path, text := range files {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		var err error
		switch {
		case path[len(path)-1] == '/':
			err = os.MkdirAll(full, 0o755)
		case len(text) > 2 && text[:2] == "->":
			err = os.Symlink(text[2:], full)
		case strings.HasPrefix(text, "#!"):
			err = os.WriteFile(full, []byte(text), 0o755)
		default:
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mistake evaluates an invalid script and returns the first line of its errors.
func mistake(t *testing.T, text string) string {
	t.Helper()
	_, _, out := evaluate(t, text)
	line, _, _ := bytes.Cut([]byte(out), []byte("\n"))
	return string(line)
}
