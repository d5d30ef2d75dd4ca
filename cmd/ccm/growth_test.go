package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// A successRunner runs no command and reports success.
type successRunner struct{}

func (successRunner) Run(context.Context, host.Cmd) (host.Result, error) { return host.Result{}, nil }

// growing are sites by the resources that they have many of. %d is their number.
var growing = map[string]string{
	"files to make":                                        `for i = 1, %d do file { "/f" .. i, content = "x", owner = "0", group = "0", mode = "0644" } end`,
	"directories to make":                                  `for i = 1, %d do file { "/d" .. i, ensure = "directory", owner = "0", group = "0", mode = "0755" } end`,
	"commands to run":                                      `for i = 1, %d do exec { "e" .. i, command = "true" } end`,
	"commands not to run":                                  `for i = 1, %d do exec { "e" .. i, command = "true", unless = "true" } end`,
	"commands with creates":                                `for i = 1, %d do exec { "e" .. i, command = "true", creates = "/" } end`,
	"commands before files":                                `for i = 1, %d do exec { "e" .. i, command = "true" }; file { "/f" .. i, content = "x", owner = "0", group = "0", mode = "0644" } end`,
	"commands that name files":                             `for i = 1, %d do exec { "e" .. i, command = "sh -c 'touch /f" .. i .. "/conf'" }; file { "/f" .. i .. "/conf", content = "x", owner = "0", group = "0", mode = "0644", parents = true } end`,
	"commands in a directory that does not exist":          `for i = 1, %d do exec { "e" .. i, command = "sh -c 'touch /n/" .. i .. "/done'", creates = "/n/" .. i .. "/done" } end`,
	"a chain of refreshes":                                 `local last; for i = 1, %d do last = exec { "e" .. i, command = "true", refreshonly = true, subscribe = last } end`,
	"a chain of guarded commands":                          `local last; for i = 1, %d do last = exec { "e" .. i, command = "true", onlyif = "true", require = last } end`,
	"lazy values":                                          `for i = 1, %d do file { "/f" .. i, content = ccm.lazy(function() return "x" end), require = exec { "e" .. i, command = "true" }, owner = "0", group = "0", mode = "0644" } end`,
	"users to make":                                        `local user = require "std.user"; for i = 1, %d do user { "u" .. i } end`,
	"users one after the other":                            `local user, last = require "std.user"; for i = 1, %d do last = user { "u" .. i, require = last } end`,
	"users with a file in a directory that does not exist": `local user = require "std.user"; for i = 1, %d do user { "u" .. i }; file { "/home/u" .. i, content = "x", owner = "u" .. i, group = "u" .. i, mode = "0644" } end`,
	"kernel settings with a file each":                     `local sysctl = require "std.sysctl"; file { "/etc/sysctl.d", ensure = "directory", parents = true, owner = "0", group = "0", mode = "0755" }; for i = 1, %d do sysctl { "net.x.k" .. i, value = "1", path = "/etc/sysctl.d/" .. i .. ".conf" } end`,
	"resources of a Lua type":                              `local link = require "std.link"; for i = 1, %d do link { "/l" .. i, target = "/x" } end`,
	"resources in nested calls":                            `local function one(i) exec { "e" .. i, command = "true", unless = "true" } end; for i = 1, %d do one(i) end`,
}

