package state_test

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// twelve returns declarations of files of 4 KiB each.
func twelve(text string) (list []decl) {
	for i := range 12 {
		list = append(list, file(fmt.Sprint("/f", i), strings.Repeat(text, 4000)))
	}
	return list
}

// A batch needs no more disk space than single writes: 12 files of 4 KiB are replaced on a file system of 64 KiB.
func TestLittleRoomForABatch(t *testing.T) {
	b := newBox(t)
	b.root = mounted(t)
	b.must(twelve("a")...)
	b.must(twelve("b")...)
	require.NotContains(t, b.story(), "failed")
	for i := range 12 {
		text, err := os.ReadFile(fmt.Sprint(b.root, "/f", i))
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("b", 4000), string(text))
	}
	noLeftovers(t, b.root)
}

// Files of a batch do not take the space that an earlier file needs at its turn: one of 24 KiB is replaced on a file
// system of 64 KiB, before eight of 4 KiB are made.
func TestLittleRoomForAnEarlierFile(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5)) // so that several goroutines write
	for range 40 {
		b := newBox(t)
		b.root = mounted(t)
		b.must(file("/large", strings.Repeat("a", 24000)))
		list := []decl{file("/first", "x"), file("/large", strings.Repeat("b", 24000))}
		for i := range 8 {
			list = append(list, file(fmt.Sprint("/f", i), "x"))
		}
		b.must(list...)
		noLeftovers(t, b.root)
	}
}

// If a file of a batch fails for want of space, it is tried again alone, and succeeds.
func TestCrowdedBatch(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE} {
		for _, op := range []string{"create", "write", "sync", "rename"} {
			t.Run(errno.Error()+"/"+op, func(t *testing.T) {
				b := newBox(t)
				b.must(twelve("a")...)
				before := hosttest.Snapshot(t, b.root)
				failed := 0
				b.effect = func(o, path string) error {
					if o == op && (path == "/f7" || op == "sync") && failed == 0 {
						failed++
						return errno
					}
					return nil
				}
				id := b.must(twelve("b")...)
				require.Len(t, b.events, 12)
				for _, e := range b.events {
					require.Equal(t, event.Changed, e.Outcome)
				}
				require.Equal(t, 1, failed)
				_, errs := b.restore(id)
				require.Empty(t, errs)
				require.True(t, maps.Equal(before, hosttest.Snapshot(t, b.root)))
			})
		}
	}
}

// A write error of the file system fails only the files that it concerns.
func TestBatchIsNotBlamedForOthers(t *testing.T) {
	b := newBox(t)
	b.must(twelve("a")...)
	syncs := 0
	b.effect = func(op, path string) error {
		if op != "sync" || !strings.HasPrefix(path, "/f") {
			return nil
		}
		if syncs++; syncs == 1 || path == "/f7" {
			return syscall.EIO
		}
		return nil
	}
	_, sum, err := b.run(cat(t, twelve("b")...))
	require.NoError(t, err)
	require.Equal(t, 1, sum.Of(event.Failed))
	require.Equal(t, event.Failed, b.events[7].Outcome)
	require.Equal(t, 11, sum.Of(event.Changed))
	noLeftovers(t, b.root)
}
