package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/site"
)

// succeeding runs no command and says that each has succeeded.
type succeeding struct{}

func (succeeding) Run(context.Context, host.Cmd) (host.Result, error) { return host.Result{}, nil }

// growing are sites by what they have many of. %d is how many.
var growing = map[string]string{
	"files to make":             `for i = 1, %d do file { "/f" .. i, content = "x", owner = "0", group = "0", mode = "0644" } end`,
	"directories to make":       `for i = 1, %d do file { "/d" .. i, ensure = "directory", owner = "0", group = "0", mode = "0755" } end`,
	"commands to run":           `for i = 1, %d do exec { "e" .. i, command = "true" } end`,
	"commands not to run":       `for i = 1, %d do exec { "e" .. i, command = "true", unless = "true" } end`,
	"commands with creates":     `for i = 1, %d do exec { "e" .. i, command = "true", creates = "/" } end`,
	"commands before files":     `for i = 1, %d do exec { "e" .. i, command = "true" }; file { "/f" .. i, content = "x", owner = "0", group = "0", mode = "0644" } end`,
	"a chain of refreshes":      `local last; for i = 1, %d do last = exec { "e" .. i, command = "true", refreshonly = true, subscribe = last } end`,
	"resources of a Lua type":   `local link = require "std.link"; for i = 1, %d do link { "/l" .. i, target = "/x" } end`,
	"resources in nested calls": `local function one(i) exec { "e" .. i, command = "true", unless = "true" } end; for i = 1, %d do one(i) end`,
}

// planned plans a site below an empty root and returns what that took of memory.
func planned(t *testing.T, text string) (allocations, size uint64) {
	name := siteFile(t, "lua", text)
	e := newEnv(strings.NewReader(""), io.Discard, new(bytes.Buffer), hosttest.Clock{})
	root := t.TempDir()
	e.NewHost = func(host.Options) *host.Host {
		return host.New(host.Options{Root: root, Clock: hosttest.Clock{}, Runner: succeeding{}})
	}
	f := &runFlags{noop: true}
	f.add(&cobra.Command{}, report.DiffOff)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run, err := e.Begin(t.Context(), name, nil, &site.RunOptions{
		Site: f.siteFlags.options(), Record: f.recordFlags.options(root), Plan: true, Reporter: newReport(e, f).reporters,
	})
	require.NoError(t, err)
	defer run.End()
	run.Converge(t.Context())
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

// What a plan takes grows with the number of resources and not faster, whatever they
// are and whatever is pending before them. CCM_TEST_GROWTH is how many resources the
// largest site has, 4000 if it is not set.
func TestPlansGrowLinearly(t *testing.T) {
	most := 4000
	if n, err := strconv.Atoi(os.Getenv("CCM_TEST_GROWTH")); err == nil {
		most = n
	}
	for what, site := range growing {
		t.Run(what, func(t *testing.T) {
			of := func(n int) (float64, float64) {
				allocations, size := planned(t, fmt.Sprintf(site, n))
				return float64(allocations), float64(size)
			}
			of(10) // what is set up once
			allocations, size := of(most / 4)
			manyAllocations, manySize := of(most)
			t.Logf("%.1f allocations and %.0f bytes for each resource, %.1f and %.0f of four times as many",
				allocations/float64(most/4), size/float64(most/4), manyAllocations/float64(most), manySize/float64(most))
			require.LessOrEqual(t, manyAllocations, 4*1.2*allocations)
			require.LessOrEqual(t, manySize, 4*1.4*size) // tables double
		})
	}
}

// 10,000 resources take at most 44 MiB more than none, which in the binary of users are
// 20 MiB.
func TestPeakOfMemory(t *testing.T) {
	peak := func(site string) int64 {
		cmd := exec.Command("ccm", "plan", "--state-dir", t.TempDir(), "--root", t.TempDir(), siteFile(t, "lua", site))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss // in KiB
	}
	none := peak("")
	for what, site := range map[string]string{
		"files to make":         growing["files to make"],
		"commands with creates": growing["commands with creates"],
		"garbage":               `local t; for i = 1, 40 * %d do t = { name = "n" .. i, "x" .. i } end`,
	} {
		t.Run(what, func(t *testing.T) {
			most := peak(fmt.Sprintf(site, 10_000))
			t.Logf("%d KiB, of nothing %d KiB", most, none)
			require.LessOrEqual(t, most-none, int64(44<<10))
		})
	}
}
