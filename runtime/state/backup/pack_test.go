package backup_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/state/backup"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// fill keeps n contents in a run, every tenth of which is encrypted, and adds them to texts by ID.
func (b *box) fill(run string, n int, texts map[string]string) {
	h, root := hosttest.New(b.T, nil)
	w := b.store.Writer(run)
	now := backup.RunContents{ID: run}
	for i := range n {
		text, seal := fmt.Sprint(run, " content ", i), i%10 == 9
		if seal {
			text = fmt.Sprint(run, " secret ", i)
		}
		require.NoError(b, os.WriteFile(filepath.Join(root, "f"), []byte(text), 0o600))
		id, _, err := w.Put(&h.View, "/f", true, seal)
		require.NoError(b, err)
		now.Contents = append(now.Contents, id)
		texts[id] = text
	}
	require.NoError(b, w.Sync())
	require.NoError(b, w.End())
	b.runs = append(b.runs, now)
}

// packed returns a box with 160 contents of 16 runs, all of which but the last few are in two packs.
func packed(t *testing.T) (b *box, texts map[string]string) {
	b, texts = newBox(t), make(map[string]string)
	for i := range 16 {
		b.fill(fmt.Sprintf("r%02d", i), 10, texts)
	}
	require.Len(t, b.packs(), 2)
	return b, texts
}

// packs returns the files with several contents.
func (b *box) packs() []string {
	list, err := filepath.Glob(filepath.Join(b.dir, "objects", "packs", "*.pack"))
	require.NoError(b, err)
	return list
}

// blocks returns the number of blocks that all contents take.
func (b *box) blocks() (n int64) {
	for _, file := range b.files() {
		fi, err := os.Stat(file)
		require.NoError(b, err)
		n += (fi.Size() + 4095) / 4096
	}
	return n
}

// readable checks that contents are as they were, and that those without a text are gone.
func (b *box) readable(texts map[string]string) {
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		text, err := b.read(id)
		if texts[id] == "" {
			require.ErrorIs(b, err, os.ErrNotExist)
			continue
		}
		require.NoError(b, err)
		require.Equal(b, texts[id], text)
	}
}

// sized checks the recorded size.
func (b *box) sized() {
	size, err := os.ReadFile(filepath.Join(b.dir, "objects", "size"))
	require.NoError(b, err)
	require.Contains(b, string(size), fmt.Sprintf("%d bytes on disk, ", b.blocks()*4096))
}

// TestPacks: small contents of many runs take fewer blocks than contents.
func TestPacks(t *testing.T) {
	b, texts := newBox(t), make(map[string]string)
	for i := range 100 {
		b.fill(fmt.Sprintf("r%03d", i), 10, texts)
	}
	require.Less(t, b.blocks(), int64(230), "1,000 contents")
	b.sized()
	b.readable(texts)
	b.another().readable(texts)
	for _, file := range b.packs() {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.False(t, strings.Contains(string(text), "secret"))
	}
	files := len(b.files())

	// The contents of a run are files until the next run.
	b.fill("r100", 200, texts)
	require.Greater(t, len(b.files()), files+190)
	b.fill("r101", 1, texts)
	require.Less(t, len(b.files()), files)
	b.readable(texts)
}

// TestKilledWhilePacking: after a kill at any step, each content is there, and the next run packs what is left.
func TestKilledWhilePacking(t *testing.T) {
	was, texts := newBox(t), make(map[string]string)
	was.fill("r0", 60, texts)
	was.fill("r1", 5, texts)
	require.Empty(t, was.packs())
	for n, done := 1, false; !done; n++ {
		b := was.copy(nil)
		effect, asked := hosttest.Failing(n, 1<<30)
		w := b.store.Writer("r2")
		_, err := b.put(w, "more", false)
		require.NoError(t, err)
		b.store.Dir = statedir.New(b.dir, effect, nil)
		_ = w.End()
		done = asked() < n
		b.another().readable(texts)
		require.NoError(t, os.RemoveAll(filepath.Join(b.dir, "objects", "packs", ".new-r2.pack"))) // as each day

		b = b.another()
		b.runs = was.runs
		b.fill("r3", 1, map[string]string{})
		if left := len(b.files()) - len(b.packs()); left > 2 {
			require.Less(t, left, 66, "after a kill at effect %d", n)
			require.Len(t, b.packs(), 1)
		}
		b.readable(texts)
		b.sized()
		if testing.Short() && n > 15 { // the files are removed one by one
			n += 9
		}
	}
}

