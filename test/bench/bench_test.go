//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBench measures everything with hardly any work: every row is there, and
// every program did what it should, which bench itself checks.
func TestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs and runs them: make test-all")
	}
	t.Chdir("../..")
	dir := t.TempDir()
	o := options{
		rounds: 1, ccm: filepath.Join(dir, "ccm"), before: filepath.Join(dir, "ccm"), floor: filepath.Join(dir, "floor"), disk: dir, quick: true,
		out:   filepath.Join(dir, "performance.md"),
		sizes: sizes{small: 5, middle: 110, large: 300, literal: 20, created: 5, packages: 3, services: 3, execs: 4, big: 1 << 16, edges: 20},
	}
	for _, name := range []string{o.ccm, o.floor} {
		pkg := map[string]string{o.ccm: "./cmd/ccm", o.floor: "./test/bench/floor"}[name]
		out, err := exec.Command("go", "build", "-o", name, pkg).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	var table bytes.Buffer
	require.NoError(t, run(&table, o), "%s", &table)

	text, err := os.ReadFile(o.out)
	require.NoError(t, err)
	page := string(text)
	for _, work := range []string{
		"`ccm run` of an empty site", "`ccm version`", "one more stable file of a loop, from 5 to 110", "one more stable file of a loop, from 110 to 300",
		"its memory beyond its content, in use", "its memory beyond its content, peak of the process",
		"20 literal declarations with 1 KiB each", "one more of them beyond 20, against one before", "5 stable files", "110 stable files",
		"5 files created, ", "2 of 110 files drifted", "bytes read meanwhile", "4 execs with `creates`", "0 MiB file from a local source, stable",
		"bytes read if the sizes differ, beyond an empty plan", "20 resources with 60 edges: order and references",
	} {
		measured := ""
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "| "+work) {
				measured = line
			}
		}
		require.Contains(t, measured, " ≤ ", "%s\n%s", work, page)
		require.NotContains(t, measured, "not measured")
		require.Contains(t, table.String(), work)
	}
	for _, pair := range []string{"| empty | ccm version | ", "| stable | ccm literal-files-5.yaml | ", "| drift | ccm loop-files-110.lua, drifted | "} {
		require.Contains(t, table.String(), pair)
	}
	for _, work := range []string{"installed packages", "services", "100,000 values of data into Lua"} {
		require.Contains(t, page, work)
	}
	require.Contains(t, page, "These are small sizes")
	left, err := filepath.Glob(filepath.Join(dir, "ccm-bench-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// What does not do its work is not measured.
func TestBenchChecks(t *testing.T) {
	dir := t.TempDir()
	floor := filepath.Join(dir, "floor")
	out, err := exec.Command("go", "build", "-o", floor, "./floor").CombinedOutput()
	require.NoError(t, err, "%s", out)
	b := &bench{options: options{rounds: 1}, floor: floor, scratch: dir}

	_, err = b.once(&program{name: "x", argv: []string{"false"}})
	require.ErrorContains(t, err, "x: exit status 1")
	_, err = b.once(&program{name: "x", argv: []string{"echo", "2 resources: 1 stable, 1 changed (1ms)"}, check: allStable(2).check})
	require.ErrorContains(t, err, "x: {total:2 changed:1 pending:0} instead of {total:2 changed:0 pending:0}")
	_, err = b.once(b.floorProgram(1, "stat", "/dev/null", "1"))
	require.NoError(t, err) // the empty name is missing
	_, err = b.once(b.floorProgram(0, "stat", "/dev/null", "1"))
	require.ErrorContains(t, err, "1 are not as wanted, not 0")

	good := &program{name: "good", argv: []string{"true"}}
	bad := &program{name: "peer", argv: []string{"false"}, peer: new(peer)}
	require.NoError(t, b.measure(good, bad))
	require.Len(t, good.runs, 1)
	require.Equal(t, "peer failed", peerTimes([]*program{bad}))
	require.Positive(t, good.median(wall))
	require.Greater(t, good.runs[0].RSS, int64(100_000))
}
