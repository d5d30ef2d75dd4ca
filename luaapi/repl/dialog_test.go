package repl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// newDialog returns a dialog and where it writes. Its working directory is that
// of the test.
func newDialog(t testing.TB) (*repl.Dialog, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	view := &host.New(host.Options{}).View
	gathered := 0
	builder := new(catalog.Builder)
	d, err := repl.New(repl.Options{
		Script: luaapi.Options{
			Builder: builder, Add: builder.Add, Print: out, Version: "1.0",
			Extend: std.Options{View: view, Cwd: "."}.Extend,
		},
		Begin: func() (*resource.Registry, *facts.Facts, error) {
			return registry(t).Layer(), facts.New(t.Context(), nil, []facts.Gatherer{
				{Name: "os", Doc: "The distribution.", Gather: func(context.Context, *host.View) (any, error) {
					return map[string]any{"family": "debian", "name": "debian", "release": map[string]any{"full": "13.1", "major": "13"}}, nil
				}},
				{Name: "net", Doc: "Addresses by interface.", Costly: true, Gather: func(context.Context, *host.View) (any, error) {
					gathered++
					return map[string]any{"eth0": map[string]any{"ip": []any{"192.0.2.1"}}, "times": int64(gathered)}, nil
				}},
				{Name: "broken", Doc: "Is broken.", Gather: func(context.Context, *host.View) (any, error) { return nil, errors.New("no such luck") }},
				{Name: "domain", Gather: func(context.Context, *host.View) (any, error) { return nil, nil }},
			}, map[string]any{"role": "web"}), nil
		},
		Dir: ".", Out: out,
		Functions: []repl.Function{{
			Signature: "plan(): Events", Doc: "Returns what would be done.",
			Call: func(context.Context, []any) (any, error) { return nil, errors.New("there is no machine here") },
		}},
		Commands: []repl.Command{{
			Name: "show", Args: "TYPE#NAME", Doc: "Print the present state of a resource.", Takes: repl.ArgResource,
			Run: func(_ context.Context, _ *repl.Dialog, arg string) error {
				fmt.Fprintln(out, "showing", arg)
				return nil
			},
		}},
		Drawings:  []repl.Drawing{{Name: "dot", Draw: func(c *catalog.Catalog) string { return fmt.Sprintf("a drawing of %d", len(c.Resources)) }}},
		Reference: func(topic string) (string, bool) { return "reference of " + topic, true },
		ListDir:   listDir,
		Now:       func() time.Time { clock = clock.Add(1500 * time.Microsecond); return clock },
	})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d, out
}

// listDir is a small file system.
func listDir(dir string) []string {
	return map[string][]string{
		"/": {"etc/"}, "/etc/": {"motd", "hosts"}, "./": {"site.lua", "roles/"}, "./roles/": {"web.lua"}, "./lib/": {"nginx.lua"},
	}[dir]
}

// TestDialog plays the transcripts in testdata: what stands behind a prompt is
// typed, and the lines below it are the answer. What stands behind ++ is typed
// together with the line before. UPDATE=1 writes them anew.
func TestDialog(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		file, err := filepath.Abs(file)
		require.NoError(t, err)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("site.lua", []byte("-- a site\nlocal port = 80\nfile { '/etc/port', content = tostring(port) }\n"), 0o600))
			require.NoError(t, os.WriteFile("bad.lua", []byte("file {\n  '/etc/port',\n  mdoe = '1',\n}\n"), 0o600))
			got := play(t, string(text))
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

// play types what stands behind the prompts of a transcript and returns the
// transcript that comes of it.
func play(t *testing.T, text string) string {
	d, out := newDialog(t)
	var b strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		prompt := "ccm>"
		if d.Pending() {
			prompt = "  >>"
		}
		typed, ok := strings.CutPrefix(lines[i], prompt)
		if !ok {
			headline := func(i int) bool { return i < len(lines) && strings.HasPrefix(lines[i], "# ") }
			if headline(i) || lines[i] == "\n" && headline(i+1) {
				b.WriteString(lines[i])
			}
			continue
		}
		b.WriteString(lines[i])
		typed = strings.TrimPrefix(typed, " ")
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ++ ") {
			i++
			b.WriteString(lines[i])
			typed += strings.TrimPrefix(lines[i], "  ++ ")
		}
		out.Reset()
		a := d.Handle(t.Context(), strings.TrimSuffix(typed, "\n"))
		b.WriteString(out.String())
		if a.Quit {
			b.WriteString("(the end)\n")
		}
	}
	return b.String()
}
