package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/test/tally"
)

// commands is a machine whose commands have fixed exit codes, and are counted.
type commands struct {
	codes map[string]int
	run   map[string]int
}

func newCommands() *commands { return &commands{map[string]int{}, map[string]int{}} }

func (c *commands) runner() host.Runner {
	return &hosttest.Runner{Answer: func(cmd host.Cmd) (host.Result, error) {
		c.run[cmd.String()]++
		return host.Result{Code: c.codes[cmd.String()]}, nil
	}}
}

func (b *box) pending() []string {
	list, damaged, err := b.store().Pending()
	require.NoError(b.t, err)
	require.Zero(b.t, damaged)
	out := []string{}
	for _, p := range list {
		out = append(out, string(p.To+" by "+p.By))
	}
	return out
}

var onlyRefresh = props{"refreshonly": true, "subscribe": "file#/a"}

func TestRefreshThatFailedIsRepeated(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	c := cat(t, file("/a", "one"), exec("restart", onlyRefresh))
	cmds.codes["restart"] = 1
	run, _, err := b.run(c)
	require.NoError(t, err)
	require.Contains(t, b.story(), "/a changed new; restart failed new by /a")
	require.Equal(t, []string{"exec#restart by file#/a"}, b.pending())
	list, _, _ := b.store().Pending()
	require.Equal(t, "pending refresh of exec#restart from run "+run.ID()+": file#/a changed", list[0].String())

	// It is tried again until it succeeds.
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Contains(t, b.story(), "restart failed new left over of /a")
	cmds.codes["restart"] = 0
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Equal(t, "restart changed new left over of /a", b.story())
	require.Equal(t, run.ID(), b.events[1].PendingRefreshes[0].Run)
	require.Empty(t, b.pending())
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Empty(t, b.story())
	require.Equal(t, 3, cmds.run["restart"])
}

func TestNoRefreshOfWhatFailedAndChangedNothing(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	c := cat(t, file("/a", "one"), exec("restart", onlyRefresh))
	b.effect = func(op, path string) error {
		if op == "create" && path == "/a" {
			return errors.New("read-only file system")
		}
		return nil
	}
	_, _, err := b.run(c)
	require.NoError(t, err)
	require.Contains(t, b.story(), "read-only file system; restart skipped")
	require.Empty(t, b.pending(), "nothing was changed, so nothing is owed")
	noLeftovers(t, b.root)
}

func TestRefreshOfWhatFailedButChanged(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	c := cat(t, file("/a", "one"), exec("restart", onlyRefresh))
	b.effect = func(op, path string) error {
		if op == "syncdir" && path == "/" {
			return errors.New("input/output error")
		}
		return nil
	}
	_, _, err := b.run(c)
	require.NoError(t, err)
	require.Contains(t, b.story(), "/a failed new: input/output error; restart skipped")
	b.effect = nil
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Equal(t, "restart changed new left over of /a", b.story())
}

func TestNothingIsChangedThatCannotBeRecorded(t *testing.T) {
	b := newBox(t)
	b.effect = func(op, path string) error {
		if filepath.Base(path) == "pending.ndjson" {
			return errors.New("no space left on device")
		}
		return nil
	}
	_, _, err := b.run(cat(t, file("/a", "one"), exec("restart", onlyRefresh)))
	require.NoError(t, err)
	require.Contains(t, b.story(), "/a failed new: cannot record pending refreshes: no space left on device; restart skipped")
	require.NoFileExists(t, filepath.Join(b.root, "a"))
}

func TestInterruptedRunOwes(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	c := cat(t, file("/a", "one"), file("/b", "two"), exec("restart", onlyRefresh))
	stop := make(chan struct{})
	b.stop = stop
	b.effect = func(op, path string) error {
		if op == "create" && path == "/a" {
			close(stop)
		}
		return nil
	}
	_, sum, err := b.run(c)
	require.NoError(t, err)
	require.True(t, sum.Interrupted)
	require.Equal(t, "/a changed new; /b skipped; restart skipped", b.story())
	b.stop, b.effect = nil, nil
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Equal(t, "/b changed new; restart changed new left over of /a", b.story())
}

// TestRequirementFailed: the notifier changed, but the subscriber was skipped because another of its requirements
// failed.
func TestRequirementFailed(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	cmds.codes["check"] = 3
	c := cat(t, file("/a", "one"), exec("check", props{"refreshonly": false}), exec("restart", onlyRefresh, props{"require": "exec#check"}))
	_, _, err := b.run(c)
	require.NoError(t, err)
	require.Equal(t, []string{"exec#restart by file#/a"}, b.pending())
	cmds.codes["check"] = 0
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Contains(t, b.story(), "restart changed new left over of /a")
	require.Empty(t, b.pending())
}

