//go:build linux

package main

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/luaccm/ccm/test/bench/measure"
	"github.com/stretchr/testify/require"
)

// TestBench measures everything with hardly any work, beside a peer that does nothing: every row
// is there, and every program did what it should, which bench itself checks.
func TestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs and runs them: make test-all")
	}
	t.Chdir("../..")
	dir := t.TempDir()
	ccm, page := filepath.Join(dir, "ccm"), filepath.Join(dir, "performance.md")
	if ready := os.Getenv("CCM"); ready != "" {
		ccm = ready
	} else {
		out, err := exec.Command("go", "build", "-o", ccm, "./cmd/ccm").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gructl"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

	var said bytes.Buffer
	require.NoError(t, run(&said, options{rounds: 1, shrink: 200, ccm: ccm, before: ccm, out: page, dir: dir, disk: dir, peers: true}), "%s", &said)

	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, g := range groups {
		for _, r := range g.rows {
			_, rest, found := strings.Cut(string(text), "| "+r.work+" | ")
			require.True(t, found, r.work)
			cells := strings.Split(strings.SplitN(rest, "\n", 2)[0], " | ")
			require.Len(t, cells, 8, r.work)
			if g.key == "services" || g.key == "packages" { // not on every machine
				continue
			}
			require.NotEqual(t, []string{"-", "-"}, cells[1:3], "%s: in Lua and in YAML", r.work)
			require.Contains(t, cells[5], "≤ ", r.work)
			require.NotContains(t, cells[6], "not measured", r.work)
			require.Contains(t, said.String(), r.work)
		}
	}
	for _, pair := range []string{"| `version@lua` | ", "| `stable-1000@yaml` | ", "| `drift@lua` | "} {
		require.Contains(t, said.String(), pair)
	}
	for _, part := range []string{"| gru ", "gru f000000.conf is not as it should be", "These are small sizes"} {
		require.True(t, strings.Contains(string(text), part), part)
	}
	left, err := filepath.Glob(filepath.Join(dir, "ccm-bench-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// What does not do its work is not measured.
func TestBenchChecks(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "floor"), "./floor").CombinedOutput()
	require.NoError(t, err, "%s", out)
	quiet, fine := func() error { return nil }, func(string) error { return nil }
	b := &bench{options: options{rounds: 1, shrink: 1}, places: map[bool]string{false: dir, true: dir}, commands: make(map[string]*command)}

	_, err = b.once(&command{name: "x", argv: []string{"false"}, prepare: quiet, check: fine})
	require.ErrorContains(t, err, "x: exit status 1")
	commands, err := b.load(load{name: "gone", n: 2, items: execs, floor: floorIs("stat LIST")})
	require.NoError(t, err)
	_, err = b.once(commands[0])
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "load-gone", "g000001")))
	_, err = b.once(commands[0])
	require.ErrorContains(t, err, `gone@floor: expected "0\n" in the output: 1`)

	good := &command{name: "good", argv: []string{"true"}, prepare: quiet, check: fine}
	bad := &command{name: "bad", argv: []string{"false"}, prepare: quiet, check: fine, peer: true}
	require.NoError(t, b.run([]*command{good, bad}))
	require.Len(t, good.runs, 1)
	require.ErrorContains(t, bad.err, "exit status 1")
	require.Greater(t, good.runs[0].RSS, int64(100_000))
	bad.peer, bad.err = false, nil
	require.Error(t, b.run([]*command{bad}))

	items, err := files(filepath.Join(dir, "load-gone"), 1)
	require.NoError(t, err)
	require.NoError(t, fill(items, 1, ""))
	require.NoError(t, checkFiles(items, false))
	require.ErrorContains(t, checkFiles(items, true), "2 files instead of 1")
	require.NoError(t, fill(items, 1, "drifted"))
	require.ErrorContains(t, checkFiles(items, false), "is not as it should be")
}

