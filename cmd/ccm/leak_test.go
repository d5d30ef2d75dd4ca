package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A command leaves no memory behind, so a process that converges again and again, as a session or a test does, does
// not grow. A global that refers to a part of a command keeps all of it, about 200 KB.
func TestCommandsKeepNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	const most = 4 << 10 // bytes per command; free room in maps is about 200
	if os.Getenv("CCM_TEST_LEAK_CHILD") == "" {
		// In a process of its own, because goroutines and memory of other tests would count.
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCommandsKeepNothing$")
		cmd.Env = append(os.Environ(), "CCM_TEST_LEAK_CHILD=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), "no tests")
		return
	}
	isolate(t)
	dir := t.TempDir()
	owner, group := hosttest.Me()
	attr := `owner = "` + owner + `", group = "` + group + `", mode = "0644"`
	path := filepath.Join(dir, "site.lua")
	require.NoError(t, os.WriteFile(path, []byte(`
		local line, directory = require "std.line", require "std.directory"
		local f = file { "/f", content = arg[1], `+attr+` }
		line { "l", path = "/l", line = "a", create = { `+attr+` } }
		file { "/late", content = ccm.lazy(function() return template.jet("[[ x ]]", { x = "y" }) end), `+attr+` }
		exec { "true", subscribe = f, refreshonly = true }
		secret("hidden")`), 0o600))
	spec := filepath.Join(dir, "x_test.lua")
	require.NoError(t, os.WriteFile(spec, []byte(`it("x", function() catalog("site.lua", { args = { "x" } }):converge() end)`), 0o600))
	place := []string{"--root", dir}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"run", append([]string{"run", path, "one"}, place...)},
		{"run that changes", append([]string{"run", path, "COUNT"}, place...)},
		{"plan", append([]string{"plan", path, "two"}, place...)},
		{"drift", []string{"drift"}},
		{"history", []string{"history", "show", "last"}},
		{"ensure", append([]string{"ensure", "file", "/e", "--content", "COUNT", "--owner", owner, "--group", group, "--mode", "0644"}, place...)},
		{"eval", []string{"eval", "return 1"}},
		{"graph", []string{"catalog", path, "one", "--output", "dot"}},
		{"facts", []string{"facts"}},
		{"docs", []string{"docs", "plans"}},
		{"docs", []string{"docs", "file"}},
		{"test", []string{"test", spec}},
		{"mistake", []string{"run", "--bad"}},
	} {
		what, args := c.name, c.args
		t.Run(what, func(t *testing.T) {
			count := 0
			held := func(commands int) uint64 {
				for range commands {
					count++
					given := make([]string, len(args))
					for i, arg := range args {
						if given[i] = arg; arg == "COUNT" {
							given[i] = string(rune('a' + count%26))
						}
					}
					stdout, stderr, status := ccm(t, nil, given...)
					require.Equal(t, what == "mistake", status != cli.ExitOK, stdout+stderr)
				}
				runtime.GC()
				runtime.GC() // objects in a pool survive one collection
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := held(3)
			kept := (int64(held(15)) - int64(before)) / 15
			require.Less(t, kept, int64(most), "bytes a command; see completeFlag")
		})
	}
}
