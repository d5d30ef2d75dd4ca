package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stableTree makes n files and returns their directory.
func stableTree(t *testing.T, n int) string {
	dir := filepath.Join(t.TempDir(), "files")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for i := range n {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte(contentOf(i)), 0o644))
	}
	return dir
}

func contentOf(i int) string { return strings.Repeat(fmt.Sprintf("line of file %05d\n", i), 20) }

// sites return declarations of the first n files of a tree, by front end.
var sites = map[string]func(dir string, n int) string{
	"lua": func(dir string, n int) string {
		return fmt.Sprintf(`for i = 0, %d do
	file { "%s/f" .. i, content = string.format("line of file %%05d\n", i):rep(20), mode = "0644", owner = "%d", group = "%d" }
end
`, n-1, dir, os.Geteuid(), os.Getegid())
	},
	"yaml": func(dir string, n int) string {
		var text strings.Builder
		text.WriteString("ccm:\n  resources:\n    - file:\n")
		for i := range n {
			fmt.Fprintf(&text, "        - %s/f%d:\n            content: %q\n            mode: \"0644\"\n            owner: \"%d\"\n            group: \"%d\"\n",
				dir, i, contentOf(i), os.Geteuid(), os.Getegid())
		}
		return text.String()
	},
}

// siteFile writes a site in a front end and returns its path.
func siteFile(t *testing.T, frontEnd, text string) string {
	name := filepath.Join(t.TempDir(), "site."+frontEnd)
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

// A stable file costs four system calls: open, fstat, read and close. A run that changes nothing does not sync to
// disk.
func TestSyscallsOfStableFile(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	const few, many = 1000, 3000
	dir := stableTree(t, many)
	for frontEnd, site := range sites {
		t.Run(frontEnd, func(t *testing.T) {
			t.Parallel()
			calls := make(map[int]trace)
			for _, n := range []int{few, many} {
				state := t.TempDir()
				name := siteFile(t, frontEnd, site(dir, n))
				ran(t, "run", "--state-dir", state, name) // records the site
				calls[n] = traced(t, "run", "--state-dir", state, name)
				require.Empty(t, calls[n].on("", "fsync", "fdatasync", "sync", "syncfs", "sync_file_range"))
				require.Empty(t, calls[n].on("", "truncate", "ftruncate"), "which waits for the disk on ext4")
			}
			each := float64(len(calls[many])-len(calls[few])) / (many - few)
			t.Logf("%.2f system calls for each file", each)
			require.LessOrEqual(t, each, 5.0)
			require.GreaterOrEqual(t, each, 3.0, "they were looked at")
		})
	}
}

// Creating a file costs about 26 system calls: the place is tried for what would prevent it, and the file is
// checked, opened, written, checked, linked and closed, and checked again like a stable file. Several files are synced together.
func TestSyscallsOfCreation(t *testing.T) {
	long(t)
	const few, many = 200, 700
	calls := make(map[int]trace)
	for _, n := range []int{few, many} {
		dir := filepath.Join(t.TempDir(), "files")
		require.NoError(t, os.Mkdir(dir, 0o755))
		calls[n] = traced(t, "run", "--state-dir", t.TempDir(), siteFile(t, "lua", sites["lua"](dir, n)))
		placed := 0
		for _, c := range calls[n].on(dir, "linkat", "rename", "renameat", "renameat2") {
			placed += 1 + min(c.result, 0)
		}
		require.Equal(t, n, placed, "each gets its place in one step")
	}
	each := float64(len(calls[many])-len(calls[few])) / (many - few)
	t.Logf("%.2f system calls for each file", each)
	require.LessOrEqual(t, each, 28.0)
	syncs := len(calls[many].on("", "fsync", "fdatasync", "sync", "syncfs"))
	require.LessOrEqual(t, syncs, many/4, "they are made durable together")
}

// The prefetcher does not read a machine repeatedly: if every hundredth file has drifted, at most twice as many files
// are opened and bytes read as without drift, apart from the changes themselves.
func TestSyscallsOfDrift(t *testing.T) {
	long(t)
	const n, every = 1000, 100
	dir, state := stableTree(t, n), t.TempDir()
	name := siteFile(t, "lua", sites["lua"](dir, n))
	ran(t, "run", "--state-dir", state, name)
	stable := traced(t, "run", "--state-dir", state, name)
	for i := every / 2; i < n; i += every {
		drifted := strings.ToUpper(contentOf(i)) // of the same size, so that it must be read
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte(drifted), 0o644))
	}
	drift := traced(t, "run", "--state-dir", state, name)
	const changes = n / every
	require.Equal(t, changes, len(drift.on(dir, "rename", "renameat", "renameat2")), "one for each change")
	opened, read := float64(drift.opened(dir))/float64(stable.opened(dir)), float64(drift.read(dir))/float64(stable.read(dir))
	t.Logf("opened %d times instead of %d, read %d bytes instead of %d", drift.opened(dir), stable.opened(dir), drift.read(dir), stable.read(dir))
	// A change opens the file, its directory and the new file, and checks again.
	const ofChange = 20 * changes
	require.LessOrEqual(t, drift.opened(dir), 2*stable.opened(dir)+ofChange, "%.2f times", opened)
	require.LessOrEqual(t, drift.read(dir), 2*stable.read(dir)+ofChange*len(contentOf(0)), "%.2f times", read)
}

