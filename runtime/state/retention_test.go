package state_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/state"
	"github.com/luaccm/ccm/test/tally"
)

// stored returns the space that all backups take, in blocks of 4096 bytes.
func (b *box) stored() (total int64) {
	for _, size := range b.objects() {
		total += (size + 4095) / 4096 * 4096
	}
	return total
}

// noise returns a text that is hard to compress.
func noise(rnd *rand.Rand, n int) string {
	var s strings.Builder
	for s.Len() < n {
		fmt.Fprintf(&s, "%016x", rnd.Uint64())
	}
	return s.String()[:n]
}

// TestSizeLimit: the store never exceeds its limit, and has the backups of the latest runs.
func TestSizeLimit(t *testing.T) {
	tries := tally.Of(t, "more backups than the store may hold", "the limit holds, the latest are there, what is gone is said to be")
	b := newBox(t)
	b.limits = state.Limits{Bytes: 20_000, Object: 10_000, Age: 1000 * time.Hour}
	rnd := rand.New(rand.NewPCG(1, 1))
	most := int64(0)
	b.effect = func(op, path string) error {
		most = max(most, b.stored())
		return nil
	}
	var last, lastButOne string
	var was string
	for i := range 12 {
		tries.Add(1)
		b.clock.now = b.clock.now.Add(time.Hour)
		was = noise(rnd, 4000+i)
		b.write("f", was, 0o644)
		lastButOne, last = last, b.must(file("/f", "short"))
	}
	require.LessOrEqual(t, most, b.limits.Bytes)
	require.Greater(t, b.stored(), b.limits.Bytes/2)
	_, errs := b.restore(last)
	require.Empty(t, errs)
	text, err := os.ReadFile(filepath.Join(b.root, "f"))
	require.NoError(t, err)
	require.Equal(t, was, string(text))
	_, errs = b.restore(lastButOne)
	require.Empty(t, errs)

	// The history says which backups were removed to make room.
	list, _, err := b.store().History()
	require.NoError(t, err)
	_, errs = b.restore(list[0].ID)
	require.Len(t, errs, 1)
	require.ErrorContains(t, errs[0], ") no longer exists")
}

// TestOneRunAboveTheLimit: of a run that is too large for the store as much is kept as fits, and the rest is reported
// as not kept.
func TestOneRunAboveTheLimit(t *testing.T) {
	b := newBox(t)
	b.limits = state.Limits{Bytes: 10_000, Object: 10_000, Age: time.Hour}
	rnd := rand.New(rand.NewPCG(2, 2))
	var list []decl
	for i := range 6 {
		b.write(fmt.Sprint("f", i), noise(rnd, 4000), 0o644)
		list = append(list, file(fmt.Sprint("/f", i), "short"))
	}
	id := b.must(list...)
	require.LessOrEqual(t, b.stored(), b.limits.Bytes)
	refused := len(b.warned)
	require.Positive(t, refused)
	_, errs := b.restore(id)
	require.Len(t, errs, refused)
	require.Less(t, len(errs), 6)
	for _, err := range errs {
		require.ErrorContains(t, err, "backups of this run already use the maximum backup size")
	}
}

// TestRoomWithinOneRun: a backup of an earlier run is not removed to make room for a run that uses the same content,
// even before that run's record says so.
func TestRoomWithinOneRun(t *testing.T) {
	b := newBox(t)
	b.limits = state.Limits{Bytes: 9_000, Object: 10_000, Age: time.Hour}
	rnd := rand.New(rand.NewPCG(3, 3))
	was := noise(rnd, 4000)
	b.write("f0", was, 0o644)
	b.must(file("/f0", "short"))
	b.write("f0", was, 0o644)
	list := []decl{file("/f0", "short")}
	for i := 1; i < 6; i++ {
		b.write(fmt.Sprint("f", i), noise(rnd, 4000), 0o644)
		list = append(list, file(fmt.Sprint("/f", i), "short"))
	}
	id := b.must(list...)
	require.NotEmpty(t, b.warned)
	_, errs := b.restore(id)
	for _, err := range errs {
		require.ErrorContains(t, err, "backups of this run already use the maximum backup size")
	}
	text, err := os.ReadFile(filepath.Join(b.root, "f0"))
	require.NoError(t, err)
	require.Equal(t, was, string(text))
}

// TestUndoInAFullStore: a restore does not remove the contents that it restores to keep what it overwrites.
func TestUndoInAFullStore(t *testing.T) {
	b := newBox(t)
	b.limits = state.Limits{Bytes: 3 * 4096, Object: 10_000, Age: time.Hour}
	var list []decl
	for i := range 3 {
		b.write(fmt.Sprint("f", i), fmt.Sprint("first ", i), 0o644)
		list = append(list, file(fmt.Sprint("/f", i), fmt.Sprint("second ", i)))
	}
	id := b.must(list...)
	_, errs := b.restore(id)
	require.Empty(t, errs)
	require.Len(t, b.warned, 3, "what it overwrote is not kept: %q", b.warned)
	for i := range 3 {
		text, err := os.ReadFile(filepath.Join(b.root, fmt.Sprint("f", i)))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("first ", i), string(text))
	}
}