// A row is computed round by round.
func TestLine(t *testing.T) {
	b := &bench{options: options{rounds: 3}, commands: make(map[string]*command)}
	for name, walls := range map[string][3]int64{"a@floor": {1, 2, 9}, "a@lua": {2, 6, 9}, "a@yaml": {5, 10, 45}, "b@floor": {2, 4, 10}, "b@lua": {3, 8, 12}} {
		c := &command{items: map[byte]float64{'a': 10, 'b': 30}[name[0]]}
		for _, ms := range walls {
			u := measure.Usage{Output: "Where\n  order  7.5 ms\n"}
			u.Wall = ms * 1e6
			c.runs = append(c.runs, u)
		}
		b.commands[name] = c
	}
	for _, tt := range []struct {
		row  row
		want line
	}{
		{row{cost: "a", limits: both(2), note: "{b@floor -a@floor}"}, line{"", "2 ms", "6 ms", "10 ms", "2 / 5", "50 %", "≤ 2", "yes / no", "-", "1 ms"}},
		{row{cost: "b -a", each: true, unit: "µs", limits: both(2)}, line{"", "50 µs", "100 µs", "-", "1", "100 %", "≤ 2", "yes", "-", ""}},
		{row{cost: "a", base: "none@gru", than: "gru", limits: [2]float64{4, 8}}, line{"", "2 ms", "6 ms", "10 ms", "-", "-", "≤ 4 / 8 gru", "not measured", "-", ""}},
		{row{cost: "b", metric: "order", less: "0.5", base: "1", limits: both(5)}, line{"", "7 ms", "7 ms", "-", "7 ms", "0 %", "≤ 5 ms", "no", "-", ""}},
	} {
		require.Equal(t, tt.want, b.line(tt.row))
	}
}

func TestNumber(t *testing.T) {
	for want, f := range map[string]float64{"0": 0, "0.5": 0.5, "1.23": 1.234, "12.3": 12.34, "10": 10, "1234": 1234.4, "-3.1": -3.1, "100": 100} {
		require.Equal(t, want, number(f))
	}
	require.Equal(t, 2.5, median([]float64{1, 2, 3, 4}))
	require.True(t, math.IsNaN(median([]float64{math.NaN(), 2})))
	require.Equal(t, 50.0, spread([]float64{0, 1, 1, 2, 3, 3, 9}))
}

// Every language says what a site has in it.
func TestSites(t *testing.T) {
	exec := site{Type: "exec", Items: []item{{Name: "e", Own: map[string]string{"command": "/bin/true", "creates": "/g/1"}}}}
	big := site{Type: "file", Items: []item{{Name: "/to", Own: map[string]string{"source": "/from"}}}}
	all := site{Type: "file", User: "ann", Group: "staff", Dir: "/x"}
	all.Items, _ = files("/x", 2)
	names := []string{"lua", "yaml"}
	for _, p := range peers {
		names = append(names, p.Name)
	}
	for _, name := range names {
		for _, part := range []string{"/x/f000001.conf", "00000001" + pad, "ann", "staff"} {
			require.Contains(t, all.text(name), part, name)
		}
		require.Contains(t, exec.text(name), "/g/1", name)
		require.Contains(t, big.text(name), "/from", name)
		require.NotContains(t, site{Type: "exec"}.text(name), "/x", name)
	}
	exec.Items[0].Requires = []string{"exec#a", "exec#b"}
	require.Equal(t, "exec { \"e\", command = \"/bin/true\", creates = \"/g/1\", require = { \"exec#a\", \"exec#b\" } }\n", exec.text("lua"))
	require.Equal(t, "ccm:\n  resources:\n    - exec:\n        - \"e\":\n            command: \"/bin/true\"\n            creates: \"/g/1\"\n            require: [\"exec#a\", \"exec#b\"]\n", exec.text("yaml"))
	require.Equal(t, "ccm:\n  resources: []\n", site{Type: "exec"}.text("yaml"))
}
