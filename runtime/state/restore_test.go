package state_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/test/tally"
)

// restore restores the changes of a run.
func (b *box) restore(id string, paths ...string) (*state.RecordWriter, []error) {
	require.NoError(b.t, os.MkdirAll(b.dir, 0o700))
	list, err := b.store().Restorer().Restorations(id, paths)
	require.NoError(b.t, err)
	run, h, err := b.begin("restore")
	require.NoError(b.t, err)
	run.KeepContents(list)
	errs := b.store().Restorer().Restore(context.Background(), h, list, func(r state.Restoration) (*resource.Resource, error) {
		id, _ := resource.ParseID(string(r.Resource))
		by := &resource.Resource{ID: id, Common: new(resource.Common)}
		run.SetResource(by)
		return by, nil
	})
	require.NoError(b.t, run.End(event.Summary{}))
	for i, err := range errs {
		if err != nil {
			errs[i] = fmt.Errorf("%s: %w", list[i].Path, err)
		}
	}
	return run, slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

func (b *box) write(name, text string, mode os.FileMode) {
	path := filepath.Join(b.root, name)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(b.t, os.WriteFile(path, []byte(text), mode))
	require.NoError(b.t, os.Chmod(path, mode))
}

// must runs a catalog without failures, and returns the name of the run.
func (b *box) must(list ...decl) string {
	run, sum, err := b.run(cat(b.t, list...))
	require.NoError(b.t, err)
	require.Zero(b.t, sum.Of(event.Failed), b.story())
	return run.ID()
}

func TestRestore(t *testing.T) {
	for name, x := range map[string]struct {
		start func(b *box)
		run   []decl
	}{
		"created file":      {func(b *box) {}, []decl{file("/f", "new")}},
		"created directory": {func(b *box) {}, []decl{Dir("/d/e", "0750"), file("/d/e/f", "new")}},
		"overwritten":       {func(b *box) { b.write("f", "old", 0o640) }, []decl{file("/f", "new")}},
		"overwritten empty": {func(b *box) { b.write("f", "", 0o600) }, []decl{file("/f", "new")}},
		"mode only":         {func(b *box) { b.write("f", "same", 0o600) }, []decl{file("/f", "same")}},
		"setuid":            {func(b *box) { b.write("f", "old", 0o755|os.ModeSetuid|os.ModeSticky) }, []decl{file("/f", "new")}},
		"removed":           {func(b *box) { b.write("f", "old", 0o400) }, []decl{absent("/f")}},
		"removed link": {func(b *box) {
			b.write("target", "precious", 0o600)
			require.NoError(b.t, os.Symlink("target", filepath.Join(b.root, "f")))
		}, []decl{absent("/f")}},
		"removed dangling link": {func(b *box) { require.NoError(b.t, os.Symlink("/no/where", filepath.Join(b.root, "f"))) }, []decl{absent("/f")}},
		"removed tree": {func(b *box) {
			b.write("d/a/b", "one", 0o600)
			b.write("d/a/c", "two", 0o640)
			b.write("d/e", "", 0o644)
			require.NoError(b.t, os.Symlink("e", filepath.Join(b.root, "d/link")))
			require.NoError(b.t, os.Mkdir(filepath.Join(b.root, "d/empty"), 0o711))
			require.NoError(b.t, os.Chmod(filepath.Join(b.root, "d/a"), 0o500))
		}, []decl{absent("/d")}},
		"directory mode":    {func(b *box) { require.NoError(b.t, os.Mkdir(filepath.Join(b.root, "d"), 0o700)) }, []decl{Dir("/d", "0755")}},
		"bytes":             {func(b *box) { b.write("f", "\x00\xff\xfe\r\n"+strings.Repeat("z", 100000), 0o644) }, []decl{file("/f", "new")}},
		"name with newline": {func(b *box) { b.write("f\n g", "old", 0o644) }, []decl{file("/f\n g", "new")}},
		"name not in UTF-8": {func(b *box) { b.write("f\xff", "old", 0o644) }, []decl{file("/f\xff", "new")}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			x.start(b)
			before := hosttest.Snapshot(t, b.root)
			id := b.must(x.run...)
			after := hosttest.Snapshot(t, b.root)
			require.NotEqual(t, before, after)
			undone, errs := b.restore(id)
			require.Empty(t, errs)
			require.Equal(t, before, hosttest.Snapshot(t, b.root))
			// A restore is a run and can be undone itself.
			_, errs = b.restore(undone.ID())
			require.Empty(t, errs)
			require.Equal(t, after, hosttest.Snapshot(t, b.root))
			// Nothing of the state is accessible to other users.
			require.NoError(t, filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
				require.NoError(t, err)
				fi, err := d.Info()
				require.NoError(t, err)
				require.Zero(t, fi.Mode().Perm()&0o077, path)
				return nil
			}))
			noLeftovers(t, b.dir)
			noLeftovers(t, b.root)
		})
	}
}

func TestRestoreOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of files")
	}
	b := newBox(t)
	b.write("f", "old", 0o640)
	require.NoError(t, os.Chown(filepath.Join(b.root, "f"), 12, 34))
	require.NoError(t, os.Symlink("f", filepath.Join(b.root, "l")))
	require.NoError(t, os.Lchown(filepath.Join(b.root, "l"), 56, 78))
	before := hosttest.Snapshot(t, b.root)
	id := b.must(file("/f", "new"), absent("/l"))
	_, errs := b.restore(id)
	require.Empty(t, errs)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
}

// TestFiftyFilesThreeTimes changes fifty files in three runs at random, and restores the state before each, last
// first.
func TestFiftyFilesThreeTimes(t *testing.T) {
	tries := tally.Of(t, "50 files changed in three runs; restored to each, and 20 times at random", "bytes, mode, absence as before the run")
	b := newBox(t)
	rnd := rand.New(rand.NewPCG(7, 8))
	modes := []string{"0600", "0640", "0644", "0755"}
	var ids []string
	var snaps []map[string]string
	for range 3 {
		snaps = append(snaps, hosttest.Snapshot(t, b.root))
		var list []decl
		for i := range 50 {
			name := fmt.Sprintf("/f%02d", i)
			switch rnd.IntN(5) {
			case 0:
				list = append(list, absent(name))
			case 1: // the mode only
				list = append(list, file(name, "", props{"content": nil, "mode": modes[rnd.IntN(4)]}))
			default:
				list = append(list, file(name, fmt.Sprint("text ", rnd.IntN(4)), props{"mode": modes[rnd.IntN(4)]}))
			}
		}
		b.clock.now = b.clock.now.Add(time.Hour)
		ids = append(ids, b.must(list...))
	}
	snaps = append(snaps, hosttest.Snapshot(t, b.root))
	for i := 2; i >= 0; i-- {
		tries.Add(1)
		_, errs := b.restore(ids[i])
		require.Empty(t, errs)
		require.Equal(t, snaps[i], hosttest.Snapshot(t, b.root), "before run %d", i+1)
	}
	require.NotEqual(t, snaps[0], snaps[3])

	// Any run can be restored directly, for its own changes.
	for range 20 {
		i := rnd.IntN(3)
		tries.Add(1)
		_, errs := b.restore(ids[i])
		require.Empty(t, errs)
		rec, err := b.store().Record(ids[i])
		require.NoError(t, err)
		now := hosttest.Snapshot(t, b.root)
		for _, c := range rec.Changes {
			name := strings.TrimPrefix(string(c.Path), "/")
			require.Equal(t, snaps[i][name], now[name], "%s before run %d", name, i+1)
		}
	}
}