// TestUndoFromPacks: the contents of old runs are together in a few files, and undo restores each byte of them. A run
// without changes touches none.
func TestUndoFromPacks(t *testing.T) {
	b := newBox(t)
	b.secrets = []string{"hunter2"}
	rnd := rand.New(rand.NewPCG(4, 4))
	var list []decl
	for i := range 10 {
		list = append(list, file(fmt.Sprint("/f", i), "declared"))
	}
	var first string
	texts := make(map[string]string)
	for run := range 20 {
		for i := range 10 {
			text := noise(rnd, 1000+300*i)
			if i == 0 {
				text = "hunter2" + text
			}
			b.write(fmt.Sprint("f", i), text, 0o644)
			if run == 0 {
				texts[fmt.Sprint("f", i)] = text
			}
		}
		b.clock.now = b.clock.now.Add(time.Hour)
		if id := b.must(list...); run == 0 {
			first = id
		}
	}
	require.Less(t, len(b.objects()), 90, "of 200 contents")
	require.Less(t, b.stored(), int64(150*4096))
	_, errs := b.restore(first)
	require.Empty(t, errs)
	for name, want := range texts {
		text, err := os.ReadFile(filepath.Join(b.root, name))
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	b.must(list...)
	b.effect = func(op, path string) error {
		require.NotContains(t, path, "/objects", "%s in a run without changes", op)
		return nil
	}
	b.must(list...)
}

func TestAgeLimit(t *testing.T) {
	b := newBox(t)
	b.limits = state.Limits{Bytes: 1 << 20, Object: 1 << 20, Age: 48 * time.Hour}
	b.write("f", "first", 0o644)
	first := b.must(file("/f", "second"))
	b.clock.now = b.clock.now.Add(36 * time.Hour)
	second := b.must(file("/f", "third"))
	idle := b.must(file("/f", "third"))
	require.Len(t, b.objects(), 2)
	b.clock.now = b.clock.now.Add(36 * time.Hour)
	third := b.must(file("/f", "fourth"))
	list, _, err := b.store().History()
	require.NoError(t, err)
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	require.Equal(t, []string{second, idle, third}, ids)
	require.Len(t, b.objects(), 2)
	_, err = b.store().Record(first)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, errs := b.restore(second)
	require.Empty(t, errs)
}

// TestClockThatJumps: records and backups outlive a run whose clock is far ahead, and age as usual once it is right
// again, or if it stays so.
func TestClockThatJumps(t *testing.T) {
	for what, back := range map[string]bool{"the clock is set right again": true, "it stays": false} {
		t.Run(what, func(t *testing.T) {
			b := newBox(t)
			b.write("f", "first", 0o644)
			first := b.must(file("/f", "second"))
			now := b.clock.now
			b.clock.now = now.AddDate(12, 0, 0)
			b.must(file("/f", "third"))
			_, err := b.store().Record(first)
			require.NoError(t, err)
			_, errs := b.restore(first)
			require.Empty(t, errs)
			text, err := os.ReadFile(filepath.Join(b.root, "f"))
			require.NoError(t, err)
			require.Equal(t, "first", string(text))

			later := b.clock.now.AddDate(0, 0, 2)
			if back {
				later = now.AddDate(0, 0, 2)
			}
			b.clock.now = later
			b.must(file("/f", "fourth"))
			_, err = b.store().Record(first)
			require.Equal(t, back, err == nil, err)
		})
	}
}

// TestCounter: the size of the store is right after a run that died.
func TestCounter(t *testing.T) {
	b := newBox(t)
	b.limits = state.Limits{Bytes: 9000, Object: 5000, Age: time.Hour}
	rnd := rand.New(rand.NewPCG(3, 3))
	b.write("f", noise(rnd, 4000), 0o644)
	b.must(file("/f", "x"))
	size := filepath.Join(b.dir, "objects", "size")
	text, err := os.ReadFile(size)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d bytes on disk, small files: 1\n", b.stored()), string(text))
	for _, junk := range []string{"", "nonsense"} {
		require.NoError(t, os.WriteFile(size, []byte(junk), 0o600))
		b.write("f", noise(rnd, 4000), 0o644)
		b.must(file("/f", "x"))
		require.LessOrEqual(t, b.stored(), b.limits.Bytes)
	}
	require.NoError(t, os.Remove(size))
	b.write("f", noise(rnd, 4000), 0o644)
	b.must(file("/f", "x"))
	require.LessOrEqual(t, b.stored(), b.limits.Bytes)
}
