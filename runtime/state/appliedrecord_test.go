package state_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/test/tally"
)

func TestCauses(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	one := file("/a", "one")
	must := func(want string, list ...decl) {
		t.Helper()
		b.clock.now = b.clock.now.Add(time.Minute)
		b.must(list...)
		require.Equal(t, want, b.story())
	}
	must("/a changed new", one)
	must("", one)
	b.write("a", "by hand", 0o644)
	must("/a changed corrective", one)
	must("/a changed intended", file("/a", "two"))
	b.write("a", "by hand", 0o644)
	must("/a changed intended", file("/a", "three"))
	// A resource that was stable was applied too.
	b.write("a", "four", 0o644)
	must("", file("/a", "four"))
	b.write("a", "by hand", 0o644)
	must("/a changed corrective", file("/a", "four"))
	// The position and the dependencies of a resource are not part of its desired state.
	b.write("a", "by hand", 0o644)
	must("/b changed new; /a changed corrective", file("/b", ""), file("/a", "four", props{"require": "file#/b"}))
	// A resource that was removed from the configuration is declared again.
	must("", file("/b", ""))
	b.write("a", "by hand", 0o644)
	must("/a changed new", file("/b", ""), file("/a", "four"))
	// An exec that always runs corrects nothing.
	must("/always changed new", exec("/always"))
	must("/always changed", exec("/always"))
	// The cause of a refresh is the resource that triggered it.
	guarded := exec("x", props{"creates": "/b", "subscribe": "file#/a"})
	must("/a changed new; x changed new by /a", file("/a", "five"), file("/b", ""), guarded)
	b.write("a", "by hand", 0o644)
	must("/a changed corrective; x changed corrective by /a", file("/a", "five"), file("/b", ""), guarded)
	must("/a changed intended; x changed intended by /a", file("/a", "six"), file("/b", ""), guarded)
}

func TestFailureKeepsWhatWasWanted(t *testing.T) {
	b := newBox(t)
	b.must(file("/a", "one"))
	b.write("d/x", "", 0o644)
	_, sum, err := b.run(cat(t, file("/a", "one"), file("/d", "a directory is in the way")))
	require.NoError(t, err)
	require.Equal(t, 1, sum.Of(event.Failed))
	_, c, err := b.applied()
	require.NoError(t, err)
	require.Equal(t, []string{"file#/a"}, ids(c))
	b.write("a", "by hand", 0o644)
	_, _, err = b.run(cat(t, file("/a", "one"), file("/d", "a directory is in the way")))
	require.NoError(t, err)
	require.Contains(t, b.story(), "/a changed corrective")
}

func ids(list []*resource.Resource) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID.String())
	}
	return out
}

// applied returns the run that applied the catalog, and the catalog.
func (b *box) applied() (string, []*resource.Resource, error) {
	list, err := b.store().Applied()
	require.NoError(b.t, err)
	require.Len(b.t, list, 1)
	c, unknown, err := b.store().Catalog(list[0], registry(b.t))
	if err != nil {
		return "", nil, err
	}
	require.Empty(b.t, unknown)
	return list[0].Run, c.Resources, nil
}

// TestAppliedCatalog: the applied catalog can be read back, and its plan has only drift.
func TestAppliedCatalog(t *testing.T) {
	b, cmds := newBox(t), newCommands()
	b.runner = cmds.runner()
	odd := "\x00\xff\"\n"
	list := []decl{
		file("/a", odd, props{"alias": "first"}), Dir("/d", "0x50"), file("/d/e", "", props{"content": nil}), absent("/gone"),
		exec("x", props{"command": "true z", "creates": "/a", "returns": []any{0, 3}, "environment": []any{"A=b"}, "timeout": "5m", "subscribe": []any{"file#first", "file#/d/e"}}),
	}
	c := cat(t, list...)
	run, _, err := b.run(c)
	require.NoError(t, err)
	id, got, err := b.applied()
	require.NoError(t, err)
	require.Equal(t, run.ID(), id)
	require.Len(t, got, len(c.Resources))
	for i, r := range c.Resources {
		require.Equal(t, r.ID, got[i].ID)
		require.Equal(t, r.Spec, got[i].Spec)
		require.Equal(t, r.Common, got[i].Common)
		require.Equal(t, r.Pos.String(), got[i].Pos.String())
	}

	plan := func() int {
		applied, err := b.store().Applied()
		require.NoError(t, err)
		back, _, err := b.store().Catalog(applied[0], registry(t))
		require.NoError(t, err)
		e := converge.Engine{Registry: registry(t), Facts: facts.Static(nil), Reporters: []event.Reporter{b}}
		sum := e.Plan(t.Context(), &host.New(host.Options{Root: b.root, Runner: b.runner}).View, back)
		return sum.Of(event.Pending)
	}
	require.Zero(t, plan())
	b.write("a", "by hand", 0o644)
	require.Equal(t, 2, plan(), "the file, and the exec that it refreshes")

	// A run of a part changes only that part of the record.
	part, err := cat(t, append([]decl{file("/a", "new", props{"alias": "first"})}, list[1:]...)...).Select(catalog.Selection{Targets: []resource.ID{{Type: "file", Name: "first"}}})
	require.NoError(t, err)
	_, _, err = b.run(part)
	require.NoError(t, err)
	_, got, err = b.applied()
	require.NoError(t, err)
	require.Len(t, got, len(c.Resources))
	require.Zero(t, plan())

	// A damaged file is moved aside, and written again by the next run.
	files, err := filepath.Glob(filepath.Join(b.dir, "applied", "*.catalog.gz"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[0], []byte("junk"), 0o600))
	_, _, err = b.applied()
	require.ErrorContains(t, err, "cannot read")
	require.Contains(t, b.warned[len(b.warned)-1], "damaged")
	_, _, err = b.run(cat(t, list...))
	require.NoError(t, err)
	_, got, err = b.applied()
	require.NoError(t, err)
	require.Len(t, got, len(c.Resources))
}