// planned plans a site below an empty root and returns its allocations and their size.
func planned(t *testing.T, text string) (allocations, size uint64) {
	name := siteFile(t, "lua", text)
	e := newEnv(strings.NewReader(""), io.Discard, new(bytes.Buffer), hosttest.Clock{})
	root := t.TempDir()
	e.NewHost = func(host.Options) *host.Host {
		return host.New(host.Options{Root: root, Clock: hosttest.Clock{}, Runner: successRunner{}})
	}
	f := &runFlags{noop: true}
	f.add(&cobra.Command{}, report.DiffOff)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run, err := e.ReadRun(t.Context(), name, nil, &site.RunOptions{
		Site: f.SiteFlags.SiteOptions(), Record: f.RecordFlags.RecordOptions(&site.Options{Root: root}), Plan: true, Reporters: newReport(e, f).all(),
	})
	require.NoError(t, err)
	defer run.End()
	require.NoError(t, run.Begin(t.Context()))
	run.Converge(t.Context())
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

// growthEnv is the variable with the largest number of resources for the tests of growth, which "make growth" sets to
// 100000. Without it they use some hundreds.
const growthEnv = "CCM_TEST_GROWTH"

// growthSizes returns the sizes that a test of growth compares: the arguments, or 1,000 and growthEnv.
func growthSizes(t *testing.T, few, many int) (int, int) {
	t.Helper()
	text := os.Getenv(growthEnv)
	if text == "" {
		return few, many
	}
	many, err := strconv.Atoi(text)
	require.NoError(t, err, growthEnv)
	return 1000, many
}

// grows fails if many resources need more than few in proportion. It subtracts the allocations of the fewest, a
// constant part that would hide growth at small sizes; in bytes that part is mostly reusable buffers.
func grows(t *testing.T, sizes [3]int, fewest, few, many work) {
	t.Helper()
	each := func(n int, w work) (allocations, bytes float64) {
		return (w.allocations - fewest.allocations) / float64(n-sizes[0]), w.bytes / float64(n)
	}
	allocations, bytes := each(sizes[1], few)
	manyAllocations, manyBytes := each(sizes[2], many)
	t.Logf("%.1f allocations and %.0f bytes for each of %d, %.1f and %.0f for each of %d",
		allocations, bytes, sizes[1], manyAllocations, manyBytes, sizes[2])
	require.LessOrEqual(t, manyAllocations, 1.2*allocations) // how many are tried ahead depends on the processors
	require.LessOrEqual(t, manyBytes, 1.4*bytes)             // the capacity of tables doubles
}

// The cost of a plan grows linearly with the number of resources, whatever their type and whatever is pending before
// them.
func TestPlansGrowLinearly(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	few, many := growthSizes(t, 250, 1000)
	for what, site := range growing {
		t.Run(what, func(t *testing.T) {
			of := func(n int) work {
				allocations, size := planned(t, fmt.Sprintf(site, n))
				return work{float64(allocations), float64(size)}
			}
			of(10) // one-time initialization
			grows(t, [3]int{10, few, many}, of(10), of(few), of(many))
		})
	}
}

// peak returns the peak memory of a plan of a site in KiB.
func peak(t *testing.T, site string) int64 { return peakOfCommand(t, "plan", site) }

// peakOfCommand returns the peak memory of a plan or a run of a site in KiB.
func peakOfCommand(t *testing.T, command, site string) int64 {
	cmd := exec.Command("ccm", command, "--state-dir", t.TempDir(), "--root", t.TempDir(), siteFile(t, "lua", site))
	most := measured(t, cmd)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return most()
}

// measured makes peakOf run a command. The returned function returns the peak memory of the command in KiB. The
// kernel lets a child inherit the peak of the process that started it, so a small process starts the command.
func measured(t *testing.T, cmd *exec.Cmd) (most func() int64) {
	program, err := exec.LookPath("peak-of")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "peak")
	cmd.Path, cmd.Args = program, append([]string{"peak-of", file, cmd.Path}, cmd.Args[1:]...)
	return func() int64 {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		most, err := strconv.ParseInt(string(text), 10, 64)
		require.NoError(t, err)
		return most
	}
}