// copy returns a copy of the box, whose effects may fail.
func (b *box) copy(effect func(op, path string) error) *box {
	dir := filepath.Join(b.TempDir(), "copy")
	require.NoError(b, os.CopyFS(dir, os.DirFS(b.dir)))
	c := boxIn(b.T, dir)
	c.runs = slices.Clone(b.runs)
	c.store.Dir = statedir.New(dir, effect, nil)
	return c
}

// TestUnusedInPacks: what no run names any more is not in a pack either, and a kill on the way loses nothing else.
func TestUnusedInPacks(t *testing.T) {
	was, texts := packed(t)
	files := len(was.packs())
	for _, id := range was.runs[0].Contents {
		texts[id] = ""
	}
	was.runs = was.runs[1:]
	for n, done := 1, false; !done; n++ {
		effect, asked := hosttest.Failing(n, 1<<30)
		b := was.copy(effect)
		w := b.store.Writer("r")
		_ = w.RemoveUnused(b.runs, time.Now())
		_ = w.End()
		done = asked() < n
		used := maps.Clone(texts)
		maps.DeleteFunc(used, func(_, text string) bool { return !done && text == "" })
		b.another().readable(used)
		if done {
			require.Len(t, b.packs(), files)
			b.sized()
		}
	}
	// Of a content that was stored again, the copy in the pack goes.
	again := was.copy(nil)
	size := func() int { return len(must(os.ReadFile(again.packs()[0]))) }
	before := size()
	again.fill(again.runs[2].ID, 10, texts)
	w := again.store.Writer("r")
	require.NoError(t, w.RemoveUnused(again.runs, time.Now()))
	require.NoError(t, w.End())
	again.readable(texts)
	require.Less(t, size(), before-1500, "two runs of 1,030 bytes")
	again.sized()

	// A damaged record may name contents that no other one does.
	damaged := []backup.RunContents{{ID: "r", Damaged: true}}
	w = was.store.Writer("r")
	n := was.blocks()
	require.NoError(t, w.RemoveUnused(damaged, time.Now().Add(-time.Hour)))
	require.Equal(t, n, was.blocks())
	require.NoError(t, w.RemoveUnused(nil, time.Now()))
	require.NoError(t, w.End())
	require.Empty(t, was.files())
	was.sized()
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestRoomInPacks: the oldest contents make room, a tenth at once, and each pack is written again once.
func TestRoomInPacks(t *testing.T) {
	b, texts := packed(t)
	b.store.Bytes = b.blocks() * 4096
	var written int
	b.store.Dir = statedir.New(b.dir, func(op, path string) error {
		if op == "rename" && strings.HasSuffix(path, ".pack") {
			written++
		}
		return nil
	}, nil)
	reads, listed := 0, b.store.Runs
	b.store.Runs = func() ([]backup.RunContents, error) { reads++; return listed() }
	b.fill("s", 1, texts)
	require.Equal(t, 1, reads)
	require.LessOrEqual(t, written, 1)
	require.Less(t, b.blocks()*4096, b.store.Bytes)
	b.sized()
	gone := 0
	for i, run := range b.runs {
		for _, id := range run.Contents {
			_, err := b.read(id)
			if err != nil {
				require.ErrorIs(t, err, os.ErrNotExist)
				texts[id] = ""
				gone++
			}
			require.True(t, err == nil || i < 15, "of run %d", i)
		}
	}
	require.Positive(t, gone)
	b.another().readable(texts)

	// What a restore needs stays.
	w := b.store.Writer("t")
	keep := b.runs[12].Contents
	w.Keep(keep)
	b.store.Bytes = 4096 + int64(len(b.files()))
	_, err := b.put(w, "more", false)
	require.Error(t, err)
	for _, id := range keep {
		_, err := b.read(id)
		require.NoError(t, err)
	}
}

// TestDamagedPacks: of a damaged pack no wrong content is read, and what is intact stays readable, as does everything
// elsewhere. It is set aside.
func TestDamagedPacks(t *testing.T) {
	was, texts := packed(t)
	file := was.packs()[0]
	whole := must(os.ReadFile(file))
	elsewhere := maps.Clone(texts)
	count := int(binary.BigEndian.Uint32(whole[8:]))
	const head, entry = 16, 41
	for i := range count {
		delete(elsewhere, fmt.Sprintf("%x", whole[head+i*entry:head+i*entry+32]))
	}
	require.Len(t, elsewhere, len(texts)-count)
	other := must(os.ReadFile(was.packs()[1]))
	entryWith := func(i, at int, n uint32) []byte {
		out := slices.Clone(whole)
		binary.BigEndian.PutUint32(out[head+i*entry+at:], n)
		return out
	}
	damaged := map[string][]byte{
		"empty": nil, "nothing but zeros": make([]byte, len(whole)), "another magic": append([]byte("PACK"), whole[4:]...),
		"torn in the head": whole[:11], "torn in the index": whole[:head+10*entry+3], "torn in a content": whole[:len(whole)-300],
		"an offset behind the end": entryWith(1, 33, uint32(len(whole))), "a huge offset": entryWith(1, 33, 1<<32-1),
		"an offset in the head": entryWith(1, 33, 0), "a huge length": entryWith(1, 37, 1<<32-1), "no length": entryWith(1, 37, 0),
		"a huge count": slices.Concat(whole[:8], []byte{255, 255, 255, 255}, whole[12:]), "no count": slices.Concat(whole[:8], make([]byte, 4), whole[12:]),
		"entries of another pack": slices.Concat(whole[:head], other[head:head+count*entry], whole[head+count*entry:]),
		"the same twice":          slices.Concat(whole[:head+entry], whole[head:head+entry], whole[head+2*entry:]),
	}
	for i := 0; i < len(whole); i += 107 {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		damaged[fmt.Sprint("a bit of byte ", i)] = flipped
	}
	for what, text := range damaged {
		require.NoError(t, os.WriteFile(file, text, 0o600))
		b, before := was.another(), map[string]string{}
		for id, want := range texts {
			if got, err := b.read(id); err == nil {
				require.Equal(t, want, got, what)
				before[id] = want
			} else {
				require.ErrorContains(t, err, "is damaged", what)
				require.NotContains(t, elsewhere, id)
			}
		}
		if strings.HasPrefix(what, "a bit") {
			require.GreaterOrEqual(t, len(before), len(texts)-1, what)
			continue
		}
		b = was.copy(nil)
		w := b.store.Writer("r")
		require.NoError(t, w.RemoveUnused(was.runs, time.Now()))
		require.NoError(t, w.End())
		require.Len(t, must(filepath.Glob(filepath.Join(b.dir, "broken", "*.pack-*"))), 1, what)
		b = b.another()
		b.readable(before)
		for id := range texts {
			if _, err := b.read(id); err != nil {
				require.ErrorIs(t, err, os.ErrNotExist, what)
			}
		}
	}
	// A content that is damaged in its pack is stored again when it is kept again.
	require.NoError(t, os.WriteFile(file, damaged["torn in the index"], 0o600))
	b := was.another()
	b.fill("r00", 10, map[string]string{})
	for _, id := range was.runs[0].Contents {
		text, err := b.read(id)
		require.NoError(t, err)
		require.Equal(t, texts[id], text)
	}
}

// TestPackWrittenMeanwhile: a reader finds what another process has moved.
func TestPackWrittenMeanwhile(t *testing.T) {
	b, texts := packed(t)
	reader := b.another()
	reader.readable(texts)
	b.fill("s", 70, texts)
	b.fill("t", 1, texts)
	w := b.store.Writer("u")
	require.NoError(t, w.RemoveUnused(b.runs[1:], time.Now()))
	require.NoError(t, w.End())
	for _, id := range b.runs[0].Contents {
		texts[id] = ""
	}
	reader.readable(texts)
}

// FuzzPack reads a file with any content as a pack: a content is right or an error.
func FuzzPack(f *testing.F) {
	const id = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae" // "foo"
	entry := string(must(hex.DecodeString(id)))
	var foo bytes.Buffer
	require.NoError(f, statedir.Compress(&foo, statedir.Writing([]byte("foo"))))
	f.Add([]byte("ccm\x00pack\x00\x00\x00\x01\x00\x00\x00\x00"))
	f.Add([]byte("ccm\x00pack\x00\x00\x00\x01\x00\x00\x00\x00" + entry + "\x00\x00\x00\x00\x39\x00\x00\x00" + string(rune(foo.Len())) + foo.String()))
	f.Add([]byte("ccm\x00pack\x00\x00\x00\x02\x00\x00\x00\x00" + entry + "\x00\xff\xff\xff\xff\xff\xff\xff\xff" + entry + "\x01\x00\x00\x00\x00\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := newBox(t)
		require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "objects", "packs"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "objects", "packs", "r.pack"), text, 0o600))
		got, err := b.read(id)
		require.True(t, err != nil || got == "foo", got)
		w := b.store.Writer("s")
		require.NoError(t, w.RemoveUnused([]backup.RunContents{{ID: "r", Contents: []string{id}}}, time.Now()))
		require.NoError(t, w.End())
		again, e := b.another().read(id)
		require.Equal(t, err == nil, e == nil, "%v, %v", err, e)
		require.True(t, e != nil || again == "foo", again)
	})
}