func TestRestorePaths(t *testing.T) {
	b := newBox(t)
	b.write("d/a", "old", 0o644)
	b.write("d/b", "old", 0o644)
	b.write("da", "old", 0o644)
	id := b.must(file("/d/a", "new"), file("/d/b", "new"), file("/da", "new"))
	_, errs := b.restore(id, "/d")
	require.Empty(t, errs)
	snap := hosttest.Snapshot(t, b.root)
	require.Contains(t, snap["d/a"]+snap["d/b"], "old")
	require.Contains(t, snap["da"], "new")
	_, err := b.store().Restorer().Restorations(id, []string{"/d/a", "/nowhere"})
	require.EqualError(t, err, "run "+id+" did not change /nowhere")
	_, err = b.store().Restorer().Restorations("no-such-run", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = b.store().Restorer().Restorations("../../etc/passwd", nil)
	require.EqualError(t, err, `expected the name of a run, got "../../etc/passwd"`)
}

func TestRestoreRefuses(t *testing.T) {
	b := newBox(t)
	b.write("big", strings.Repeat("x", 100), 0o644)
	b.write("off", "old", 0o644)
	b.limits = state.Limits{Bytes: 1 << 20, Object: 50, Age: time.Hour}
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o600))
	id := b.must(file("/big", "new"), file("/off", "new", props{"backup": false}), absent("/pipe"), Dir("/made", "0755"))
	b.write("made/by-hand", "precious", 0o644)
	_, errs := b.restore(id)
	require.EqualError(t, errors.Join(errs...), "/big: its content was not backed up: larger than 50 B\n"+
		"/made: it holds by-hand, which no record of the run names, and is kept (remove it yourself)\n"+
		"/off: its content was not backed up: backup = false\n"+
		"/pipe: a device, socket or pipe cannot be backed up")
	require.Equal(t, []string{"no backup of /big: larger than 50 B"}, b.warned)
	require.FileExists(t, filepath.Join(b.root, "made/by-hand"))
}

// TestRestoreAfterChangeByHand: a change by somebody else after the run is backed up too.
func TestRestoreKeepsWhatCannotBeRemoved(t *testing.T) {
	b := newBox(t)
	list := []state.Restoration{{Path: "/made"}, {Path: "/made/stays"}}
	for i := range list {
		list[i].Want.Kind = safepath.Missing
	}
	b.write("made/stays", "x", 0o644)
	_, h, err := b.begin("restore")
	require.NoError(t, err)
	errs := b.store().Restorer().Restore(t.Context(), h, list, func(state.Restoration) (*resource.Resource, error) {
		return nil, errors.New("refused")
	})
	require.EqualError(t, errs[1], "refused")
	// The record names the entry.
	require.EqualError(t, errs[0], "it holds stays, which could not be removed")
}

func TestRestoreAfterChangeByHand(t *testing.T) {
	b := newBox(t)
	b.write("f", "old", 0o644)
	id := b.must(file("/f", "new"))
	b.write("f", "by hand", 0o600)
	run, errs := b.restore(id)
	require.Empty(t, errs)
	require.Contains(t, hosttest.Snapshot(t, b.root)["f"], "old")
	_, errs = b.restore(run.ID())
	require.Empty(t, errs)
	require.Contains(t, hosttest.Snapshot(t, b.root)["f"], "by hand")

	// The run changed only the mode, and then somebody else the content.
	id = b.must(file("/f", "by hand", props{"mode": "0640"}))
	b.write("f", "by another hand", 0o600)
	_, errs = b.restore(id)
	require.EqualError(t, errors.Join(errs...), "/f: its content was not backed up: something other than ccm changed it after the run")
	require.Contains(t, hosttest.Snapshot(t, b.root)["f"], "by another hand")
}

// TestEveryEffectOfRestoreFails: a restore that fails at any effect leaves each file restored or not, and the next
// one completes it.
func TestEveryEffectOfRestoreFails(t *testing.T) {
	tries := tally.Of(t, "the process ends at any step of a restore", "old or new, and the next restore does the rest")
	for n := 1; ; n++ {
		b := newBox(t)
		tries.Add(1)
		b.write("a", "old a", 0o600)
		b.write("d/b", "old b", 0o640)
		require.NoError(t, os.Symlink("a", filepath.Join(b.root, "l")))
		before := hosttest.Snapshot(t, b.root)
		id := b.must(file("/a", "new a"), absent("/d"), absent("/l"), file("/c", "new c"))
		after := hosttest.Snapshot(t, b.root)
		list, err := b.store().Restorer().Restorations(id, nil)
		require.NoError(t, err)

		effect, asked := hosttest.Failing(n, 1<<30)
		b.effect = effect
		run, h, err := b.begin("restore")
		if err == nil {
			b.store().Restorer().Restore(context.Background(), h, list, func(state.Restoration) (*resource.Resource, error) { return nil, nil })
			_ = run.End(event.Summary{})
		}
		done := asked() < n
		b.effect = nil
		for name, is := range hosttest.Snapshot(t, b.root) {
			if !strings.HasPrefix(filepath.Base(name), ".") && name != "d" {
				require.True(t, is == before[name] || is == after[name], "%s is %s after effect %d failed", name, is, n)
			}
		}
		_, errs := b.restore(id)
		require.Empty(t, errs)
		require.Equal(t, before, hosttest.Snapshot(t, b.root), "after effect %d failed", n)
		if done {
			return
		}
	}
}

