package luaapi_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/host"
)

// converged evaluates a script and simulates a run: it resolves each resource in order, and reports the result in
// fates. Execs print out and err and exit with 3.
func converged(t *testing.T, script string, fates map[string]luaapi.Result) (lines []string, specs map[string]any) {
	t.Helper()
	var b catalog.Builder
	var print bytes.Buffer
	in := luaapi.New(options(t, &b, &print))
	require.NoError(t, in.Run(t.Context(), "site.lua", script))
	in.Close()
	specs = make(map[string]any)
	for _, r := range b.Resources() {
		id := r.ID.String()
		specs[id] = r.Spec
		if r.Resolve != nil {
			spec, err := r.Resolve(t.Context())
			if specs[id] = spec; err != nil {
				lines = append(lines, err.Error())
			}
		}
		fate, ok := fates[id]
		if !ok {
			fate = luaapi.Result{Outcome: "changed", Changed: true}
		}
		if err := in.Results().Set(t.Context(), r.ID, fate); err != nil {
			lines = append(lines, err.Error())
		}
	}
	return append(strings.Split(strings.TrimSuffix(print.String(), "\n"), "\n"), lines...), specs
}

var ran = &host.Result{Stdout: []byte("out\nmore\n"), Stderr: []byte("err\n"), Code: 3}

func TestLazy(t *testing.T) {
	lines, specs := converged(t, `
local made = exec "make"
local text = file { "/a", content = ccm.lazy(function() print "asked"; return made.stdout .. "|" .. made.stderr .. "|" .. made.exit_code end) }
exec { "b", args = { "x", ccm.lazy(function() return text.outcome end) }, refreshonly = ccm.lazy(function() return text.changed and not text.failed end) }
exec { "c", args = ccm.lazy(function() return made.changed and { "y" } or {} end), command = ccm.lazy(function() end) }
print "declared"`, map[string]luaapi.Result{"exec#make": {Outcome: "changed", Changed: true, Command: ran}})
	require.Equal(t, []string{"declared", "asked"}, lines)
	require.Equal(t, "out\nmore|err|3", *specs["file#/a"].(*fileProps).Content)
	b, c := specs["exec#b"].(*execProps), specs["exec#c"].(*execProps)
	require.Equal(t, []string{"x", "changed"}, b.Args)
	require.True(t, b.Refreshonly)
	require.Equal(t, []string{"y"}, c.Args)
	require.Empty(t, c.Command)
}

func TestLazyMistakes(t *testing.T) {
	for _, x := range []struct{ script, want string }{
		{`file { "/a", mode = ccm.lazy(function() return "rw" end) }`, `site.lua:1:21: file#/a: mode: expected octal permissions such as "0644", got "rw"`},
		{`file { "/a", content = ccm.lazy(function() return print end) }`, `site.lua:1:24: content: a property cannot hold a function`},
		{`file { "/a", content = ccm.lazy(function() return ccm.lazy(print) end) }`, `site.lua:1:24: the function of ccm.lazy: expected the value itself, got a lazy value`},
		{`file { "/a", content = ccm.lazy(function() return nil .. "" end) }`, `site.lua:1:51: nil: expected a string or a number, got nil`},
		{`file { "/a", content = ccm.lazy(function() file "/b" end) }`, `file#/b: resources cannot be declared during the run`},
		{"local b\nfile { '/a', content = ccm.lazy(function() return b.outcome end) }\nb = file '/b'",
			`site.lua:2:51: file#/b.outcome is not known yet: the resource has not been applied`},
		{`ccm.after(file "/a", function() file "/b" end)`, `file#/b: resources cannot be declared during the run`},
		{`ccm.after(file "/a", function(h) error(h.outcome) end)`, `site.lua:1:34: changed`},
		{`ccm.after(file "/a", function(h) ccm.after(h, print) end)`, `ccm.after: the run has already started`},
	} {
		lines, _ := converged(t, x.script, nil)
		require.Contains(t, lines[len(lines)-1], x.want, x.script)
	}
}

// A function of ccm.lazy has the limits of a script on strings, memory and time.
func TestLazyLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs into every limit: make test-all")
	}
	for body, want := range map[string]string{
		`local s = "x" while true do s = s .. s end`:                                            "..: the result must be at most 64 MiB",
		`local t, s = {}, ("x"):rep(2 ^ 22) while true do t[#t + 1] = s .. #t end`:              "script exceeded the memory limit of 64 MiB",
		`local t = {} while true do t[#t + 1] = {} end`:                                         "script exceeded the memory limit of 64 MiB",
		`while true do pcall(function() local s = "x" for i = 1, 10 do s = s .. s end end) end`: "script exceeded the time limit of 2s",
	} {
		var b catalog.Builder
		o := options(t, &b, new(bytes.Buffer))
		o.Memory, o.Timeout = 64<<20, 2*time.Second
		switch {
		case strings.HasPrefix(want, ".."):
			o.Memory, o.Timeout = 512<<20, time.Minute
		case strings.HasPrefix(want, "script exceeded the memory"):
			o.Timeout = time.Minute
		}
		in := luaapi.New(o)
		require.NoError(t, in.Run(t.Context(), "site.lua", `file { "/a", content = ccm.lazy(function() `+body+` end) }`))
		_, err := b.Resources()[0].Resolve(t.Context())
		require.ErrorContains(t, err, want, body)
		in.Close()
	}
}

// Functions that wait for a resource are called in the order of their registration, with the handle; in a plan they
// are not called.
func TestAfter(t *testing.T) {
	const script = `
local made = exec "make"
ccm.after(made, function(h) print(h, h.outcome, h.changed, h.failed, h.stdout, h.exit_code) end)
ccm.after(made, function() print("second") end)
file { "/a", content = ccm.lazy(function() return made.outcome end) }`
	for _, x := range []struct {
		fate luaapi.Result
		want string
	}{
		{luaapi.Result{Outcome: "failed", Failed: true, Command: &host.Result{Code: 1}}, "exec#make\tfailed\tfalse\ttrue\t\t1|second"},
		{luaapi.Result{Outcome: "stable"}, "exec#make\tstable\tfalse\tfalse\tnil\tnil|second"},
		{luaapi.Result{Outcome: "stable", Planned: true}, ""},
	} {
		lines, specs := converged(t, script, map[string]luaapi.Result{"exec#make": x.fate})
		require.Equal(t, x.want, strings.Join(lines, "|"))
		require.Equal(t, x.fate.Outcome, *specs["file#/a"].(*fileProps).Content)
	}
}
