package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// endless are scripts that would run for ever or use all memory: each ends at a limit of its evaluation or with a
// mistake, even if it catches errors.
var endless = map[string]string{
	"loop":              `while true do end`,
	"goto":              `::a:: goto a`,
	"tail call":         `local function f() return f() end f()`,
	"recursion":         `local function f() f() end f()`,
	"values":            `local function f(...) return f(1, ...) end f()`,
	"pcall":             `local function f() pcall(f) pcall(f) end f()`,
	"pcall loop":        `local function f() while true do pcall(f) end end f()`,
	"pcall tail":        `local function f() return pcall(f) end while true do f() end`,
	"xpcall":            `local function f() xpcall(f, f) xpcall(f, f) end f()`,
	"handler":           `local function h() while true do xpcall(error, h) end end h()`,
	"coroutines":        `local function f() pcall(coroutine.wrap(f)) pcall(coroutine.wrap(f)) end f()`,
	"coroutine loop":    `while true do local c = coroutine.wrap(function() coroutine.yield() end) c() end`,
	"yield in pcall":    `local c = coroutine.wrap(function() pcall(coroutine.yield) while true do end end) c() c()`,
	"index":             `local t = setmetatable({}, { __index = function(t, k) return t[k .. k] end }) while true do pcall(function() return t.x end) end`,
	"index chain":       `local t = {} for i = 1, 1e5 do t = setmetatable({}, { __index = t }) end while true do pcall(function() return t.y end) end`,
	"index cycle":       `local a, b = {}, {} setmetatable(a, { __index = b }) setmetatable(b, { __index = a }) while true do pcall(function() return a.y end) end`,
	"tostring":          `local t t = setmetatable({}, { __tostring = function() pcall(tostring, t) pcall(tostring, t) return tostring(t) end }) tostring(t)`,
	"compare":           `local m = {} m.__lt = function(a, b) pcall(function() return a < b end) return a < b end local x = setmetatable({}, m) < setmetatable({}, m)`,
	"equal":             `local m = {} m.__eq = function(a, b) pcall(function() return a == b end) return a == b end local x = setmetatable({}, m) == setmetatable({}, m)`,
	"join objects":      `local m = {} local t = setmetatable({}, m) m.__concat = function() pcall(function() return t .. t end) return t .. t end local x = t .. t`,
	"sort":              `local function f(a, b) pcall(table.sort, { 1, 2, 3 }, f) return a < b end table.sort({ 3, 2, 1 }, f)`,
	"sort wrong":        `local t = {} for i = 1, 1e5 do t[i] = i end while true do pcall(table.sort, t, function() return true end) end`,
	"gsub":              `local function f() pcall(string.gsub, 'xx', '.', f) end while true do f() end`,
	"pattern":           `while true do pcall(string.find, ('a'):rep(1e5), ('a-'):rep(30) .. 'b') end`,
	"load":              `local function f() local g = load('local f = ... pcall(f) pcall(f)') pcall(g, f) pcall(g, f) end f()`,
	"load long":         `while true do load(('x = 1 '):rep(1e5)) end`,
	"load pieces":       `load(function() return 'x = x ' end)`,
	"load nested":       `while true do load(('if true then '):rep(2e4) .. ('end '):rep(2e4)) end`,
	"require":           `package.preload.a = function() pcall(require, 'b') end package.preload.b = function() package.loaded.a = nil pcall(require, 'a') end while true do package.loaded.a, package.loaded.b = nil, nil pcall(require, 'a') end`,
	"error object":      `error(setmetatable({}, { __tostring = function() while true do end end }))`,
	"double":            `local s = 'x' while true do s = s .. s end`,
	"double caught":     `while true do pcall(function() local s = 'x' while true do s = s .. s end end) end`,
	"double number":     `local s = 1 while true do s = s .. s end`,
	"rep":               `while true do pcall(string.rep, 'x', 1e10) end`,
	"format":            `while true do pcall(string.format, '%99999999d', 1) end`,
	"concat far":        `while true do pcall(table.concat, {}, 'x', 1, 1e15) end`,
	"unpack far":        `while true do pcall(unpack, {}, 1, 1e15) end`,
	"property":          `local t = {} for i = 1, 60 do t = { t, t } end file { '/x', content = t }`,
	"json.encode":       `local t = {} for i = 1, 60 do t = { t, t } end json.encode(t)`,
	"yaml.encode":       `local t = {} for i = 1, 60 do t = { t, t } end yaml.encode(t)`,
	"toml.encode":       `local t = {} for i = 1, 60 do t = { a = t, b = t } end toml.encode(t)`,
	"json cycle":        `local t = {} t[1] = t while true do pcall(json.encode, t) end`,
	"tbl.equal":         `local a, b = {}, {} for i = 1, 60 do a, b = { a, a }, { b, b } end tbl.equal(a, b)`,
	"tbl.deep_merge":    `local a, b = {}, {} for i = 1, 60 do a, b = { x = a, y = a }, { x = b, y = b } end tbl.deep_merge(a, b)`,
	"tbl.flatten":       `local t = {} for i = 1, 60 do t = { t, t } end tbl.flatten(t, 1000)`,
	"tbl.range":         `while true do pcall(tbl.range, 1, 1e15) end`,
	"yaml.decode":       `local s = ('  k: v\n'):rep(1e5) while true do pcall(yaml.decode, s) end`,
	"yaml merge":        `local s = 'a: &a\n' for i = 1, 3000 do s = s .. '  k' .. i .. ': 1\n' end yaml.decode(s .. 'b:\n' .. ('  <<: *a\n'):rep(3000))`,
	"yaml aliases":      `local s = 'a0: &a0 [x, x, x]\n' for i = 1, 30 do s = s .. ('a%d: &a%d [*a%d, *a%d]\n'):format(i, i, i - 1, i - 1) end yaml.decode(s)`,
	"json.decode":       `json.decode(('['):rep(1e6))`,
	"toml.decode":       `local t = {} for i = 1, 1e5 do t[i] = 'a' .. i .. ' = 1' end toml.decode(table.concat(t, '\n'))`,
	"re.match_all":      `while true do pcall(re.match_all, ('a'):rep(1e5), '') end`,
	"re pattern":        `while true do pcall(re.test, 'a', '(a{1000}){1000}') end`,
	"str.nearest":       `str.nearest(('b'):rep(1e6), { ('a'):rep(1e6) })`,
	"str.pad_start":     `while true do pcall(str.pad_start, 'x', 2 ^ 31) end`,
	"template.expand":   "template.expand('${ reduce(1..40, #acc + #acc, \"xxxxxxxx\") }')",
	"template.expand 2": "template.expand('${ reduce(1..40, [#acc, #acc], 1) }')",
	"template.jet":      `template.jet('[[ s := "xxxxxxxx" ]][[ range ints(1, 40) ]][[ s = s + s ]][[ end ]]')`,
	"template.go":       `template.go('{{ $s := "xxxxxxxx" }}{{ range $i := .n }}{{ $s = printf "%s%s" $s $s }}{{ end }}', { n = tbl.range(1, 40) })`,
	"template.go width": `template.go('{{ printf "' .. ('%1000000d'):rep(1000) .. '" 1 }}')`,
	"template.go self":  `template.go('{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}')`,
	"inspect":           `while true do inspect(_G, { process = function(v) return v end }) end`,
	"declare":           `local i = 0 while true do i = i + 1 file { '/x' .. i, ensure = 'absent' } end`,
	"lazy":              `local t = {} while true do t[#t + 1] = ccm.lazy(function() end) end`,
}

