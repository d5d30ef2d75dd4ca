package luaapi_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/schema"
)

// siteTexts are declarations that may be compiled as call sites, and some that must not be.
var siteTexts = []string{
	`file { "/a", "/b", mode = "0644", owner = "root" } file { "/c" } file "/d" { mode = "0600" } file("/e", { mode = "0600" })`,
	`local n = "x" file { "/" .. n, content = n .. n, size = #n, force = not n, owner = nil, mode = "0644" }`,
	`local function f() return "/a", "/b" end file { f() } file { f(), mode = "0600" } file { "/c", content = f() } file { (f()) }`,
	`local function f(...) file { ... } file { ..., "/x" } file { "/y", content = ... } file { "/z", (...) } end f("/a", "/b")`,
	`file { nil, "/a" } file { "/b", nil } local n file { n } file { "/c", n } file { n, "/d" } file { "/e", owner = n }`,
	`file { "/a", owner = "a", owner = "b" } file { "/b", [1] = "/c" } file { "/d", ["owner"] = "x" } file { "/e", [("own") .. "er"] = "x" }`,
	`file { "/a", nosuch = 1, ownr = "x", size = "y", force = 3 } file { 5 } file { true } file { {} } file { "/b", content = {} } file { }`,
	`file { "/a", owner = function() end } file { "/b", content = print } file { file { "/c" } } exec { "x", require = file { "/d" } }`,
	`local file = function(t) print(t[1], t.mode) end file { "/a", mode = "1" }`,
	`file = function(t) print(t[1], t.mode) return 1, 2 end print(file { "/a", "/b", mode = "1" }) local x = file { "/a" }`,
	`local t = { exec = exec } t.exec { "a", command = "b" } local function f(file) return file { "/a" } end f(print) f(exec)`,
	`for i = 1, 3 do file { "/f" .. i, content = "c" .. i } end for i = 1, 3 do exec { "e" .. i, subscribe = "file#/f" .. i, command = "x" } end`,
	`local function f(i) return file { "/f" .. i, mode = "0600" } end print(f(1), f(2).name) print((f(3))) exec { "x", require = { f(4), f(5) } }`,
	`local a, b = file { "/a", "/b" } print(a, b) print(file { "/c", "/d" }) local t = { file { "/e", "/f" } } print(#t)`,
	`file.defaults { owner = "o", mode = "0600" } file { "/a" } file { "/b", owner = "p" } for i = 1, 2 do file.defaults { owner = "q" .. i } file { "/c" .. i } end`,
	`file { "/a", content = error("x") }`, `file { "/a", content = nosuch }`, `file { "/a", content = nil .. "x" }`, `file { "/a", content = ("x"):nosuch() }`,
	`local ok, e = pcall(function() file { "/a", mode = "99" } end) print(ok) coroutine.wrap(function() file { "/b", mode = "98" } coroutine.yield() file { "/c", mode = "97" } end)()`,
	`file { "/a", content = file { "/b", content = file { "/c", mode = "9" }.name }.name, mode = "8" }`, `file { "/a" } { mode = "0600" }`, `file { "/a", "/a" } file { "/a", mode = "0644" }`,
	`file { "/a", size = 1, size = 2 } file { "/b", size = -1 } file { "/c", size = 1e3 } file { "/d", size = 0x10 } file { "/e", size = 1.5 } file { "/f", size = 1e999 }`,
	"file {\n  '/a',\n  mode = 5,\n  owner = 6,\n\n  nosuch = 7 }", "return file { '/a', mode = '0600' }", "local x <const> = 1", `file { "/a", content = [[
long]] }`, `rawset(_G, "file", nil) file { "/x" }`, `rawset(_G, "file", print) file { "/x" }`, `if file { "/a" } then exec { "b", command = "c" } end while file { "/a", mode = "1" } do break end`,
	`local i = 0 ::again:: i = i + 1 file { "/a" .. i, mode = "0600" } do file { "/b" .. i } end if i < 3 then goto again end file { "/c" }`,
	`local i = 0 while i < 2 do i = i + 1 file { "/a" .. i } end repeat i = i - 1 file { "/b" .. i } until i == 0 for _, n in ipairs { "c", "d" } do file { "/" .. n } end`,
	`local function f(n) file { n, mode = "0600" } end f "/a" f "/b" exec { "c", command = "c" } f "/d"`,
}

