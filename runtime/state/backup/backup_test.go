package backup_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state/backup"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A box is a store, and a machine of which it keeps files.
type box struct {
	*testing.T
	store *backup.Store
	dir   string
	runs  []backup.RunContents
}

func newBox(t *testing.T) *box { return boxIn(t, t.TempDir()) }

// another returns the box as another process sees it.
func (b *box) another() *box { return boxIn(b.T, b.dir) }

func boxIn(t *testing.T, dir string) *box {
	b := &box{T: t, dir: dir}
	b.store = &backup.Store{
		Dir:     statedir.New(dir, nil, nil),
		Secrets: secret.New(func() ([]byte, error) { return make([]byte, secret.KeySize), nil }),
		NeedKey: func() error { return nil },
		Bytes:   1 << 20, Object: 1 << 20,
		Runs: func() ([]backup.RunContents, error) { return b.runs, nil },
		Now:  func() time.Time { return time.Unix(0, 0) },
	}
	return b
}

// put keeps a text and returns its name.
func (b *box) put(w *backup.Writer, text string, seal bool) (string, error) {
	h, root := hosttest.New(b.T, nil)
	require.NoError(b, os.WriteFile(filepath.Join(root, "f"), []byte(text), 0o600))
	id, _, err := w.Put(&h.View, "/f", false, seal)
	return id, err
}

// read returns the content stored under a name.
func (b *box) read(id string) (string, error) {
	r, err := b.store.Open(id)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

// files returns the files that hold contents.
func (b *box) files() []string {
	list, err := filepath.Glob(filepath.Join(b.dir, "objects", "*", "*"))
	require.NoError(b, err)
	return list
}

func TestPut(t *testing.T) {
	b := newBox(t)
	w := b.store.Writer("r1")
	clear, err := b.put(w, "text", false)
	require.NoError(t, err)
	sealed, err := b.put(w, "text", true)
	require.NoError(t, err)
	require.NotEqual(t, clear, sealed)
	again, err := b.put(b.store.Writer("r2"), "text", false)
	require.NoError(t, err)
	require.Equal(t, clear, again)
	require.Len(t, b.files(), 2, "equal contents are stored once")
	for _, id := range []string{clear, sealed} {
		text, err := b.read(id)
		require.NoError(t, err)
		require.Equal(t, "text", text)
		require.True(t, b.store.IsNamed(id, clear))
	}
	_, err = b.read(strings.Repeat("0", 64))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = b.read("../../etc/passwd")
	require.ErrorContains(t, err, "expected the SHA-256")
}

// What holds secrets is encrypted to the identity of the machine: the library of age reads it with nothing but
// the file of that, which is made once and only if it is needed.
func TestEncryptedToTheMachine(t *testing.T) {
	b := newBox(t)
	_, err := b.put(b.store.Writer("r1"), "no secret", false)
	require.NoError(t, err)
	identity := filepath.Join(b.dir, "identity")
	require.NoFileExists(t, identity)
	id, err := b.put(b.store.Writer("r1"), "hunter2", true)
	require.NoError(t, err)
	info, err := os.Stat(identity)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	text, err := os.ReadFile(identity)
	require.NoError(t, err)
	key, err := age.ParseX25519Identity(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	f, err := os.Open(filepath.Join(b.dir, "objects", id[:2], id+".gz.age"))
	require.NoError(t, err)
	defer f.Close()
	plain, err := age.Decrypt(f, key)
	require.NoError(t, err)
	z, err := gzip.NewReader(plain)
	require.NoError(t, err)
	got, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Equal(t, "hunter2", string(got))

	// Another process uses the same.
	other := b.another()
	_, err = other.put(other.store.Writer("r2"), "hunter3", true)
	require.NoError(t, err)
	again, err := os.ReadFile(identity)
	require.NoError(t, err)
	require.Equal(t, text, again)

	// Without the identity, stored contents are lost and reported so, and the next run makes a new one.
	require.NoError(t, os.Remove(identity))
	other = b.another()
	_, err = other.read(id)
	require.ErrorContains(t, err, "identity")
	_, err = other.put(other.store.Writer("r3"), "hunter4", true)
	require.NoError(t, err)
	_, err = other.read(id)
	require.ErrorContains(t, err, "another machine")

	// An invalid identity file is moved aside, and its content is not shown.
	require.NoError(t, os.WriteFile(identity, []byte("AGE-SECRET-"+"KEY-1QQQ"), 0o600))
	other = b.another()
	_, err = other.put(other.store.Writer("r4"), "hunter5", true)
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(b.dir, "broken"))
}

// What versions before have sealed with the key of the state directory can be read.
func TestSealedBefore(t *testing.T) {
	b := newBox(t)
	sum := sha256.Sum256([]byte("hunter2"))
	id := b.store.Secrets.Digest("content", hex.EncodeToString(sum[:]))
	var out bytes.Buffer
	w, err := b.store.Secrets.Seal(&out)
	require.NoError(t, err)
	require.NoError(t, statedir.Compress(w, statedir.Writing([]byte("hunter2"))))
	require.NoError(t, w.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "objects", id[:2]), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "objects", id[:2], id+".sealed"), out.Bytes(), 0o600))
	text, err := b.read(id)
	require.NoError(t, err)
	require.Equal(t, "hunter2", text)
	again, err := b.put(b.store.Writer("r1"), "hunter2", true)
	require.NoError(t, err)
	require.Equal(t, id, again)
	require.Len(t, b.files(), 1, "it is not stored twice")
}