// No operation of a script goes on much longer than the time limit.
func TestEndless(t *testing.T) {
	if testing.Short() {
		t.Skip("runs into every limit: make test-all")
	}
	w := newHostile(t)
	w.timeout = 50 * time.Millisecond
	t.Chdir(w.base)
	for name, text := range endless {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			_, err := w.load(t, "site.lua", text)
			require.Error(t, err)
			mistaken(t, "site.lua", text, err)
			require.Less(t, time.Since(begin), time.Minute)
		})
	}
}

// A manifest has the time limit of a script.
func TestManifestTime(t *testing.T) {
	w := newHostile(t)
	w.timeout = 10 * time.Millisecond
	t.Chdir(w.base)
	for name, text := range map[string]string{
		"items":       "data:\n  list:\n" + strings.Repeat("    - [a, b, {c: d}]\n", 200_000) + "ccm:\n  resources: []\n",
		"expressions": "ccm:\n  resources:\n" + strings.Repeat("    - file: [{'/x${ sum(1..9000) }': {ensure: absent}}]\n", 60_000),
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			_, err := w.load(t, "site.yaml", text)
			require.ErrorContains(t, err, "manifest exceeded the time limit of 10ms")
			require.Less(t, time.Since(begin), time.Minute)
		})
	}
}

// The error about a manifest or script that is too large has its limit, and says how to go on.
func TestTooLargeInput(t *testing.T) {
	for name, x := range map[string]struct {
		size  int64
		limit string
	}{"site.yaml": {257 << 20, "256.0 MiB"}, "site.lua": {65 << 20, "64.0 MiB"}} {
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		require.NoError(t, os.Truncate(file, x.size))
		var out, failed bytes.Buffer
		code := run(t.Context(), newEnv(strings.NewReader(""), &out, &failed, hosttest.Clock{}), []string{"plan", "--state-dir", t.TempDir(), file})
		require.NotZero(t, code)
		require.Contains(t, failed.String()+out.String(), "expected a file of at most "+x.limit)
		require.Contains(t, failed.String()+out.String(), "split it into several files, and list them with apply")
	}
}
