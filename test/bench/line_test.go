//go:build linux

package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		line                 line
		ratio, target, isMet string
	}{
		{line{Lua: "1 ms", Value: [2]float64{1.234, 0}, Limits: both(1.5)}, "1.23", "≤ 1.5", "yes"},
		{line{Lua: "1 ms", Value: [2]float64{1.6, 1.4}, Limits: both(1.5), Baseline: "gru"}, "1.6 / 1.4", "≤ 1.5 gru", "no / yes"},
		{line{Lua: "1 ms", Value: [2]float64{5, 9}, Limits: [2]float64{4, 8}}, "5 / 9", "≤ 4 / 8", "no"},
		{line{Lua: "1 ms", Value: [2]float64{1.5, 0}, Limits: both(1.5)}, "1.5", "≤ 1.5", "yes"},
		{line{Lua: "1 ms", Value: [2]float64{123.4, 0}, Limits: both(2048), Unit: "B"}, "123 B", "≤ 2048 B", "yes"},
		{line{Lua: "1 ms", Value: [2]float64{-3, 0}, Limits: both(1.5)}, "-3", "≤ 1.5", "too noisy"},
		{line{}, "", "", "not measured"},
	} {
		require.Equal(t, tt.ratio, tt.line.Ratio())
		require.Equal(t, tt.target, tt.line.Target())
		require.Equal(t, tt.isMet, tt.line.met())
	}
	lines := []line{{Work: "a", Lua: "2 ms", Value: both(3), Limits: both(2), Noisy: true}, {Work: "b", Note: "why"}}
	require.Equal(t, "| work | floor | ccm, Lua | ccm, YAML | ratio | target | met | peers |\n|---|---|---|---|---|---|---|---|\n"+
		"| a * | - | 2 ms | - | 3 / 3 | ≤ 2 | no | - |\n| b | - | - | - | - | - | not measured | - |\n", markdown(lines))
	require.Equal(t, []string{"a: 3 / 3, wanted ≤ 2"}, missed(lines))
	require.Equal(t, []string{"b: why.", "*: other work used the machine meanwhile."}, notes(lines))
}

func TestNumber(t *testing.T) {
	for want, f := range map[string]float64{"0": 0, "0.5": 0.5, "1.23": 1.234, "12.3": 12.34, "10": 10, "1234": 1234.4, "-3.1": -3.1, "100": 100} {
		require.Equal(t, want, number(f))
	}
	require.Equal(t, "1,234,567", thousands(1234567))
	require.Equal(t, 2.5, median([]float64{4, 1, 3, 2}))
	require.Equal(t, 2.0, median([]float64{9, 1, 2}))
}

func TestReadCounts(t *testing.T) {
	for out, want := range map[string]outcomeCounts{
		"Nothing to do: 1 resource is as wanted (1ms)\n":              {total: 1},
		"x\nNothing to do: 1000 resources are as wanted (1ms)\nWhere": {total: 1000},
		"1001 resources: 1000 stable, 1 changed (277ms)\n":            {total: 1001, changed: 1},
		"2 resources: 2 changed (277ms)\n":                            {total: 2, changed: 2},
		"1 resource: 1 pending (1ms), nothing was touched\n":          {total: 1, pending: 1},
		"3 resources: 1 stable, 2 changed (1 by refresh) (1ms)":       {total: 3, changed: 2},
	} {
		have, ok := readCounts(out)
		require.True(t, ok, out)
		require.Equal(t, want, have, out)
	}
	for _, out := range []string{"", "2 resources: 1 changed, 1 failed (1ms)\n", "2 resources: 1 skipped (1ms)\n"} {
		have, ok := readCounts(out)
		require.False(t, ok, "%q: %+v", out, have)
	}
}

func TestReadFigures(t *testing.T) {
	list := readFigures("x", "goos: linux\nBenchmarkWalk-2   \t 3\t  715861252 ns/op\t69804656 B/op\t 1550067 allocs/op\n"+
		"BenchmarkEvents/json/stable \t  10\t 1234.5 ns/op\t 12 ns/resource\t 10 B/op\t 2 allocs/op\nPASS\n")
	require.Equal(t, []figure{{"x", "Walk", 715861252, 69804656, 1550067}, {"x", "Events/json/stable", 1234.5, 10, 2}}, list)
	require.Equal(t, "716 ms", list[0].time())
	require.Equal(t, "1.23 µs", list[1].time())
	require.Equal(t, "66.6 MiB", bytesOf(list[0].Bytes))
}

// Every language says what a site has in it.
func TestSites(t *testing.T) {
	b := &bench{user: "ann", group: "staff"}
	empty, exec, big := b.site("exec"), b.site("exec"), b.site("file")
	exec.Items = []item{{Name: "e", Own: []property{{"command", "/bin/true"}, {"creates", "/g/1"}}}}
	big.Items = []item{{Name: "/to", Own: []property{{"source", "/from"}}}}
	names := slices.Clone(languages)
	for _, p := range allPeers(options{}) {
		names = append(names, p.name)
	}
	for _, name := range names {
		files := files{"/x", 2}.literal(b.site("file")).text(name)
		for _, part := range []string{"/x/f000001.conf", content(1), "ann", "staff"} {
			require.Contains(t, files, part, name)
		}
		require.Contains(t, exec.text(name), "/g/1", name)
		require.Contains(t, big.text(name), "/from", name)
		require.NotContains(t, empty.text(name), "/x", name)
	}
	exec.Items[0].Requires = []string{"exec#a", "exec#b"}
	require.Equal(t, "exec { \"e\", command = \"/bin/true\", creates = \"/g/1\", require = { \"exec#a\", \"exec#b\" } }\n", exec.text("lua"))
	require.Equal(t, "ccm:\n  resources:\n    - exec:\n        - \"e\":\n            command: \"/bin/true\"\n            creates: \"/g/1\"\n            require: [\"exec#a\", \"exec#b\"]\n", exec.text("yaml"))
}

func TestBesideOneProcessor(t *testing.T) {
	here := []line{{Work: "a", Value: [2]float64{1, 2}}, {Work: "b", Value: [2]float64{1, 1}}}
	one := []line{{Work: "a", Value: [2]float64{3, 4}}, {Work: "b"}, {Work: "c", Value: [2]float64{1, 1}}}
	require.Equal(t, "| a | 1 / 2 | 3 / 4 |\n", withSingleCore(here, one))
}
