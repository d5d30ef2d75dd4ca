package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// A longRun is a directory with a script of many files, which several runs have made, replaced, and given another
// mode.
type longRun struct {
	dir  string
	n    int
	runs []string // names of the runs
}

// manyFilesScript is the script of a longRun. Its arguments are the text, the mode, and whether to declare nothing.
const manyFilesScript = `if arg[3] then return end
for i = 1, %d do file { "/f" .. i, content = arg[1] .. i .. "\n", owner = %q, group = %q, mode = arg[2] } end`

// manyCopies copies a directory of many files.
const manyCopies = `require "std.directory" { "/d", source = "tree", owner = %q, group = %q }`

func (x *longRun) path(name string) string { return filepath.Join(x.dir, name) }

func (x *longRun) root() string { return x.path("root") }

func (x *longRun) state() string { return x.path("state") }

// write writes the scripts, a manifest of the same files, and the tree to copy.
func (x *longRun) write(t *testing.T) {
	t.Helper()
	owner, group := hosttest.Me()
	require.NoError(t, os.MkdirAll(x.root(), 0o755))
	require.NoError(t, os.MkdirAll(x.path("tree"), 0o755))
	var yaml strings.Builder
	yaml.WriteString("ccm:\n  resources:\n")
	for i := range x.n {
		fmt.Fprintf(&yaml, "    - file:\n        - /f%d:\n            content: text %d\n            owner: %q\n            group: %q\n            mode: '0644'\n", i, i, owner, group)
	}
	for name, text := range map[string]string{
		"site.lua": fmt.Sprintf(manyFilesScript, x.n, owner, group), "copies.lua": fmt.Sprintf(manyCopies, owner, group), "site.yaml": yaml.String(),
	} {
		require.NoError(t, os.WriteFile(x.path(name), []byte(text), 0o644))
	}
	x.fillTree(t, "one")
}

// fillTree writes the files of the tree to copy.
func (x *longRun) fillTree(t *testing.T, text string) {
	t.Helper()
	for i := range x.n {
		require.NoError(t, os.WriteFile(filepath.Join(x.path("tree"), "f"+strconv.Itoa(i)), []byte(text+strconv.Itoa(i)), 0o644))
	}
}

// A growingCommand is one command of a longRun.
type growingCommand struct {
	name   string
	args   []string // RUN1 to RUN4 stand for names of runs
	before func()
	long   bool // as slow as another one, so it is left out with 10,000 resources
}

// commands returns the commands of a longRun, in order.
func (x *longRun) commands(t *testing.T) []growingCommand {
	place := []string{"--root", x.root(), "--state-dir", x.state()}
	with := func(args ...string) []string { return append(append([]string{args[0]}, place...), args[1:]...) }
	past := func(args ...string) []string { return append(args, "--state-dir", x.state()) }
	site := x.path("site.lua")
	list := []growingCommand{
		{name: "run", args: with("run", site, "a", "0644")},
		{name: "run that replaces", args: with("run", site, "b", "0644")},
		{name: "run that changes modes", args: with("run", site, "b", "0600"), long: true},
		{name: "run that replaces again", args: with("run", site, "c", "0600"), long: true},
		{name: "drift", args: past("drift")},
		{name: "history show", args: past("history", "last")},
		{name: "history show as JSON", args: past("history", "last", "--output", "json")},
		{name: "diff of an earlier run", args: past("diff", "RUN2"), long: true},
		{name: "plan of a restore", args: past("undo", "--noop", "RUN2"), long: true},
		{name: "restore of modes", args: past("undo", "RUN3"), long: true},
		{name: "undo", args: past("undo")},
		{name: "prune", args: with("prune", "--yes", site, "", "", "none")},
		{name: "plan of a manifest", args: with("plan", x.path("site.yaml"))},
		{name: "run of a manifest", args: with("run", x.path("site.yaml")), long: true},
		{name: "copy of a tree", args: with("run", "--eval-timeout", "1h", x.path("copies.lua"))},
		{name: "copy that replaces", args: with("run", "--eval-timeout", "1h", x.path("copies.lua")), before: func() { x.fillTree(t, "two") }},
	}
	names := []string{"import", "file", "--root", x.root()}
	for i := range x.n {
		names = append(names, "/d/f"+strconv.Itoa(i))
	}
	return append(list, growingCommand{name: "import", args: names})
}

// named replaces RUN1 to RUN4 in arguments.
func (x *longRun) named(t *testing.T, args []string) []string {
	t.Helper()
	if len(x.runs) < 4 && strings.Contains(strings.Join(args[:min(3, len(args))], " "), "RUN") {
		files, err := os.ReadDir(filepath.Join(x.state(), "runs"))
		require.NoError(t, err)
		for _, f := range files {
			x.runs = append(x.runs, strings.TrimSuffix(f.Name(), ".ndjson"))
		}
		require.Len(t, x.runs, 4)
	}
	out := make([]string, len(args))
	for i, a := range args {
		if n, ok := strings.CutPrefix(a, "RUN"); ok {
			at, err := strconv.Atoi(n)
			require.NoError(t, err)
			a = x.runs[at-1]
		}
		out[i] = a
	}
	return out
}

