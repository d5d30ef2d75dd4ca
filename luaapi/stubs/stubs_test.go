package stubs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/parse"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/luaapi/stubs"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
)

// thing has a property of every kind.
type thing struct {
	Name   string               `ccm:"name,name,example=lamp"`
	Ensure ensure               `ccm:"ensure,default=present"`
	Target string               `ccm:"target,required"`
	Size   *int                 `ccm:"size"`
	Share  *float64             `ccm:"share"`
	Deep   bool                 `ccm:"deep,alias=recursive"`
	Tags   []string             `ccm:"tags"`
	Labels map[string]string    `ccm:"labels"`
	Data   map[string]any       `ccm:"data"`
	Value  any                  `ccm:"value"`
	After  []resource.Reference `ccm:"after"`
	Parts  []part               `ccm:"parts"`
}

type part struct {
	Path string `ccm:"path,required"`
	Mode *int   `ccm:"mode"`
}

type ensure string

func (ensure) Values() []string { return []string{"present", "absent"} }

type thingState struct{}

type thingProvider interface {
	Status(ctx context.Context, v *host.View, want thing) (thingState, error)
}

func (thing) Validate() error                                                           { return nil }
func (thing) Decide(thingState) resource.Decision                                       { return resource.Decision{} }
func (thing) Perform(context.Context, *host.Host, thingProvider, resource.Action) error { return nil }

type things struct{}

func (things) Status(context.Context, *host.View, thing) (thingState, error) {
	return thingState{}, nil
}

const page = "| `os.family` | text, *maybe* | the family: `debian`, ... | `debian` |\n" +
	"| `net.interfaces.NAME.mtu` | number | the largest packet | `1500` |\n" +
	"| `cpu.info.N.mhz` `cpu.info.N.bogo` | float | clock | `1.0` |\n" +
	"| `--fact x` | the text | no fact |\n"

func language(t *testing.T) *stubs.Language {
	reg, err := resource.NewRegistry(resource.Define[thing, thingState, thingProvider]("thing").Provide("own", resource.Always[thing](1), things{}))
	require.NoError(t, err)
	h, _ := hosttest.New(t, nil)
	in := luaapi.New(luaapi.Options{Registry: reg, Builder: new(catalog.Builder), Library: fstest.MapFS{}, Extend: std.Options{View: &h.View}.Extend})
	t.Cleanup(in.Close)
	l := &stubs.Language{Registry: reg, Libraries: std.Libraries(), Globals: in.Globals(), FactsPage: page}
	return l
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "UPDATE=1 go test rewrites it")
}

// The definitions of a type with all kinds of properties, and of facts.
func TestDefinitions(t *testing.T) {
	l := language(t)
	l.Libraries = []*std.Library{{Name: "str", Doc: "Text.", Funcs: []std.Func{
		{Signature: "cut(text: string, end: string, ...: integer): (before: string, after: string|nil)", Doc: "Cuts.", Example: `str.cut("a")`, Result: "1"},
		{Signature: "none()", Doc: "Does nothing."},
	}}, {Name: "inspect", Doc: "Shows.", Values: []std.Value{{Name: "KEY", Type: "userdata", Doc: "A key."}}, Funcs: []std.Func{
		{Signature: "inspect(value: any, options?: { depth?: integer }): string"},
	}}, {Name: "lookup", Funcs: []std.Func{{Signature: "lookup(path: string): any", Doc: "Finds."}}}}
	l.Facts = map[string]any{
		"role": "web", "os": map[string]any{"family": "debian", "zones": []any{"a", "b"}},
		"net":      map[string]any{"interfaces": map[string]any{"lo": map[string]any{"mtu": int64(1)}}},
		"odd name": map[string]any{"x": 1.5, "empty": map[string]any{}, "mixed": []any{"a", int64(1)}},
	}
	l.Modules = []stubs.Module{{Name: "std.thing", Type: l.Registry.Type("thing")}}
	var b bytes.Buffer
	l.Definitions(&b)
	golden(t, "thing.d.lua", b.Bytes())
}

// Editors read the definitions, so they must be valid Lua.
func TestDefinitionsAreLua(t *testing.T) {
	var b bytes.Buffer
	language(t).Definitions(&b)
	for name, text := range map[string]string{"ccm.d.lua": b.String(), "spec.d.lua": string(stubs.Spec)} {
		_, err := parse.Parse(strings.NewReader(text), name)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(text, "---@meta"), name)
		for line := range strings.Lines(text) {
			require.NotRegexp(t, `^---@(field|param|return|class|overload) *$`, line)
		}
	}
}

// Every global that scripts have and Lua has not is defined, and so is every
// field of the table ccm.
func TestDefinitionsAreComplete(t *testing.T) {
	l := language(t)
	var b bytes.Buffer
	l.Definitions(&b)
	text := b.String()
	lua := []string{
		"_G", "_VERSION", "assert", "coroutine", "debug", "error", "getmetatable", "ipairs", "load", "loadstring", "math", "next", "os", "package",
		"pairs", "pcall", "print", "rawequal", "rawget", "rawlen", "rawset", "require", "select", "setmetatable", "string", "table", "tonumber", "tostring",
		"type", "unpack", "xpcall",
	}
	for _, g := range l.Globals {
		if !contains(lua, g.Name) {
			require.Regexp(t, regexp.MustCompile(`(?m)^(function `+g.Name+`\(|`+g.Name+` = )`), text)
		}
		if g.Name == "ccm" {
			for _, f := range g.Fields {
				require.Regexp(t, regexp.MustCompile(`(?m)^(function ccm\.`+f+`\(|ccm\.`+f+` = |---@field `+f+` )`), text)
			}
		}
	}
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

func TestLuacheck(t *testing.T) {
	var b bytes.Buffer
	l := language(t)
	l.Libraries = l.Libraries[:1]
	l.Luacheck(&b)
	golden(t, "luacheckrc", b.Bytes())
	_, err := parse.Parse(&b, ".luacheckrc")
	require.NoError(t, err)
}

func TestSelene(t *testing.T) {
	var b bytes.Buffer
	language(t).Selene(&b)
	golden(t, "ccm.yml", b.Bytes())
}

func TestLuarc(t *testing.T) {
	var v map[string]any
	require.NoError(t, json.Unmarshal(stubs.Luarc(), &v))
	require.Equal(t, "Lua 5.1", v["runtime.version"])
	require.Equal(t, []any{"lib/?.lua", "lib/?/init.lua", "?.lua"}, v["runtime.path"])
	require.Equal(t, []any{".ccm/types"}, v["workspace.library"])
	require.Equal(t, "disable", v["runtime.builtin"].(map[string]any)["io"])
	golden(t, "luarc.json", stubs.Luarc())
}