// A file that equals its source is read once, and so is the source. If the sizes differ neither is read for the
// comparison or the reason. A source is read for the reason only if something was done to it.
func TestSyscallsOfSource(t *testing.T) {
	long(t)
	const size = 4 << 20
	dir, state := t.TempDir(), t.TempDir()
	source, target := filepath.Join(dir, "source"), filepath.Join(dir, "target")
	for _, path := range []string{source, target} {
		require.NoError(t, os.WriteFile(path, nil, 0o644))
		require.NoError(t, os.Truncate(path, size))
	}
	name := siteFile(t, "lua", fmt.Sprintf("file(%q, { source = %q, owner = \"%d\", group = \"%d\", mode = \"0644\", backup = false })", target, source, os.Geteuid(), os.Getegid()))
	reads := func(want string, status int, args ...string) {
		t.Helper()
		calls := tracedProgram(t, status, "laterccm", append(args, "--state-dir", state)...)
		require.Equal(t, want, fmt.Sprintf("source %d, target %d", calls.read(source), calls.read(target)), "%q", args)
	}
	both, neither := fmt.Sprintf("source %d, target %d", size, size), "source 0, target 0"
	ran(t, "run", "--state-dir", state, name)
	reads(both, 0, "run", name)

	for _, other := range []int64{size - 1, 0} {
		require.NoError(t, os.Truncate(target, other))
		for _, args := range [][]string{{"plan", name}, {"plan", "--diff=off", name}, {"plan", "--output=json", name}} {
			reads(neither, 0, args...)
		}
	}
	// A run copies, and checks again; its record has the reason for the next run.
	reads(fmt.Sprintf("source %d, target %d", 2*size, size), 0, "run", name)
	reads(both, 0, "run", name)
	require.NoError(t, os.Truncate(target, 1))
	reads(neither, 0, "plan", name)
	reads(neither, 2, "drift")
	require.NoError(t, os.Chmod(source, 0o600))
	reads(fmt.Sprintf("source %d, target 0", size), 0, "plan", name)
	require.NoError(t, os.Truncate(source, size+1))
	reads(neither, 0, "plan", name)
	reads(neither, 2, "drift")
}

// A run gathers no facts that no script uses, starts no process, and truncates no file in the state directory, which
// would wait for the disk on ext4; not even the lock with its holder.
func TestSyscallsOfNothing(t *testing.T) {
	gathered := func(calls trace) (found []string) {
		for _, path := range []string{"/proc/meminfo", "/proc/cpuinfo", "/proc/mounts", "/proc/uptime", "/proc/net", "/sys/class", "/sys/block", "/etc/os-release", "/usr/lib/os-release", "/etc/resolv.conf", "/etc/hostname"} {
			if calls.opened(path) > 0 {
				found = append(found, path)
			}
		}
		return found
	}
	state := t.TempDir()
	for text, want := range map[string]int{"": 0, "-- nothing\n": 0, "local total = facts.memory.total": 1} {
		name := siteFile(t, "lua", text)
		ran(t, "run", "--state-dir", state, name) // records the site
		calls := traced(t, "run", "--state-dir", state, name)
		require.Len(t, gathered(calls), want, "%q: %v", text, gathered(calls))
		require.Len(t, calls.on("", "execve"), 1, "ccm itself")
		require.NotEmpty(t, calls.on("/lock>", "pwrite64"), "it was locked")
		require.Empty(t, calls.on("", "truncate", "ftruncate"), "%q", text)
		for _, c := range calls.on(state, "open", "openat", "openat2", "creat") {
			require.NotContains(t, c.args, "O_TRUNC", "%q", text)
		}
	}
	calls := traced(t, "version")
	require.Empty(t, gathered(calls))
	require.Len(t, calls.on("", "execve"), 1)
}
