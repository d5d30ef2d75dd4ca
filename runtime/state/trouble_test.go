package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/test/tally"
)

// TestTrouble fails one kind of effect on the machine with an error of the system: the resource fails, its file is
// unchanged, no temporary file is left, and other resources are converged.
func TestTrouble(t *testing.T) {
	tries := tally.Of(t, "one call fails with ENOSPC, EROFS, EIO, EDQUOT, EXDEV, EBUSY or EPERM",
		"an error of that resource, the old file, no temporary file, others are dealt with")
	defer syscall.Umask(syscall.Umask(0o022)) // so that a file for all is not created with its final mode
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.EDQUOT, syscall.EXDEV, syscall.EBUSY, syscall.EPERM} {
		for _, op := range []string{"create", "write", "chmod", "sync", "rename"} {
			t.Run(errno.Error()+"/"+op, func(t *testing.T) {
				tries.Add(1)
				b := newBox(t)
				b.write("a", "old", 0o640)
				before := hosttest.Snapshot(t, b.root)["a"]
				b.effect = func(o, path string) error {
					if o == op && path == "/a" {
						return errno
					}
					return nil
				}
				_, sum, err := b.run(cat(t, file("/a", "new", props{"mode": "0666"}), file("/b", "other")))
				require.NoError(t, err)
				require.Equal(t, 1, sum.Of(event.Failed))
				require.Equal(t, 1, sum.Of(event.Changed))
				require.ErrorIs(t, b.events[0].Err, errno)
				require.Equal(t, before, hosttest.Snapshot(t, b.root)["a"])
				noLeftovers(t, b.root)
				noLeftovers(t, b.dir)
			})
		}
	}
}

// TestTroubleWithState fails every effect in the state directory in turn: a file is not changed without a backup. (A
// full disk is tried again: see TestCrowdedBatch.)
func TestTroubleWithState(t *testing.T) {
	tries := tally.Of(t, "one step in the state directory fails, others go on", "not changed unless kept; old or new, and said")
	for n, done := 1, false; !done; n++ {
		b := newBox(t)
		b.write("a", "old", 0o640)
		before := hosttest.Snapshot(t, b.root)["a"]
		count := 0
		tries.Add(1)
		b.effect = func(_, path string) error {
			if !strings.HasPrefix(path, b.dir) {
				return nil
			}
			if count++; count == n {
				return syscall.EIO
			}
			return nil
		}
		_, sum, err := b.run(cat(t, file("/a", "new"), file("/b", "")))
		done = count < n
		now := hosttest.Snapshot(t, b.root)["a"]
		if b.events != nil && b.events[0].Outcome == event.Failed {
			require.Equal(t, before, now)
		}
		if sum.Of(event.Failed) == 0 && !done {
			require.True(t, err != nil || len(b.warned) > 0, "effect %d failed and nobody says so", n)
		}
		b.effect = nil
		if now != before {
			list, _, err := b.store().History()
			require.NoError(t, err)
			_, errs := b.restore(list[0].ID, "/a")
			require.Empty(t, errs)
			require.Equal(t, before, hosttest.Snapshot(t, b.root)["a"], "after effect %d failed", n)
		}
		noLeftovers(t, b.root)
	}
}

// fill writes to a file system until it is full.
func fill(t *testing.T, dir string) {
	f, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
}

func TestFullDisk(t *testing.T) {
	tally.Of(t, "a full file system", "an error of that resource, the old file, no temporary file").Add(1)
	b := newBox(t)
	b.root = mounted(t)
	b.write("a", "old", 0o640)
	fill(t, b.root)
	before := hosttest.Snapshot(t, b.root)
	_, sum, err := b.run(cat(t, file("/a", strings.Repeat("new", 10000))))
	require.NoError(t, err)
	require.Equal(t, 1, sum.Of(event.Failed))
	require.ErrorIs(t, b.events[0].Err, syscall.ENOSPC)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
	// With free space the same run succeeds.
	require.NoError(t, os.Remove(filepath.Join(b.root, "filler")))
	b.must(file("/a", "new"))
}

func TestFullStateDirectory(t *testing.T) {
	tally.Of(t, "a full state directory", "the same").Add(1)
	b := newBox(t)
	b.dir = mounted(t)
	b.write("a", strings.Repeat("precious", 1000), 0o640)
	fill(t, b.dir)
	before := hosttest.Snapshot(t, b.root)
	_, sum, _ := b.run(cat(t, file("/a", "new")))
	require.Equal(t, 1, sum.Of(event.Failed))
	require.ErrorIs(t, b.events[0].Err, syscall.ENOSPC)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
	noLeftovers(t, b.dir)
	require.NoError(t, os.Remove(filepath.Join(b.dir, "filler")))
	id := b.must(file("/a", "new"))
	_, errs := b.restore(id)
	require.Empty(t, errs)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
}

// TestUnreadable: the present content cannot be read.
func TestUnreadable(t *testing.T) {
	tally.Of(t, "a file that gives EIO", "an error of that resource").Add(1)
	b := newBox(t)
	b.root = "/"
	_, sum, err := b.run(cat(t, file("/proc/self/mem", "new")))
	require.NoError(t, err)
	require.Equal(t, 1, sum.Of(event.Failed))
	require.ErrorIs(t, b.events[0].Err, syscall.EIO)
}

func TestVanished(t *testing.T) {
	b := newBox(t)
	b.write("etc/passwd", "alice:x:1000:1000::/:/bin/sh\n", 0o644)
	require.NoError(t, os.MkdirAll(filepath.Join(b.root, "d"), 0o755))
	_, sum, err := b.run(cat(t, file("/a", "", props{"owner": "bob"}), file("/none/b", ""), file("/d", "")))
	require.NoError(t, err)
	require.Equal(t, 3, sum.Of(event.Failed))
	var all error
	for _, e := range b.events {
		all = errors.Join(all, e.Err)
	}
	require.EqualError(t, all, "no such user \"bob\"\n/none does not exist (declare it earlier, as a directory; parents = true creates it)\nexpected a file, found a directory, which is not replaced")
	require.Len(t, hosttest.Snapshot(t, b.root), 3)
}