func TestTargets(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	c := cat(t, file("/a", "one"), file("/b", "two"), exec("restart", onlyRefresh))
	part, err := c.Select(catalog.Selection{Targets: []resource.ID{{Type: "file", Name: "/a"}}})
	require.NoError(t, err)
	_, _, err = b.run(part)
	require.NoError(t, err)
	require.Equal(t, "/a changed new", b.story())
	require.Equal(t, []string{"exec#restart by file#/a"}, b.pending(), "what was left out is owed")
	// A run of another part keeps it.
	part, err = c.Select(catalog.Selection{Targets: []resource.ID{{Type: "file", Name: "/b"}}})
	require.NoError(t, err)
	_, sum, err := b.run(part)
	require.NoError(t, err)
	require.Empty(t, sum.DroppedRefreshes)
	require.Equal(t, []string{"exec#restart by file#/a"}, b.pending())
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Equal(t, "restart changed new left over of /a", b.story())
}

func TestDropped(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	cmds.codes["restart"] = 1
	_, _, err := b.run(cat(t, file("/a", "one"), exec("restart", onlyRefresh)))
	require.NoError(t, err)
	_, sum, err := b.run(cat(t, file("/a", "one")))
	require.NoError(t, err)
	require.Len(t, sum.DroppedRefreshes, 1)
	require.Equal(t, "restart", sum.DroppedRefreshes[0].To.Name)
	require.Empty(t, b.pending())
}

// TestChain: in a chain of a file and two execs that refresh each other, the last refresh is pending although the one
// in the middle has run.
func TestChain(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	cmds.codes["second"] = 1
	c := cat(t, file("/a", "one"), exec("first", onlyRefresh), exec("second", props{"refreshonly": true, "subscribe": "exec#first"}))
	_, _, err := b.run(c)
	require.NoError(t, err)
	require.Equal(t, []string{"exec#second by exec#first"}, b.pending())
	cmds.codes["second"] = 0
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Equal(t, "second changed new left over of first", b.story())
	require.Equal(t, map[string]int{"first": 1, "second": 2}, cmds.run)
}

func TestDamagedJournal(t *testing.T) {
	tries := tally.Of(t, "a damaged record of what is owed", "a warning, a copy set aside, what is good is used")
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	cmds.codes["restart"] = 1
	c := cat(t, file("/a", "one"), exec("restart", onlyRefresh))
	_, _, err := b.run(c)
	require.NoError(t, err)
	path := filepath.Join(b.dir, "pending.ndjson")
	text, err := os.ReadFile(path)
	require.NoError(t, err)

	// An incomplete last line is no damage.
	require.NoError(t, os.WriteFile(path, append(text, `{"owe":{"to":"exec#no`...), 0o600))
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Empty(t, b.warned)
	require.Equal(t, []string{"exec#restart by file#/a"}, b.pending())

	// A copy of damaged lines is kept, and intact lines stay.
	for _, junk := range []string{"\x00\x00\x00\n", "{}\n", "{\"owe\":\n", "[]\n"} {
		b.warned = nil
		tries.Add(1)
		require.NoError(t, os.WriteFile(path, append([]byte(junk), text...), 0o600))
		b.clock.now = b.clock.now.Add(3600e9)
		_, _, err = b.run(c)
		require.NoError(t, err)
		require.Len(t, b.warned, 1, "%q", junk)
		require.Contains(t, b.warned[0], "1 line cannot be parsed and may contain pending refreshes")
		require.Equal(t, []string{"exec#restart by file#/a"}, b.pending())
	}
	broken, err := filepath.Glob(filepath.Join(b.dir, "broken", "*"))
	require.NoError(t, err)
	require.Len(t, broken, 4)
}

func TestSitesDoNotDropForEachOther(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	cmds.codes["restart"] = 1
	c := cat(t, file("/a", "one"), exec("restart", onlyRefresh))
	_, _, err := b.run(c)
	require.NoError(t, err)
	path := filepath.Join(b.dir, "pending.ndjson")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	other := strings.ReplaceAll(string(text), "/site.lua", "/other.lua")
	require.NoError(t, os.WriteFile(path, []byte(other), 0o600))
	_, sum, err := b.run(cat(t, file("/a", "one")))
	require.NoError(t, err)
	require.Empty(t, sum.DroppedRefreshes)
	require.Len(t, b.pending(), 1)
	// Any file that declares the resource performs the refresh.
	cmds.codes["restart"] = 0
	_, _, err = b.run(c)
	require.NoError(t, err)
	require.Equal(t, "restart changed new left over of /a", b.story())
	require.Empty(t, b.pending())
}

func TestRunThatChangesNothingWritesOneLine(t *testing.T) {
	b := newBox(t)
	c := cat(t, file("/a", "one"))
	_, _, err := b.run(c)
	require.NoError(t, err)
	var ops []string
	b.effect = func(op, path string) error { ops = append(ops, op+" "+filepath.Base(path)); return nil }
	_, sum, err := b.run(c)
	require.NoError(t, err)
	require.Equal(t, 1, sum.Of(event.Stable))
	require.Equal(t, []string{"open history.ndjson", "append history.ndjson"}, ops)
}
