package luaapi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/diag"
)

func TestDeadline(t *testing.T) {
	for name, script := range map[string]string{
		"loop":      "while true do end",
		"call":      "local function f() end\nwhile true do f() end",
		"pcall":     "while true do pcall(error) end",
		"pcall in":  "pcall(function() while true do end end)\nprint('on')",
		"xpcall":    "while true do xpcall(error, function() while true do end end) end",
		"coroutine": "coroutine.wrap(function() while true do end end)()",
		"resume":    "local co = coroutine.create(function() while true do end end)\ncoroutine.resume(co)\nprint('on')",
		"sort":      "local t = {}\nfor i = 1, 1000 do t[i] = -i end\nwhile true do table.sort(t, function(a, b) return a < b end) end",
		"pattern":   "while true do pcall(string.rep, 'x', 1000) ; pcall(function() (('x'):rep(3000)):find('.-.-.-y') end) end",
		"gsub":      "('x'):rep(100):gsub('.', function() while true do end end)",
		"declare":   "while true do file { '/x', content = 'x' } end",
		"module":    "require 'slow'",
	} {
		t.Run(name, func(t *testing.T) {
			limit := 30 * time.Millisecond
			if name == "module" {
				limit = 2 * time.Second // enough to reach the module
			}
			s := newSite(t, map[string]string{"site.lua": script, "slow.lua": "while true do end"},
				func(o *luaapi.Options) { o.Timeout = limit })
			err := s.in.Run(context.Background(), "site.lua", script)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			list, _ := errors.AsType[diag.List](err)
			last := list[len(list)-1]
			require.Equal(t, fmt.Sprintf("script exceeded the time limit of %s (raise it with --eval-timeout)", limit), last.Message())
			require.Positive(t, last.Pos.Line)
			require.Empty(t, s.out.String())
			if name == "module" {
				require.Equal(t, "slow.lua:1", last.Pos.String())
				require.Equal(t, []diag.Note{{Pos: diag.Pos{File: "site.lua", Line: 1}, Text: "called from here"}}, last.Notes)
			}
		})
	}
}

// TestWaitingForAnAnswer: the time of waiting for a user's input does not count for the script.
func TestWaitingForAnAnswer(t *testing.T) {
	calls := 0
	over := make(chan struct{})
	s := newSite(t, nil, func(o *luaapi.Options) {
		o.Timeout = 10 * time.Millisecond
		o.Warn = func(diag.Pos, string) { <-over }
		o.WaitTime = func() time.Duration { // called at the start of the script, and when its time seems to be over
			if calls++; calls == 1 {
				return 0
			}
			if calls == 2 {
				close(over)
			}
			return time.Hour
		}
	})
	require.NoError(t, s.in.Run(context.Background(), "site.lua", "ccm.warn 'now'\nfor i = 1, 1000 do end"))
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := newSite(t, nil, func(o *luaapi.Options) {
		o.Warn = func(diag.Pos, string) { cancel() }
	})
	err := s.in.Run(ctx, "site.lua", "ccm.warn 'now'\nwhile true do end")
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "site.lua:2: interrupted")
}

func TestMemory(t *testing.T) {
	s := newSite(t, nil, func(o *luaapi.Options) { o.Memory = 64 << 20 })
	err := s.in.Run(context.Background(), "site.lua", "local t = {}\nwhile true do t[#t + 1] = ('x'):rep(2 ^ 20) .. #t end")
	require.ErrorContains(t, err, "site.lua:2")
	require.ErrorContains(t, err, "script exceeded the memory limit of 64 MiB")
}

// A single assignment cannot make a table of a gigabyte, and the length of a too long table is a mistake wherever it
// is used.
func TestLongLists(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	// The table has 64 MiB, and its growth makes garbage faster than a busy machine collects it.
	s := newSite(t, nil, func(o *luaapi.Options) { o.Memory = 512 << 20 })
	require.NoError(t, s.in.Run(context.Background(), "site.lua", `
		local t = {}
		t[2 ^ 26 - 1], t[2 ^ 22], t[3] = "a", "b", "c"
		local n = 0
		for _ in pairs(t) do n = n + 1 end
		print(#t, n, t[2 ^ 26 - 1] .. t[2 ^ 22])
		local ok, u = {}, { list = {} }
		u.list[2 ^ 22 - 1] = true
		for i, f in ipairs {
			function() return #u.list end, function() return ipairs(u.list) end, function() table.insert(u.list, 1) end,
			function() table.remove(u.list) end, function() table.sort(u.list) end, function() return table.concat(u.list) end,
			function() return unpack(u.list) end, function() return table.getn(u.list) end,
		} do
			local ok, err = pcall(f)
			if ok or not err:find("a list must have fewer than 4194303 items", 1, true) then print(i, ok, err) end
		end`))
	require.Equal(t, "3\t3\tab\n", s.out.String())

	s = newSite(t, nil, func(o *luaapi.Options) { o.Memory = 128 << 20 })
	err := s.in.Run(context.Background(), "site.lua", "local t = {}\nwhile true do local u = {} u[2 ^ 22 - 1] = 1 table.insert(t, u) end")
	require.ErrorContains(t, err, "script exceeded the memory limit of 128 MiB")
}