func TestDamagedWishes(t *testing.T) {
	tries := tally.Of(t, "a damaged record of what was wanted", "a warning, what is good is used, the next run knows again")
	b := newBox(t)
	b.must(file("/a", "one"), file("/b", "one"))
	files, err := filepath.Glob(filepath.Join(b.dir, "applied", "*.wishes"))
	require.NoError(t, err)
	good, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for _, junk := range []string{"", "\x00\x00", "{}\n", string(good[:len(good)-5]), string(good) + "junk\n", "{\"protocol\":\"other\"}\n" + string(good)} {
		tries.Add(1)
		require.NoError(t, os.WriteFile(files[0], []byte(junk), 0o600))
		b.write("a", "by hand", 0o644)
		b.clock.now = b.clock.now.Add(time.Hour)
		b.warned = nil
		b.must(file("/a", "one"), file("/b", "one"))
		require.Len(t, b.warned, 1, "%q", junk)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Equal(t, string(good)[len(good)-9:], string(text)[len(text)-9:])
		b.write("a", "by hand", 0o644)
		b.must(file("/a", "one"), file("/b", "one"))
		require.Equal(t, "/a changed corrective", b.story())
	}
}

// A script that runs with another argument each time does not fill the state directory: only the latest records are
// kept, and the records of files without arguments.
func TestRecordsOfArgumentsAreBounded(t *testing.T) {
	b := newBox(t)
	b.must(file("/a", "one"))
	c := cat(t, file("/b", "one"))
	for i := range 105 {
		b.clock.now = b.clock.now.Add(time.Minute)
		run, err := b.store().BeginRecord(state.RunInfo{ID: fmt.Sprintf("r%03d", i), Kind: "run", Site: fmt.Sprint("/site.lua ", i), File: "/site.lua", Root: b.root, Start: b.clock.now})
		require.NoError(t, err)
		run.AddCatalog(c)
		e := converge.Engine{Registry: registry(t), Facts: facts.Static(nil), Reporters: []event.Reporter{run}, Journal: run, Cause: run.Cause}
		require.NoError(t, run.End(e.Run(t.Context(), host.New(host.Options{Root: b.root, Clock: b.clock, BeforeChange: run.BeforeChange}), c)))
	}
	applied, err := b.store().Applied()
	require.NoError(t, err)
	require.Len(t, applied, 101)
	require.Equal(t, "/site.lua 104", applied[0].Site)
	require.Equal(t, "/site.lua 5", applied[99].Site)
	require.Equal(t, "/site.lua", applied[100].Site)
	files, err := os.ReadDir(filepath.Join(b.dir, "applied"))
	require.NoError(t, err)
	require.Len(t, files, 2*101)
}

// TestManyArguments: a record whose first line is longer than any buffer is known again: the second run with the same
// arguments writes nothing to it.
func TestManyArguments(t *testing.T) {
	b := newBox(t)
	require.NoError(t, os.MkdirAll(b.dir, 0o700))
	site := "/site.lua" + strings.Repeat(" argument", 2000)
	var before map[string]string
	for i := range 2 {
		run, err := b.store().BeginRecord(state.RunInfo{ID: fmt.Sprint("r", i), Kind: "run", Site: site, File: "/site.lua", Root: b.root, Start: b.clock.now})
		require.NoError(t, err)
		run.AddCatalog(cat(t, file("/f", "x")))
		require.NoError(t, run.End(event.Summary{}))
		now := hosttest.Snapshot(t, filepath.Join(b.dir, "applied"))
		require.True(t, before == nil || maps.Equal(before, now))
		before = now
		applied, err := b.store().Applied()
		require.NoError(t, err)
		require.Len(t, applied, 1)
		require.Equal(t, site, applied[0].Site)
		require.Empty(t, b.warned)
	}
}