// TestRecordOfDeath: before the event of a resource, the record has the intended change of a path, but not its
// result.
func TestRecordOfDeath(t *testing.T) {
	b := newBox(t)
	id := b.must(file("/f", "made"))
	name := filepath.Join(b.dir, "runs", id+".ndjson")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	require.Contains(t, lines[2], ".transaction.event")
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines[:2], "")), 0o600))
	rec, err := b.store().Record(id)
	require.NoError(t, err)
	require.EqualValues(t, 4, rec.Changes[0].Next.Size)
	require.Nil(t, rec.Changes[0].After)

	failed := strings.ReplaceAll(lines[2], `"changed":true`, `"changed":false`)
	require.NoError(t, os.WriteFile(name, []byte(lines[0]+lines[1]+failed), 0o600))
	rec, err = b.store().Record(id)
	require.NoError(t, err)
	require.Nil(t, rec.Changes[0].After)
}

func TestRecord(t *testing.T) {
	b := newBox(t)
	b.write("f", "old", 0o640)
	id := b.must(file("/f", "new"), file("/g", "made"))
	rec, err := b.store().Record(id)
	require.NoError(t, err)
	require.Zero(t, rec.Damaged)
	require.Equal(t, 2, rec.Files)
	require.Equal(t, 2, rec.Summary.Changed)
	require.Len(t, rec.Events, 2)
	require.Equal(t, "/f", string(rec.Changes[0].Path))
	require.Equal(t, state.Name("file#/f"), rec.Changes[0].Resource)
	require.Equal(t, safepath.Regular, rec.Changes[0].Before.Kind)
	require.Equal(t, state.Mode(0o640), rec.Changes[0].Before.Mode)
	require.Equal(t, safepath.Missing, rec.Changes[1].Before.Kind)
	for i, name := range []string{"f", "g"} {
		fi, err := os.Stat(filepath.Join(b.root, name))
		require.NoError(t, err)
		st := fi.Sys().(*syscall.Stat_t)
		require.Equal(t, &state.Version{
			Kind: safepath.Regular, Mode: 0o644, UID: st.Uid, GID: st.Gid, Size: fi.Size(), MTime: fi.ModTime().UTC(), Dev: uint64(st.Dev), Ino: st.Ino,
		}, rec.Changes[i].After, "without looking for it")
		require.Nil(t, rec.Changes[i].Next)
	}
	text, err := b.store().Content(rec.Changes[0].Before.Object)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))

	// A run without changes is in the history, and has no record.
	b.clock.now = b.clock.now.Add(time.Minute)
	idle := b.must(file("/f", "new"))
	_, err = b.store().Record(idle)
	require.ErrorIs(t, err, os.ErrNotExist)
	list, damaged, err := b.store().History()
	require.NoError(t, err)
	require.Zero(t, damaged)
	require.Equal(t, []string{id, idle}, []string{list[0].ID, list[1].ID})
	require.Equal(t, 1, list[1].Summary.Stable)

	// Names can be shortened.
	for name, want := range map[string]string{"last": idle, idle: idle, id[:len(id)-1]: id} {
		got, err := b.store().Find(name)
		require.NoError(t, err)
		require.Equal(t, want, got.ID)
	}
	_, err = b.store().Find("2026")
	require.ErrorContains(t, err, `"2026" is a prefix of 2 runs`)
	_, err = b.store().Find("nothing")
	require.ErrorContains(t, err, `no run "nothing"`)
}