var (
	// addresses matches memory addresses of values.
	addresses = regexp.MustCompile(`0x[0-9a-f]+`)
	// slow matches code that may end at different places because of the time limit.
	slow = regexp.MustCompile(`while|repeat|goto|for|clock|rep`)
)

// evaluated returns all observable results of the evaluation of a text.
func evaluated(t *testing.T, text string, sites bool) string {
	var b catalog.Builder
	var out bytes.Buffer
	o := options(t, &b, &out)
	o.Timeout, o.Memory = 5*time.Second, 1<<28
	in := luaapi.New(o)
	defer in.Close()
	if !sites {
		in.WithoutCallSites()
	}
	err := in.Run(context.Background(), "x.lua", text)
	for _, r := range b.Resources() {
		fmt.Fprintf(&out, "%s %s %#v %#v %v %v %q\n", r.ID, r.Pos, r.Spec, *r.Common, r.Calls, r.LazyProperties, r.Skip)
		for _, name := range r.Type.Properties().Names() {
			fmt.Fprintln(&out, name, r.Positions.Locate(schema.Path{name}, false), r.Positions.Locate(schema.Path{name}, true), r.Positions.Locate(schema.Path{name, 0}, false))
		}
		spec := r.Type.Properties().Encode(r.Spec, r.Common)
		fmt.Fprintf(&out, "%v\n", spec.Entries)
	}
	return addresses.ReplaceAllString(fmt.Sprintf("%+v\n%s", err, out.String()), "0x")
}

// checkSites compares the evaluation of a text with and without call sites.
func checkSites(t *testing.T, text string) {
	require.Equal(t, evaluated(t, text, false), evaluated(t, text, true), "%q", text)
}

func TestSites(t *testing.T) {
	for _, text := range luaapi.Corpus(t) {
		if !slow.MatchString(text) {
			checkSites(t, text)
		}
	}
	for _, text := range siteTexts {
		checkSites(t, text)
	}
}

// A literal declaration that cannot run again keeps neither its syntax tree nor its code after the evaluation.
func TestSitesAreReleased(t *testing.T) {
	const many = 2000
	var held []any // so that nothing is freed meanwhile
	kept := func(text string) float64 {
		b := new(catalog.Builder)
		in := luaapi.New(options(t, b, new(bytes.Buffer)))
		t.Cleanup(in.Close)
		held = append(held, b, text)
		heap := func() float64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // the first one moves pooled objects to the victim cache
			runtime.ReadMemStats(&m)
			return float64(m.HeapAlloc)
		}
		before := heap()
		require.NoError(t, in.Run(t.Context(), "x.lua", text))
		kept := heap() - before
		require.Len(t, b.Resources(), many)
		return kept / many
	}
	var written strings.Builder
	for i := range many {
		fmt.Fprintf(&written, "file { \"/f%d\", content = \"x\", mode = \"0644\" }\n", i+1)
	}
	loop := kept(fmt.Sprintf(`for i = 1, %d do file { "/f" .. i, content = "x", mode = "0644" } end`, many))
	out := kept(written.String())
	t.Logf("%.0f bytes for each in a loop, %.0f for each that is written out", loop, out)
	runtime.KeepAlive(held)
	// The text, its line starts, and the position of each declaration are kept for messages.
	require.LessOrEqual(t, out, loop+500)
}

func FuzzSites(f *testing.F) {
	for _, text := range append(luaapi.Corpus(f), siteTexts...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if slow.MatchString(text) {
			t.Skip()
		}
		checkSites(t, text)
	})
}
