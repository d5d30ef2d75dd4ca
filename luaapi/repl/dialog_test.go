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
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/repl"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/terminal"
)

// newDialog returns a dialog and its output. Its working directory is that of the test.
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
			Library: fstest.MapFS{"std/line.lua": {Data: []byte("error 'it was loaded'\nreturn ccm.type {}")}, "std/lines.lua": {}},
			Extend:  std.Options{View: view, Cwd: "."}.Extend,
		},
		Reset: func() (*resource.Registry, *facts.Facts, error) {
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
		Dir: ".", Out: out, Types: func() []*resource.Type { return append(registry(t).Types(), shipped(t)) },
		Functions: []repl.Function{{
			Signature: "plan(): Events", Doc: "Returns what would be done.",
			Call: func(context.Context, []any) (any, error) { return nil, errors.New("machine does not exist here") },
		}},
		Commands: []repl.Command{{
			Name: "show", Args: "TYPE#NAME", Doc: "Show the present state of a resource.", Takes: repl.ArgResource,
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

// TestDialog plays the transcripts in testdata: text behind a prompt is typed, and the lines below are the expected
// output. A line after ++ continues the one before. UPDATE=1 writes the output.
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

// play types the input of a transcript, and returns the transcript with the real output.
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

// Input in the syntax of other prompts gets helpful answers.
func TestHabits(t *testing.T) {
	d, out := newDialog(t)
	for text, want := range map[string]string{
		"help":           ".help lists the commands, ?NAME describes a name\n",
		"help()":         ".help lists the commands, ?NAME describes a name\n",
		"help file.mode": "?file.mode describes it, .help lists the commands\n",
		"exit":           "use .quit or Ctrl-D\n",
		"quit()":         "use .quit or Ctrl-D\n",
	} {
		out.Reset()
		require.NoError(t, d.Handle(t.Context(), text).Err)
		require.Equal(t, want, out.String(), text)
	}
	require.NoError(t, d.Handle(t.Context(), "help = 3").Err)
	out.Reset()
	require.NoError(t, d.Handle(t.Context(), "help").Err)
	require.Equal(t, "3\n", out.String())
}

// The display of values.
func TestShown(t *testing.T) {
	d, out := newDialog(t)
	for _, x := range []struct{ text, want string }{
		{`1`, "1\n"},
		{`2`, "2\n"},
		{`3`, "3\n"},
		{`_, _1, _2, _3, _9`, "3\t2\t1\tnil\tnil\n"},
		{`local function twice(n) return 2 * n end return twice`, "function twice(n)  repl:5:1\n"},
		{`{ function(...) end }`, "{ <function 1> }\n"},
		{`print`, "function print(...)\n"},
		{`str.trim`, "function str.trim(text: string, characters?: string): string\n"},
		{`setmetatable({}, { __tostring = function() return "shown" end })`, "shown\n"},
		{`{ setmetatable({}, { __tostring = function() return "inside" end }) }`, "{ <inside> }\n"},
	} {
		out.Reset()
		require.NoError(t, d.Handle(t.Context(), x.text).Err, x.text)
		require.Equal(t, x.want, out.String(), x.text)
	}
	out.Reset()
	require.Error(t, d.Handle(t.Context(), `setmetatable({}, { __tostring = function() error "broken" end })`).Err)
	require.Contains(t, out.String(), "broken")
}

// Of a long value only the beginning is shown to a person.
func TestBrief(t *testing.T) {
	d, out := newDialog(t)
	paged := ""
	d.SetReader(func() bool { return true }, func(_ context.Context, text terminal.Text) error { paged = text.String(); return nil })
	require.NoError(t, d.Handle(t.Context(), "local t = {} for i = 1, 1000 do t[i] = i end return t").Err)
	require.Contains(t, out.String(), "99, 100, ... 900 more }\n")
	out.Reset()
	require.NoError(t, d.Handle(t.Context(), "local t = {} for i = 1, 101 do t['k' .. i] = i end return t").Err)
	require.Contains(t, out.String(), ",\n  ... 1 more\n}\n")
	out.Reset()
	require.NoError(t, d.Handle(t.Context(), "local all = {} for i = 1, 50 do all[i] = { a = i, b = i, c = i } end return all").Err)
	require.Contains(t, out.String(), "more lines (.page shows all)\n")
	require.Equal(t, 201, strings.Count(out.String(), "\n"))
	out.Reset()
	require.NoError(t, d.Handle(t.Context(), ".page").Err) // a value returned at the end is the last value too
	require.Equal(t, 50, strings.Count(paged, "a = "))
	out.Reset()
	require.NoError(t, d.Handle(t.Context(), ".page all").Err)
	require.Empty(t, out.String())
	require.Equal(t, 50, strings.Count(paged, "a = "))
	require.NoError(t, d.Handle(t.Context(), "1 + 1").Err)
	require.NoError(t, d.Handle(t.Context(), ".page").Err)
	require.Equal(t, "2\n", paged)
}

// Declared resources can be dropped, and loaded files can be loaded again.
func TestDropAndReload(t *testing.T) {
	t.Chdir(t.TempDir())
	d, out := newDialog(t)
	say := func(text string) string {
		out.Reset()
		d.Handle(t.Context(), text)
		return out.String()
	}
	require.Contains(t, say(".reload"), "no file is loaded (load a script or manifest with .load FILE, or start over with .reset)")
	declare := `file { "/etc/%s", ensure = "absent" }`
	require.Equal(t, "file#/etc/a\n", say(fmt.Sprintf(declare, "a")))
	require.Equal(t, "no such resource file#/etc/b (did you mean \"file#/etc/a\"?)\n", say(".drop file#/etc/b"))
	require.Empty(t, say(".drop file#/etc/a"))
	require.Equal(t, "no resources declared\n", say(".catalog"))
	require.Contains(t, say(".save x.lua"), "nothing to save")

	require.NoError(t, os.WriteFile("site.lua", []byte(fmt.Sprintf(declare, "one")), 0o600))
	say(".load site.lua")
	say("x = 1")
	require.NoError(t, os.WriteFile("site.lua", []byte(fmt.Sprintf(declare, "two")), 0o600))
	require.Equal(t, "reloaded site.lua: 1 resource\n", say(".reload"))
	require.Equal(t, "  file#/etc/two  site.lua:1\n", say(".catalog"))
	require.Contains(t, say("x"), "undefined global")
	require.NoError(t, os.WriteFile("site.lua", []byte("file {"), 0o600))
	require.Contains(t, say(".reload"), "site.lua:1")
	require.NoError(t, os.WriteFile("site.lua", []byte(fmt.Sprintf(declare, "three")), 0o600))
	require.Equal(t, "reloaded site.lua: 1 resource\n", say(".reload"))
	require.Contains(t, say(".drop file#/etc/three"), ".save still writes its declaration (site.lua:1)")
}