// work is the cost of a command.
type work struct{ allocations, bytes float64 }

// measured runs all commands of a longRun in this process.
func (x *longRun) measured(t *testing.T) map[string]work {
	t.Helper()
	x.write(t)
	took := make(map[string]work)
	for _, c := range x.commands(t) {
		if c.before != nil {
			c.before()
		}
		args := x.named(t, c.args)
		var out bytes.Buffer
		e := newEnv(strings.NewReader(""), io.Discard, &out, hosttest.Clock{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code := run(t.Context(), e, args)
		runtime.ReadMemStats(&after)
		require.Zero(t, code, "%s: %s", c.name, &out)
		took[c.name] = work{float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)}
	}
	return took
}

// The cost of a command grows linearly with the number of resources, also for the history of several runs.
func TestCommandsGrowLinearly(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	isolate(t)
	few, many := growthSizes(t, 100, 400)
	of := func(n int) map[string]work { return (&longRun{dir: t.TempDir(), n: n}).measured(t) }
	of(10) // one-time initialization
	base, small, large := of(10), of(few), of(many)
	for what := range base {
		t.Run(what, func(t *testing.T) {
			grows(t, [3]int{10, few, many}, base[what], small[what], large[what])
		})
	}
}

// collection matches the line of a garbage collection (GODEBUG in package runtime): the heap at its start and end,
// and the bytes in use.
var collection = regexp.MustCompile(`(?m)^gc \d+ @.* (\d+)->(\d+)->(\d+) MB, .*\n`)

// writtenOut writes a script and a manifest of n files with 1 KiB each, and returns commands on them.
func (x *longRun) writtenOut(t *testing.T) (list []growingCommand) {
	t.Helper()
	var lua, escapes, yaml strings.Builder
	yaml.WriteString("ccm:\n  resources:\n")
	for i := range x.n {
		content := strings.Repeat(fmt.Sprintf("line %d of a text ", i), 64)[:1024]
		fmt.Fprintf(&lua, "file { \"/f%d\", content = %q, owner = \"0\", group = \"0\", mode = \"0644\" }\n", i, content)
		lines := strings.Repeat(fmt.Sprintf("line \"%d\" of a text\n", i), 64)[:1024]
		fmt.Fprintf(&escapes, "file { \"/f%d\", content = %q, owner = \"0\", group = \"0\", mode = \"0644\" }\n", i, lines)
		fmt.Fprintf(&yaml, "    - file:\n        - /f%d:\n            content: %q\n            owner: \"0\"\n            group: \"0\"\n            mode: \"0644\"\n", i, content)
	}
	files := map[string]string{"big.lua": lua.String(), "escapes.lua": escapes.String(), "big.yaml": yaml.String()}
	for _, name := range []string{"big.lua", "escapes.lua", "big.yaml"} {
		require.NoError(t, os.WriteFile(x.path(name), []byte(files[name]), 0o644))
		for _, command := range []string{"plan", "graph", "catalog"} {
			list = append(list, growingCommand{name: command + " " + name, args: []string{command, "--root", x.root(), x.path(name)}})
		}
	}
	return append(list,
		growingCommand{name: "lint big.lua", args: []string{"lint", x.path("big.lua")}},
		growingCommand{name: "lint escapes.lua", args: []string{"lint", x.path("escapes.lua")}},
		growingCommand{name: "convert big.yaml", args: []string{"convert", x.path("big.yaml")}})
}

// With 10,000 resources no command has more than 28 MiB in use, or 32 MiB if the script has 1 KiB of text for each.
// With package collector the heap stays below 40 MiB, which is a peak of about 64 MiB with the program.
func TestHeapOfCommands(t *testing.T) {
	if os.Getenv("CCM_TEST_HEAP") == "" {
		t.Skip("this takes half a minute: CCM_TEST_HEAP=1 runs it")
	}
	t.Parallel()
	x := &longRun{dir: t.TempDir(), n: 10_000}
	x.write(t)
	list := x.commands(t)
	most := map[bool]int{false: 28, true: 32}
	for i, c := range append(list, x.writtenOut(t)...) {
		if c.long {
			continue
		}
		if c.before != nil {
			c.before()
		}
		cmd := exec.Command("ccm", x.named(t, c.args)...)
		cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1", "CCM_STATE_DIR="+x.state(), "XDG_CONFIG_HOME="+x.dir)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		require.NoError(t, cmd.Run(), "%s: %.1000s%.1000s", c.name, &stdout, collection.ReplaceAllString(stderr.String(), ""))
		inUse, largest := 0, 0
		for _, m := range collection.FindAllStringSubmatch(stderr.String(), -1) {
			heap, _ := strconv.Atoi(m[2])
			live, _ := strconv.Atoi(m[3])
			inUse, largest = max(inUse, live), max(largest, heap)
		}
		t.Logf("%-25s %2d MiB in use, %2d with garbage", c.name, inUse, largest)
		assert.LessOrEqual(t, inUse, most[i >= len(list)], c.name)
	}
}
