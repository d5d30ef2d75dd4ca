package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/test/tally"
)

// fifty is a script of fifty paths, each of which changes its kind between runs: a file with other content, mode or
// owner, a link, a directory, nothing.
const fifty = `
local link = require "std.link"
local run = tonumber(arg[1])
local modes = { "0600", "0640", "0644", "0755" }
for i = 1, 50 do
  local name, turn = ("/f%02d"):format(i), i * 7 + run * (i % 5 + 1)
  local owner = env.GIVE == "yes" and tostring(turn % 3 * 11) or env.OWNER
  local own = { owner = owner, group = env.GROUP, mode = modes[turn % 4 + 1] }
  if i % 5 == 0 then
    link { name, ensure = turn % 4 == 0 and "absent" or "present", target = "to-" .. turn % 3 }
  elseif i % 5 == 1 and run > 1 then
    file { name, ensure = turn % 3 == 0 and "absent" or "directory", force = turn % 3 == 0 or nil,
           owner = own.owner, group = own.group, mode = own.mode }
  elseif i % 5 == 1 or turn % 6 == 0 then
    file { name, ensure = "absent", force = true }
  elseif turn % 6 == 1 then
    file { name, owner = own.owner, group = own.group, mode = own.mode }
  else
    file { name, content = ("text %d\n\0\255"):format(turn % 4), owner = own.owner, group = own.group, mode = own.mode }
  end
end`

// TestUndoProperty: fifty paths change in three runs, and each earlier state can be restored: bytes, modes, owners,
// links, missing files.
func TestUndoProperty(t *testing.T) {
	long(t)
	t.Parallel()
	tries := tally.Of(t, "50 files, links and directories changed in three runs of the binary; restored to each",
		"bytes, mode, owner (as root), targets of links, absence as before the run")
	s := newShell(t)
	s.env = append(s.env, "OWNER="+strconv.Itoa(os.Geteuid()), "GROUP="+strconv.Itoa(os.Getegid()))
	if os.Geteuid() == 0 {
		s.env = append(s.env, "GIVE=yes")
	}
	root := filepath.Join(s.dir, "root")
	s.write("site.lua", fifty)
	for i := 1; i <= 50; i++ { // the state before the first run
		at := filepath.Join(root, fmt.Sprintf("f%02d", i))
		switch {
		case i%5 == 0 && i%2 == 0:
			require.NoError(t, os.Symlink("/somewhere", at))
		case i%5 == 1 && i%2 == 0:
			require.NoError(t, os.MkdirAll(filepath.Join(at, "sub"), 0o711))
			require.NoError(t, os.WriteFile(filepath.Join(at, "sub/file"), []byte("deep\xff"), 0o440))
			require.NoError(t, os.Symlink("../..", filepath.Join(at, "sub/link")))
		case i%5 > 1 && i%3 > 0:
			require.NoError(t, os.WriteFile(at, fmt.Append(nil, "old ", i), 0o604))
			if os.Geteuid() == 0 {
				require.NoError(t, os.Lchown(at, i, 2*i))
			}
		}
	}
	var before []map[string]string
	for run := range 3 {
		before = append(before, hosttest.Snapshot(t, root))
		s.ok("run", "--root", "root", "--diff", "off", "site.lua", strconv.Itoa(run+1))
		require.NotEqual(t, before[run], hosttest.Snapshot(t, root))
	}
	past := jsonLines[state.HistoryEntry](t, s.ok("history", "--output", "json"))
	slices.SortFunc(past, func(a, b state.HistoryEntry) int { return a.Start.Compare(b.Start) })
	require.Len(t, past, 3)
	for run := 2; run >= 0; run-- {
		tries.Add(50)
		require.Greater(t, past[run].Files, 25)
		s.ok("undo", "-q", past[run].ID)
		require.Equal(t, before[run], hosttest.Snapshot(t, root), "before run %d", run+1)
	}
	require.Empty(t, s.ok("history", "--pending"))
}

// A restore ends with the first signal and with its timeout. The present file is finished, and the next restore does
// the others.
func TestRestoreEnds(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	names := []string{"a", "b", "c"}
	site := ""
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("before"), 0o644))
		site += fmt.Sprintf("file { %q, content = 'after', mode = '0644', owner = '%d', group = '%d' }\n", filepath.Join(dir, name), os.Getuid(), os.Getgid())
	}
	_, stderr, code := ccm(t, nil, "run", siteFile(t, "lua", site))
	require.Equal(t, cli.ExitOK, code, stderr)
	list, _, code := ccm(t, nil, "history", "--output", "json")
	require.Equal(t, cli.ExitOK, code)
	id := regexp.MustCompile(`\d{8}T\d{6}\.\d+Z-[0-9a-f]+`).FindString(list)
	held := func() (texts []string) {
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			texts = append(texts, string(text))
		}
		return texts
	}

	stdout, _, code := ccm(t, nil, "undo", "--timeout", "1ns", id)
	require.Equal(t, cli.ExitFailed, code, stdout)
	require.Contains(t, stdout, "failed: run exceeded the time limit of 1ns")
	require.Contains(t, stdout, "skipped, because run exceeded the time limit of 1ns")
	require.Equal(t, []string{"after", "after", "after"}, held())

	stop := make(chan struct{})
	var out bytes.Buffer
	first := sync.OnceFunc(func() { close(stop) })
	e := newEnv(strings.NewReader(""), &out, &out, hosttest.Clock{})
	e.Stop = stop
	e.Effect = func(_, path string) error {
		if filepath.Dir(path) == dir {
			first()
		}
		return nil
	}
	require.Equal(t, cli.ExitInterrupted, run(t.Context(), e, []string{"undo", id}), out.String())
	require.Contains(t, out.String(), "1 changed, 2 skipped")
	require.Equal(t, []string{"before", "after", "after"}, held())

	_, stderr, code = ccm(t, nil, "undo", id)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, []string{"before", "before", "before"}, held())
}