// peakOf is a program that runs another one and writes its peak memory in KiB to a file.
func peakOf() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	peak := strconv.FormatInt(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss, 10)
	if err := os.WriteFile(os.Args[1], []byte(peak), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

// /etc/passwd and /etc/group are parsed once, and not for each user.
func TestUsersGrowLinearly(t *testing.T) {
	of := func(n int) uint64 {
		allocations, _ := planned(t, fmt.Sprintf(`local n, users, groups, user = %d, {}, {}, require "std.user"
			for i = 1, n do users[i], groups[i] = ("u%%d:x:%%d:%%d::/:/bin/sh"):format(i, i, i), ("u%%d:x:%%d:u%%d"):format(i, i, i) end
			local function kept(name, list) file { "/etc/" .. name, content = str.join(list, "\n") .. "\n", owner = "0", group = "0", mode = "0644" } end
			file { "/etc", ensure = "directory", owner = "0", group = "0", mode = "0755" }
			kept("passwd", users); kept("group", groups)
			for i = 1, n do user { "u" .. i, shell = "/bin/sh", group = "u" .. i, groups = { "u" .. i } } end`, n))
		return allocations
	}
	of(10)
	few, many := of(100), of(400)
	t.Logf("%d allocations for each of 100, %d for each of 400", few/100, many/400)
	require.LessOrEqual(t, float64(many), 4*1.2*float64(few))
}

// Edits of one file need allocations in proportion to their number, whether the file is as wanted or each edit
// changes it. They need more bytes, because each edit reads the file and makes a new text. Lines, blocks and settings that
// are added make no table of all lines, and settings of JSON, YAML and TOML parse no whole text.
func TestEditsGrowLinearly(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	for what, edit := range map[string]struct{ lastApplied, declared string }{
		"line":                       {`"key" .. i .. " = v\n"`, `line { "l" .. i, path = "/f", line = "key" .. i .. " = v" }`},
		"line with match":            {`"key" .. i .. " = v\n"`, `line { "l" .. i, path = "/f", line = "key" .. i .. " = v", match = "^#? *key" .. i .. " *=" }`},
		"line before another":        {`"key" .. i .. " = v\n"`, `line { "l" .. i, path = "/f", line = "key" .. i .. " = v", insert_before = "^# " .. n .. "$" }`},
		"line that is absent":        {`"key" .. i .. "\n"`, `line { "l" .. i, path = "/f", match = "^# " .. i .. "$", ensure = "absent" }`},
		"kv":                         {`"key" .. i .. " = v\n"`, `kv { "key" .. i, path = "/f", value = "v", separator = " = " }`},
		"ini":                        {`"[s" .. i .. "]\nkey = v\n\n"`, `ini { "i" .. i, path = "/f", section = "s" .. i, key = "key", value = "v" }`},
		"ini of one section":         {`(i == 1 and "[s]\n" or "") .. "key" .. i .. " = v\n"`, `ini { "key" .. i, path = "/f", section = "s", value = "v" }`},
		"host":                       {`"192.0.2.1 key" .. i .. "\n"`, `host { "key" .. i, path = "/f", ip = "192.0.2.1" }`},
		"sysctl":                     {`"net.key" .. i .. " = v\n"`, `sysctl { "net.key" .. i, path = "/f", value = "v" }`},
		"json_setting":               {`(i == 1 and "{" or ",") .. '"key' .. i .. '": 1' .. (i == n and "}" or "")`, `json_setting { "key" .. i, path = "/f", value = 1 }`},
		"yaml_setting":               {`"key" .. i .. ": 1\n"`, `yaml_setting { "key" .. i, path = "/f", value = 1 }`},
		"toml_setting":               {`"key" .. i .. " = 1\n"`, `toml_setting { "key" .. i, path = "/f", value = 1 }`},
		"json_setting of one object": {`(i == 1 and '{"one": {' or ",") .. '"key' .. i .. '": 1' .. (i == n and "}}" or "")`, `json_setting { "one.key" .. i, path = "/f", value = 1 }`},
		"yaml_setting of one map":    {`(i == 1 and "one:\n" or "") .. "  key" .. i .. ": 1\n"`, `yaml_setting { "one.key" .. i, path = "/f", value = 1 }`},
		"toml_setting of one table":  {`(i == 1 and "[one]\n" or "") .. "key" .. i .. " = 1\n"`, `toml_setting { "one.key" .. i, path = "/f", value = 1 }`},
		"toml_setting of tables":     {`"[t" .. i .. "]\nkey = 1\n"`, `toml_setting { "t" .. i .. ".key", path = "/f", value = 1 }`},
		"block":                      {`"# BEGIN ccm b" .. i .. "\nline\n# END ccm b" .. i .. "\n"`, `block { "b" .. i, path = "/f", content = "line\n" }`},
	} {
		for name, kept := range map[string]string{"stable": edit.lastApplied, "pending": `"# " .. i .. "\n"`} {
			kind, _, _ := strings.Cut(what, " ")
			if strings.HasSuffix(kind, "_setting") && name == "pending" {
				kept = `""` // JSON has no lines of comments only
			}
			t.Run(what+" "+name, func(t *testing.T) {
				of := func(n int) (uint64, uint64) {
					return planned(t, fmt.Sprintf(`local %s, n, list = require "std.%[1]s", %[2]d, {}
						for i = 1, n do list[i] = %[3]s end
						file { "/f", content = str.join(list, ""), content_once = true, owner = "0", group = "0", mode = "0644" }
						for i = 1, n do %[4]s end`, kind, n, kept, edit.declared))
				}
				of(10)
				few, fewBytes := of(100)
				many, manyBytes := of(400)
				t.Logf("%d allocations for each of 100, %d for each of 400; %d and %d bytes", few/100, many/400, fewBytes/100, manyBytes/400)
				require.LessOrEqual(t, float64(many), 4*1.2*float64(few))
				require.Less(t, manyBytes/400, fewBytes/100+16<<10)
			})
		}
	}
}

// A run that adds kernel settings to one file does not read all settings again for each.
func TestSettingsInOneFileGrowLinearly(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	isolate(t)
	of := func(n int) uint64 {
		root := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(root, "etc/sysctl.d"), 0o755))
		name := siteFile(t, "lua", fmt.Sprintf(`for i = 1, %d do require "std.sysctl" { "net.key" .. i, value = 1 } end`, n))
		var out bytes.Buffer
		e := newEnv(strings.NewReader(""), io.Discard, &out, hosttest.Clock{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code := run(t.Context(), e, []string{"run", "--root", root, "--state-dir", t.TempDir(), name})
		runtime.ReadMemStats(&after)
		require.Zero(t, code, "%s", &out)
		return after.Mallocs - before.Mallocs
	}
	of(10)
	few, many := of(50), of(200)
	t.Logf("%d allocations for each of 50, %d for each of 200", few/50, many/200)
	require.LessOrEqual(t, float64(many), 4*1.2*float64(few))
}

// 10,000 resources need at most 64 MiB more than none; 45 MiB are usual, and 20 MiB in a normal binary. When the garbage
// collector runs depends on how busy the machine is. The edits of one file, each with a text of the whole file, are
// 2,000 unless CCM_TEST_HEAP is set.
func TestPeakOfMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	none := peak(t, "")
	edits := 2000
	if os.Getenv("CCM_TEST_HEAP") != "" {
		edits = 10_000
	}
	var escapes strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&escapes, "file { \"/f%d\", content = %q, owner = \"0\", group = \"0\", mode = \"0644\" }\n", i, strings.Repeat("a \"line\"\n", 100))
	}
	for what, site := range map[string]string{
		"files to make":         growing["files to make"],
		"commands with creates": growing["commands with creates"],
		"lazy values":           strings.ReplaceAll(growing["lazy values"], "%d", "%d / 2"), // two of each
		"strings with escapes":  escapes.String() + "--%d",
		"garbage":               `local t; for i = 1, 40 * %d do t = { name = "n" .. i, "x" .. i } end`,
		"lines that are added": strings.ReplaceAll(`file { "/e", content = "x\n", owner = "0", group = "0", mode = "0644", content_once = true }
			for i = 1, EDITS do require "std.line" { "l" .. i, path = "/e", line = "key" .. i .. " = v" } end --%d`, "EDITS", strconv.Itoa(edits)),
		"lines that are replaced": strings.ReplaceAll(`local list = {} for i = 1, EDITS do list[i] = "key" .. i .. " = old\n" end
			file { "/e", content = str.join(list, ""), owner = "0", group = "0", mode = "0644", content_once = true }
			for i = 1, EDITS do require "std.kv" { "key" .. i, path = "/e", value = "v", separator = " = " } end --%d`, "EDITS", strconv.Itoa(edits)),
	} {
		t.Run(what, func(t *testing.T) {
			most := peak(t, fmt.Sprintf(site, 10_000))
			t.Logf("%d KiB, of nothing %d KiB", most, none)
			require.LessOrEqual(t, most-none, int64(64<<10))
		})
	}
}

// A run holds the events of all edits of a file until it writes the file. It does not hold the whole text for each.
func TestPeakOfEdits(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	none := peak(t, "")
	most := peakOfCommand(t, "run", `for i = 1, 2000 do
		require "std.block" { "number " .. i, path = "/e", content = "a line of this block\nand another one\n", create = true } end`)
	t.Logf("%d KiB, of nothing %d KiB", most, none)
	require.LessOrEqual(t, most-none, int64(64<<10))
}

// One assignment is too quick for the measurement of memory, so the size of a table that it may grow is limited, at
// any index.
func TestPeakOfAssignment(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	none := peak(t, "")
	for _, site := range []string{"local t = {} t[60000000] = 1", "local t = {} t[4194302] = 1"} {
		most := peak(t, site)
		t.Logf("%s: %d KiB, of nothing %d KiB", site, most, none)
		require.Less(t, most-none, int64(512<<10), site)
	}
}
