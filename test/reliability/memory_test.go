//go:build integration

package reliability

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/test/tally"
)

// A group is a control group that limits memory (cgroups(7)).
type group struct {
	dir, limit, peak, kills string
}

// memoryGroup makes a control group of version 2 or, if that does not manage memory, of version 1.
func memoryGroup(t *testing.T) group {
	t.Helper()
	needs(t)
	name := fmt.Sprint("ccm-test-", os.Getpid(), "-", strings.ReplaceAll(t.Name(), "/", "-"))
	for _, g := range []group{
		{"/sys/fs/cgroup", "memory.max", "memory.peak", "memory.events"},
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"},
	} {
		_ = os.WriteFile(filepath.Join(g.dir, "cgroup.subtree_control"), []byte("+memory"), 0o644) // in version 2
		g.dir = filepath.Join(g.dir, name)
		if os.Mkdir(g.dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { require.NoError(t, os.Remove(g.dir)) })
		if _, err := os.Stat(filepath.Join(g.dir, g.limit)); err == nil {
			return g
		}
	}
	t.Skip("there is no control group in which memory can be limited")
	return group{}
}

// run runs ccm in the group with a memory limit. peak is its peak memory, including caches of the kernel that were
// not freed. killed reports whether it was killed for want of memory, or by this test, because with too little memory
// it may only become very slow.
func (g group) run(t *testing.T, limit int64, argv ...string) (out output, peak int64, killed bool) {
	t.Helper()
	set := func(file, text string) { _ = os.WriteFile(filepath.Join(g.dir, file), []byte(text), 0o644) }
	require.NoError(t, os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.FormatInt(limit, 10)), 0o644))
	set("memory.swap.max", "0")
	set(g.peak, "0")
	before := g.count(t)
	out, ended := tryFor(t, append([]string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, g.dir}, argv...)...)
	text, err := os.ReadFile(filepath.Join(g.dir, g.peak))
	if err == nil {
		peak, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	return out, peak, g.count(t) > before || !ended
}

// count returns how often a process of the group was killed for want of memory.
func (g group) count(t *testing.T) (n int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, g.kills))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if s, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, err = strconv.Atoi(strings.TrimSpace(s))
			require.NoError(t, err)
		}
	}
	return n
}

// many writes a site with 10,000 files and one copy of 256 MiB.
func many(t *testing.T, dir string) (site string) {
	t.Helper()
	site = filepath.Join(dir, "site.lua")
	require.NoError(t, os.WriteFile(site, []byte(`
local dir, version = arg[1], arg[2]
file.defaults { owner = "root", group = "root", mode = "0644" }
for i = 1, 10000 do
  file { dir .. "/" .. i, content = version .. " of " .. i .. "\n" }
end
file { dir .. "/large", source = dir .. "/source" }
`), 0o644))
	f, err := os.Create(filepath.Join(dir, "source"))
	require.NoError(t, err)
	_, err = io.CopyN(f, endless{}, 256<<20)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return site
}

// endless is an endless text.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "0123456789abcdef\n"[i%17]
	}
	return len(p), nil
}

// A large site needs little memory; with too little the run is killed, and the next one with enough completes the
// work.
func TestMemoryLimit(t *testing.T) {
	g := memoryGroup(t)
	tries := tally.Of(t, "a control group lets a run of 10,000 files and a source of 256 MiB have 96 MiB of memory, and then too little",
		"it is not killed with 96 MiB; after one that is killed the next run converges")
	dir := t.TempDir()
	state, site := filepath.Join(dir, "state"), many(t, dir)
	for i, version := range []string{"A", "A", "B"} { // all files are made, nothing is done, all are overwritten
		out, peak, killed := g.run(t, 96<<20, runs(state, site, dir, version)...)
		tries.Add(1)
		t.Logf("run %d took %d MiB", i, peak>>20)
		require.False(t, killed, "run %d was killed\n%.2000s", i, out.stderr)
		require.Zero(t, out.status, "%.2000s", out.stderr)
		v := verdictOf(t, out)
		require.Equal(t, []int{10001, 0, 10000}[i], v.summary.Changed)
	}
	for limit := int64(64 << 20); limit >= 8<<20; limit -= 8 << 20 {
		version := string("AB"[limit>>23%2])
		out, peak, killed := g.run(t, limit, runs(state, site, dir, version)...)
		tries.Add(1)
		t.Logf("with %d MiB: status %d, killed %v, it took %d MiB", limit>>20, out.status, killed, peak>>20)
		if killed {
			require.NotZero(t, out.status)
			next := run(t, state, site, dir, version)
			require.Zero(t, next.status, "%.2000s", next.stderr)
			require.NotContains(t, next.stderr, "set aside")
		}
		for i := 1; i <= 10000; i++ {
			have, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%s of %d\n", version, i), string(have))
		}
		require.Empty(t, must(filepath.Glob(filepath.Join(dir, ".*"))))
		if killed {
			return
		}
	}
	t.Log("no limit was too little")
}