// TestDamaged: a damaged content is detected on reading, and stored again.
func TestDamaged(t *testing.T) {
	b := newBox(t)
	id, err := b.put(b.store.Writer("r1"), "text", false)
	require.NoError(t, err)
	whole, err := os.ReadFile(b.files()[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(b.files()[0], whole[:len(whole)-3], 0o600))
	_, err = b.read(id)
	require.ErrorContains(t, err, "is damaged")
	_, err = b.put(b.store.Writer("r2"), "text", false)
	require.NoError(t, err)
	text, err := b.read(id)
	require.NoError(t, err)
	require.Equal(t, "text", text)
	require.DirExists(t, filepath.Join(b.dir, "broken"))
}

// TestRoom: the oldest runs make room, and never the present run. A content that is being written does not count
// twice.
func TestRoom(t *testing.T) {
	b := newBox(t)
	var ids []string
	for i := range 3 {
		run := fmt.Sprint("r", i)
		w := b.store.Writer(run)
		id, err := b.put(w, fmt.Sprint("content ", i), false)
		require.NoError(t, err)
		require.NoError(t, w.End())
		b.runs = append(b.runs, backup.RunContents{ID: run, Contents: []string{id}})
		ids = append(ids, id)
		b.store.Bytes = 2*4096 + 2 // each takes a block
	}
	_, err := b.read(ids[0])
	require.ErrorIs(t, err, os.ErrNotExist)
	for i, id := range ids[1:] {
		text, err := b.read(id)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("content ", i+1), text)
	}
	w := b.store.Writer("r2") // that has kept the last
	b.store.Bytes /= 2
	_, err = b.put(w, "more", false)
	limit, ok := errors.AsType[*backup.LimitError](err)
	require.True(t, ok, "%v", err)
	require.ErrorContains(t, limit, "backups of this run already use the maximum backup size")
	b.store.Object = 3
	_, err = b.put(w, "more", false)
	require.ErrorContains(t, err, "larger than 3 B")
}

// TestManyInAFullStore: a run that replaces many files in a full store reads the records once. It frees a tenth at
// once, so that the next run need not read them.
func TestManyInAFullStore(t *testing.T) {
	b := newBox(t)
	reads, listed := 0, b.store.Runs
	b.store.Runs = func() ([]backup.RunContents, error) { reads++; return listed() }
	b.store.Bytes = 20 * 4096
	fill := func(run string, n int) {
		w := b.store.Writer(run)
		now := backup.RunContents{ID: run}
		for i := range n {
			id, err := b.put(w, fmt.Sprint(run, " content ", i), false)
			require.NoError(t, err)
			now.Contents = append(now.Contents, id)
		}
		require.NoError(t, w.End())
		b.runs = append(b.runs, now)
	}
	for _, step := range []struct{ n, reads, kept int }{{20, 0, 20}, {1, 1, 19}, {1, 1, 20}, {15, 2, 19}} {
		fill(fmt.Sprint("r", len(b.runs)), step.n)
		require.Equal(t, step.reads, reads)
		require.Len(t, b.files(), step.kept)
	}
}

// TestSizeOfBefore: a size that an earlier version recorded in another format does not count.
func TestSizeOfBefore(t *testing.T) {
	b := newBox(t)
	b.store.Bytes = 4096
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "objects"), 0o700))
	for _, was := range []string{"4096\n", "4096 KiB\n", "", "-1 bytes on disk\n", "9 bytes on disk\n", "9 bytes on disk, small files: -1\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "objects", "size"), []byte(was), 0o600))
		w := b.store.Writer("r")
		_, err := b.put(w, "text", false)
		require.NoError(t, err)
		require.NoError(t, w.End())
		size, err := os.ReadFile(filepath.Join(b.dir, "objects", "size"))
		require.NoError(t, err)
		require.Equal(t, "4096 bytes on disk, small files: 1\n", string(size))
		require.NoError(t, os.Remove(b.files()[0]))
	}
}

// TestRemoveUnused: what no run has kept goes, unless a damaged record may have named it.
func TestRemoveUnused(t *testing.T) {
	b := newBox(t)
	w := b.store.Writer("r")
	used, err := b.put(w, "used", false)
	require.NoError(t, err)
	_, err = b.put(w, "unused", false)
	require.NoError(t, err)
	runs := []backup.RunContents{{ID: "r", Contents: []string{used}, Damaged: true}}
	require.NoError(t, w.RemoveUnused(runs, time.Now().Add(-time.Hour)))
	require.Len(t, b.files(), 2)
	runs[0].Damaged = false
	require.NoError(t, w.RemoveUnused(runs, time.Now().Add(-time.Hour)))
	require.Len(t, b.files(), 1)
	text, err := b.read(used)
	require.NoError(t, err)
	require.Equal(t, "used", text)
}