// TestDeadRun: a run that died without an end in its record is in the history, and its changes can be restored.
func TestDeadRun(t *testing.T) {
	b := newBox(t)
	b.write("f", "old", 0o640)
	before := hosttest.Snapshot(t, b.root)
	dead := errors.New("dead")
	died := false
	b.effect = func(op, path string) error {
		died = died || op == "link" && path == "/g"
		if died {
			return dead
		}
		return nil
	}
	_, _, err := b.run(cat(t, file("/f", "new"), file("/g", "made")))
	require.ErrorIs(t, err, dead)
	b.effect = nil
	list, _, err := b.store().History()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Nil(t, list[0].Summary)
	require.Equal(t, "/site.lua", list[0].Site)
	_, errs := b.restore(list[0].ID)
	require.Empty(t, errs)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
}

// TestRestoreTogether: files are made durable together, also beside a link and a directory that are restored. What
// somebody writes to one of them in between is kept, and the next restore brings it back.
func TestRestoreTogether(t *testing.T) {
	b := newBox(t)
	var list []decl
	for i := range 150 {
		b.write(fmt.Sprintf("d/f%03d", i), fmt.Sprint("old ", i), 0o640)
		list = append(list, file(fmt.Sprintf("/d/f%03d", i), fmt.Sprint("new ", i)))
	}
	require.NoError(t, os.Symlink("f001", filepath.Join(b.root, "d", "f002-link")))
	list = append(list, absent("/d/f002-link"))
	before := hosttest.Snapshot(t, b.root)
	id := b.must(list...)
	syncs := 0
	b.effect = func(op, path string) error {
		if op == "sync" && strings.HasPrefix(path, "/d/") {
			if syncs++; syncs == 1 {
				b.write("d/f000", "somebody else", 0o644)
			}
		}
		return nil
	}
	run, errs := b.restore(id)
	require.Empty(t, errs)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
	if safepath.SyncsFileSystems {
		require.LessOrEqual(t, syncs, 20)
	}
	b.effect = nil
	rec, err := b.store().Record(run.ID())
	require.NoError(t, err)
	require.Len(t, rec.Changes, 151)
	for _, c := range rec.Changes {
		require.Equal(t, "file#"+c.Path, c.Resource)
	}
	b.clock.now = b.clock.now.Add(time.Minute)
	_, errs = b.restore(run.ID())
	require.Empty(t, errs)
	for i, want := range []string{"somebody else", "new 1"} {
		text, err := os.ReadFile(filepath.Join(b.root, fmt.Sprintf("d/f%03d", i)))
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

// TestDamagedHistory: of a damaged line of the history the record tells what it can, and a run is found by another line.
func TestDamagedHistory(t *testing.T) {
	b := newBox(t)
	b.write("f", "old", 0o640)
	changed := b.must(file("/f", "new"))
	b.clock.now = b.clock.now.Add(time.Minute)
	idle := b.must(file("/f", "new"))
	path := filepath.Join(b.dir, "history.ndjson")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	for what, c := range map[string]struct {
		text    string
		damaged int
		runs    []string
	}{
		"whole":                     {string(whole), 0, []string{changed, idle}},
		"with another form":         {strings.ReplaceAll(string(whole), `":`, `": `), 0, []string{changed, idle}},
		"with an escape in its ID":  {strings.Replace(string(whole), `"run_id":"2`, `"run_id":"\u0032`, 1), 0, []string{changed, idle}},
		"the line of no record":     {lines[0] + lines[1][:len(lines[1])-9] + "}\n", 1, []string{changed}},
		"the line of a record":      {lines[0][:len(lines[0])-9] + "}\n" + lines[1], 1, []string{changed, idle}},
		"a line that breaks off":    {lines[0][:99] + "\n" + lines[1], 1, []string{changed, idle}},
		"a line without a run":      {`{"protocol":"io.choria.ccm.v1.session.end","run_id":""}` + "\n" + string(whole), 1, []string{changed, idle}},
		"one twice":                 {string(whole) + lines[1], 1, []string{changed, idle}},
		"nothing but what recorded": {"", 0, []string{changed}},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		list, damaged, err := b.store().History()
		require.NoError(t, err, what)
		require.Equal(t, c.damaged, damaged, what)
		var ids []string
		for _, e := range list {
			ids = append(ids, e.ID)
			found, err := b.store().Find(e.ID)
			require.NoError(t, err, what)
			require.Equal(t, e, found, what)
		}
		require.Equal(t, c.runs, ids, what)
		found, err := b.store().Find("last")
		require.NoError(t, err, what)
		require.Equal(t, c.runs[len(c.runs)-1], found.ID, what)
		last, err := b.store().FindLatest(func(run state.HistoryEntry) bool { return run.Files > 0 })
		require.NoError(t, err, what)
		require.NotNil(t, last, what)
		require.Equal(t, changed, last.ID, what)
	}
}

func TestDamagedState(t *testing.T) {
	tries := tally.Of(t, "damaged contents of the store", "never given back; stored anew when the same is to be kept again")
	b := newBox(t)
	b.write("f", "old", 0o640)
	id := b.must(file("/f", "new"))
	for _, name := range []string{"history.ndjson", "runs/" + id + ".ndjson"} {
		path := filepath.Join(b.dir, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, slices.Concat([]byte("\x00\xff{\n"), text, []byte(`{"half`)), 0o600))
	}
	list, damaged, err := b.store().History()
	require.NoError(t, err)
	require.Equal(t, 1, damaged)
	require.Len(t, list, 1)
	rec, err := b.store().Record(id)
	require.NoError(t, err)
	require.Equal(t, 1, rec.Damaged)
	require.Len(t, rec.Changes, 1)

	// A content that does not match its name is never restored.
	object := filepath.Join(b.dir, "objects", rec.Changes[0].Before.Object[:2], rec.Changes[0].Before.Object+".gz")
	good, err := os.ReadFile(object)
	require.NoError(t, err)
	for _, text := range []string{"", "no gzip at all", string(good[:len(good)-3]), string(good) + "x"} {
		tries.Add(1)
		require.NoError(t, os.WriteFile(object, []byte(text), 0o600))
		_, errs := b.restore(id)
		require.ErrorContains(t, errors.Join(errs...), "is damaged")
		require.Contains(t, hosttest.Snapshot(t, b.root)["f"], "new")
	}
	// If the same content is backed up again, it is stored again.
	b.write("f", "old", 0o640)
	b.warned = nil
	b.must(file("/f", "new"))
	require.Contains(t, b.warned[0], "a backup is damaged")
	_, errs := b.restore(id)
	require.Empty(t, errs)
	require.Contains(t, hosttest.Snapshot(t, b.root)["f"], "old")
}

func TestDeduplication(t *testing.T) {
	b := newBox(t)
	text := strings.Repeat("the same text\n", 100)
	for i := range 10 {
		b.write(fmt.Sprint("f", i), text, 0o644)
	}
	var list []decl
	for i := range 10 {
		list = append(list, file(fmt.Sprint("/f", i), "new"))
	}
	id := b.must(list...)
	require.Len(t, slices.Collect(maps.Keys(b.objects())), 1)
	for _, size := range b.objects() {
		require.Less(t, size, int64(len(text)/5), "contents are compressed")
	}
	_, errs := b.restore(id)
	require.Empty(t, errs)
	for _, is := range hosttest.Snapshot(t, b.root) {
		require.Contains(t, is, text)
	}
}

// objects returns the sizes of all stored contents.
func (b *box) objects() map[string]int64 {
	out := map[string]int64{}
	found, err := filepath.Glob(filepath.Join(b.dir, "objects", "*", "*"))
	require.NoError(b.t, err)
	for _, path := range found {
		fi, err := os.Stat(path)
		require.NoError(b.t, err)
		if !strings.HasPrefix(filepath.Base(path), ".new-") {
			out[filepath.Base(path)] = fi.Size()
		}
	}
	return out
}
