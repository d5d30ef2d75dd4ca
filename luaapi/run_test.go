package luaapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A site is a directory with scripts.
type site struct {
	t   *testing.T
	dir string
	b   catalog.Builder
	out bytes.Buffer
	in  *luaapi.Interp
}

// newSite writes the files of a site. The site is the working directory, so that messages have the relative names of
// files.
func newSite(t *testing.T, files map[string]string, change func(*luaapi.Options)) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	for name, text := range files {
		file := filepath.Join(s.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	t.Chdir(s.dir)
	opts := options(t, &s.b, &s.out)
	if change != nil {
		change(&opts)
	}
	s.in = luaapi.New(opts)
	t.Cleanup(s.in.Close)
	return s
}

// run runs site.lua and returns its mistakes as they are printed.
func (s *site) run() string {
	s.t.Helper()
	text, err := os.ReadFile("site.lua")
	require.NoError(s.t, err)
	return rendered(s.in, s.in.Run(context.Background(), "site.lua", string(text)))
}

func rendered(in *luaapi.Interp, err error) string {
	var b strings.Builder
	if err != nil {
		diag.Render(&b, "", err, in.Sources())
	}
	return b.String()
}

func TestRenderedMistakes(t *testing.T) {
	s := newSite(t, map[string]string{"site.lua": `#!/usr/bin/env -S ccm run
local function conf(name)
	file { name, mdoe = "0644" }
end
conf "/b"
file "/a" {
  mode = "rw",
}
local host = {}
print(host.name.first)
`}, nil)
	require.Equal(t, `site.lua:3:15: file#/b: unknown property "mdoe" (did you mean "mode"?)
  3 | 	file { name, mdoe = "0644" }
    | 	             ^^^^
  site.lua:5: called from here
site.lua:7:10: file#/a: mode: expected octal permissions such as "0644", got "rw"
  7 |   mode = "rw",
    |          ^^^^
site.lua:10:7: host.name.first: 'name' is nil
  10 | print(host.name.first)
     |       ^^^^^^^^^^^^^^^
`, s.run())
}

func TestLongStringsWithoutEnd(t *testing.T) {
	for text, want := range map[string]string{
		"x()\nlocal s = [[ x":     "site.lua:2:11: expected ]] to end the long string that begins here",
		"local s = [==[ x ]]":     "site.lua:1:11: expected ]==] to end the long string that begins here",
		"--[[ x\n]":               "site.lua:1:1: expected ]] to end the comment that begins here",
		"local s = \"a\\\nb\nc\"": "site.lua:1:11: expected a quote to end the string that begins here",
	} {
		in := luaapi.New(options(t, new(catalog.Builder), new(bytes.Buffer)))
		require.EqualError(t, in.Run(context.Background(), "site.lua", text), want)
		in.Close()
	}
}

// Mistakes behind a long string with escapes have the right column, and quote the string as it is written.
func TestPlacesBehindEscapes(t *testing.T) {
	text := `file { "/a", content = "` + strings.Repeat(`line of "text"\n`, 50) + `", nonsense = 1 }`
	text = strings.ReplaceAll(text, `"text"`, `\"text\"`)
	for mistake, at := range map[string]int{"nonsense = 1 }": 0, "] }": 0, "mode = 1 + nil }": 11} {
		whole := strings.Replace(text, "nonsense = 1 }", mistake, 1)
		got := newSite(t, map[string]string{"site.lua": whole}, nil).run()
		require.Contains(t, got, fmt.Sprintf("site.lua:1:%d:", len(whole)-len(mistake)+at+1), mistake)
		require.Contains(t, got, `of \"text\"\n`, mistake)
	}
}

// Positions are found after the run too: mistakes in references come from the catalog.
func TestPlacesOfReferences(t *testing.T) {
	s := newSite(t, map[string]string{"site.lua": `
file "/etc/nginx.conf" { content = "x" }
exec { "reload",
  require = "file#/etc/ngnix.conf",
  subscribe = { "file#/etc/nginx.conf", "file#/etc/none" },
}
local function late() exec "late" { before = { "exec#nope" } } end
late()
exec.defaults { require = "file#/lost" }
exec "last"
`}, nil)
	require.Empty(t, s.run())
	_, err := s.b.Build()
	s.in.Close()
	require.Equal(t, `site.lua:4:13: exec#reload: require: no resource file#/etc/ngnix.conf (did you mean file#/etc/nginx.conf?)
  4 |   require = "file#/etc/ngnix.conf",
    |             ^^^^^^^^^^^^^^^^^^^^^^
site.lua:5:41: exec#reload: subscribe: no resource file#/etc/none
  5 |   subscribe = { "file#/etc/nginx.conf", "file#/etc/none" },
    |                                         ^^^^^^^^^^^^^^^^
site.lua:7:48: exec#late: before: no resource exec#nope
  7 | local function late() exec "late" { before = { "exec#nope" } } end
    |                                                ^^^^^^^^^^^
  site.lua:8: called from here
site.lua:9:27: exec#last: require: no resource file#/lost
  9 | exec.defaults { require = "file#/lost" }
    |                           ^^^^^^^^^^^^
`, rendered(s.in, err))
}

func TestWarn(t *testing.T) {
	var got []string
	s := newSite(t, map[string]string{"site.lua": "if true then ccm.warn('careful', 5, nil) end"}, func(o *luaapi.Options) {
		o.Warn = func(pos diag.Pos, msg string) { got = append(got, pos.String()+": "+msg) }
	})
	require.Empty(t, s.run())
	require.Equal(t, []string{"site.lua:1:14: careful 5 nil"}, got)
}

// Facts are gathered once, when a script first uses them.
func TestFactsAreLazy(t *testing.T) {
	var gathered []string
	gatherer := func(name string, val any, err error) facts.Gatherer {
		return facts.Gatherer{Name: name, Gather: func(context.Context, *host.View) (any, error) {
			gathered = append(gathered, name)
			return val, err
		}}
	}
	s := newSite(t, map[string]string{"site.lua": `
local os = facts.os
assert(facts.os.family == os.family and fact("os.family") == "debian")
for name in pairs(facts) do print(name) end
print(pcall(fact, "broken.x"))
print(facts.broken)
`}, func(o *luaapi.Options) {
		o.Facts = facts.New(context.Background(), nil, []facts.Gatherer{
			gatherer("os", map[string]any{"family": "debian"}, nil),
			gatherer("cpu", map[string]any{"count": int64(2)}, nil),
			gatherer("broken", nil, errors.New("no such device")),
		}, nil)
	})
	require.Equal(t, `site.lua:6:7: fact broken: no such device
  6 | print(facts.broken)
    |       ^^^^^^^^^^^^
`, s.run())
	require.Equal(t, []string{"os", "broken", "cpu"}, gathered)
	require.Equal(t, "cpu\nos\nfalse\tsite.lua:5:7: fact broken: no such device\n", s.out.String())
}

// An integer of a fact that a number of Lua cannot hold is text.
func TestWholeNumbersOfFacts(t *testing.T) {
	s := newSite(t, map[string]string{"site.lua": `
print(facts.n.exact, facts.n.more, facts.n.less, facts.n.most, facts.n.least)
print(type(facts.n.exact), type(facts.n.more))
`}, func(o *luaapi.Options) {
		o.Facts = facts.Static(map[string]any{"n": map[string]any{
			"exact": int64(1 << 53), "more": int64(1<<53 + 1), "less": int64(-1<<53 - 1), "most": int64(math.MaxInt64), "least": int64(math.MinInt64),
		}})
	})
	require.Empty(t, s.run())
	require.Equal(t, "9007199254740992\t9007199254740993\t-9007199254740993\t9223372036854775807\t-9223372036854775808\nnumber\tstring\n", s.out.String())
}

// After a failed text the interpreter can run another one.
func TestRunAgain(t *testing.T) {
	s := newSite(t, nil, nil)
	for range 2 {
		require.EqualError(t, s.in.Run(context.Background(), "bad.lua", "local function f() local x; x() end\nf()"),
			"bad.lua:1:29: 'x' is nil, not a function\n  bad.lua:2: called from here")
		require.Error(t, s.in.Run(context.Background(), "syntax.lua", "x x"))
		require.NoError(t, s.in.Run(context.Background(), "good.lua", "file '/x'"))
		require.Equal(t, "good.lua:1 []", fmt.Sprint(s.b.Resources()[0].Pos, s.b.Resources()[0].Calls))
	}
}

func TestSources(t *testing.T) {
	s := newSite(t, map[string]string{"site.lua": "\ufeff#!x\nrequire 'a'\n", "a.lua": "return 1"}, nil)
	require.Empty(t, s.run())
	for file, want := range map[string]string{"site.lua": "#!x\nrequire 'a'\n", "a.lua": "return 1"} {
		text, ok := s.in.Sources()(file)
		require.True(t, ok)
		require.Equal(t, want, text)
	}
	_, ok := s.in.Sources()("b.lua")
	require.False(t, ok)
}

func TestTooManyLocals(t *testing.T) {
	var b strings.Builder
	b.WriteString("local function f()\n")
	for i := range 210 {
		fmt.Fprintf(&b, "  local v%d = %d\n", i, i)
	}
	b.WriteString("end\n")
	s := newSite(t, map[string]string{"site.lua": b.String()}, nil)
	require.Equal(t, `site.lua:202:9: too many local variables: the limit is 200 per function (put the variables into a table, or enclose parts of the code in do ... end)
  202 |   local v200 = 200
      |         ^^^^^^^^^^
`, s.run())
}

// The catalog has the order of the declarations, and the same script always gives the same catalog.
func TestSameEachTime(t *testing.T) {
	script := `
local t = { c = 1, a = 2, b = 3 }
for name in pairs(t) do file { "/" .. name, content = name .. math.random(1000) } end
for name in pairs(facts.os) do package(name) end
for name in pairs(string) do exec(name) end
`
	var first []string
	for range 20 {
		var b catalog.Builder
		in := luaapi.New(options(t, &b, new(bytes.Buffer)))
		require.NoError(t, in.Run(context.Background(), "site.lua", script))
		in.Close()
		var ids []string
		for _, r := range b.Resources() {
			id := r.ID.String()
			if f, ok := r.Spec.(*fileProps); ok {
				id += *f.Content
			}
			ids = append(ids, id)
		}
		if first == nil {
			first = ids
			require.Contains(t, first[0], "file#/c")
		}
		require.Equal(t, first, ids)
	}
}

// Mistakes are sorted by position.
func TestMistakesAreSorted(t *testing.T) {
	s := newSite(t, map[string]string{"site.lua": `
local function later()
  file { "/a", mdoe = 1 }
end
x = 1
file { "/b", mdoe = 1 }
later()
error("at last")
`}, nil)
	err := s.in.Run(context.Background(), "site.lua", string(mustRead(t, "site.lua")))
	list, ok := errors.AsType[diag.List](err)
	require.True(t, ok)
	var lines []int
	for _, e := range list {
		lines = append(lines, e.Pos.Line)
	}
	require.Equal(t, []int{3, 5, 6, 8}, lines)
	require.Equal(t, resource.ID{Type: "file", Name: "/a"}.String(), list[0].Subject)
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return text
}
