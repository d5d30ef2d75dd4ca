package state_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/secret"
)

// secret runs a catalog in a process that knows the secrets.
func (b *box) secret(list ...decl) string {
	b.t.Helper()
	b.clock.now = b.clock.now.Add(time.Minute)
	c := cat(b.t, list...)
	b.store()
	require.NoError(b.t, catalog.MarkSecrets(b.keeper, c.Resources))
	run, sum, err := b.run(c)
	require.NoError(b.t, err)
	require.Zero(b.t, sum.Of(event.Failed), b.story())
	return run.ID()
}

// written returns all text in the state directory, decompressed.
func (b *box) written() string {
	var all bytes.Buffer
	require.NoError(b.t, filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		if z, e := gzip.NewReader(bytes.NewReader(text)); e == nil {
			_, _ = io.Copy(&all, z)
		}
		return err
	}))
	return all.String()
}

// A content with secrets is encrypted in the store, also the backup of an old one, and is restored unchanged.
func TestSealedBackups(t *testing.T) {
	b := newBox(t)
	b.secrets = []string{"hunter2"}
	b.write("f", "password = oldsecret\n", 0o640)
	before := hosttest.Snapshot(t, b.root)
	one := b.secret(file("/f", "password = hunter2\n"))
	b.secrets = []string{"hunter3"}
	two := b.secret(file("/f", "password = hunter3\n"))
	after := hosttest.Snapshot(t, b.root)
	b.secrets = nil
	three := b.secret(file("/f", "nothing\n")) // this process knows the content
	for _, s := range []string{"oldsecret", "hunter2", "hunter3"} {
		require.NotContains(t, b.written(), s)
	}
	rec, err := b.store().Record(two)
	require.NoError(t, err)
	require.True(t, rec.Changes[0].Sensitive)
	_, errs := b.restore(three)
	require.Empty(t, errs)
	require.Equal(t, after, hosttest.Snapshot(t, b.root))
	undone, errs := b.restore(one)
	require.Empty(t, errs)
	require.Equal(t, before, hosttest.Snapshot(t, b.root))
	_, errs = b.restore(undone.ID())
	require.Empty(t, errs)
	require.Equal(t, after, hosttest.Snapshot(t, b.root))
	require.NotContains(t, b.written(), "hunter3")
	held, err := b.store().Sensitive()
	require.NoError(t, err)
	require.True(t, held.HeldIn("/f"))
	require.Equal(t, []string{"content"}, held.Held(resource.ID{Type: "file", Name: "/f"}))
	require.Empty(t, b.warned)

	// The content to restore is compared, and not shown.
	list, err := b.store().Restorer().Restorations(two, nil)
	require.NoError(t, err)
	v := &host.New(host.Options{Root: b.root}).View
	text, err := b.store().Restorer().Text(v, list[0])
	require.NoError(t, err)
	require.Nil(t, text)
	diff, err := b.store().Restorer().Differs(t.Context(), v, list[0])
	require.NoError(t, err)
	require.Len(t, diff, 1)
	require.Regexp(t, `^\(secret [0-9a-f]{8}\)$`, diff[0].Have)
	require.Regexp(t, `^\(secret [0-9a-f]{8}\)$`, diff[0].Want)
	require.NotEqual(t, diff[0].Have, diff[0].Want)
}

// A backup of a file that was not declared secret is encrypted if it contains a known secret.
func TestFoundInBackup(t *testing.T) {
	b := newBox(t)
	b.secrets = []string{"hunter2"}
	b.write("f", "a\nhunter2\n", 0o600)
	b.write("g", "a\n", 0o600)
	id := b.secret(file("/f", "b\n"), file("/g", "b\n"))
	require.NotContains(t, b.written(), "hunter2")
	rec, err := b.store().Record(id)
	require.NoError(t, err)
	require.True(t, rec.Changes[0].Sensitive)
	require.False(t, rec.Changes[1].Sensitive)
}

// Causes of changes are the same as without secrets, and that a value has become secret is no cause.
func TestCausesOfSecrets(t *testing.T) {
	b := newBox(t)
	must := func(want string, list ...decl) {
		t.Helper()
		b.secret(list...)
		require.Equal(t, want, b.story())
	}
	f := file("/a", "pw hunter2")
	must("/a changed new", f)
	b.secrets = []string{"hunter2"}
	b.write("a", "by hand", 0o644)
	must("/a changed corrective", f)
	must("", f)
	b.write("a", "by hand", 0o644)
	must("/a changed corrective", f)
	b.secrets = []string{"hunter3"}
	must("/a changed intended", file("/a", "pw hunter3"))
	must("", file("/a", "pw hunter3"))
	b.write("a", "by hand", 0o644)
	must("/a changed corrective", file("/a", "pw hunter3"))
	applied, err := b.store().Applied()
	require.NoError(t, err)

	// The applied catalog can be read back with its secrets.
	b.secrets = nil
	c, _, err := b.store().Catalog(applied[0], registry(t))
	require.NoError(t, err)
	require.Equal(t, []string{"content"}, c.Resources[0].Sensitive)
	require.Contains(t, c.Resources[0].Properties().Entries[2].Val.S, "hunter3")
	require.True(t, b.keeper.Contains("hunter3"))
}

// Without the key only the encrypted contents are lost.
func TestLostKey(t *testing.T) {
	b := newBox(t)
	b.secrets = []string{"hunter2"}
	b.write("f", "password = oldsecret\n", 0o640)
	one := b.secret(file("/f", "password = hunter2\n"))
	fi, err := os.Stat(filepath.Join(b.dir, "key"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode())
	require.Equal(t, int64(secret.KeySize), fi.Size())
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "key"), []byte("short"), 0o600))
	b.secret(file("/f", "password = hunter2 and more\n"))
	require.Len(t, b.warned, 1)
	require.Contains(t, b.warned[0], "not a key: everything sealed with it is lost")
	_, errs := b.restore(one)
	require.Len(t, errs, 1)
	require.ErrorContains(t, errs[0], "or the file key of the state directory differs")
	text, err := os.ReadFile(filepath.Join(b.root, "f"))
	require.NoError(t, err)
	require.Equal(t, "password = hunter2 and more\n", string(text))
}

// A state directory without secrets has neither a key nor a list of them.
func TestNothingToHide(t *testing.T) {
	b := newBox(t)
	b.write("f", "old", 0o600)
	b.must(file("/f", "new"))
	require.NoFileExists(t, filepath.Join(b.dir, "key"))
	require.NoFileExists(t, filepath.Join(b.dir, "identity"))
	require.NoFileExists(t, filepath.Join(b.dir, "sensitive.ndjson"))
	var engine converge.Engine
	require.NoError(t, b.store().Conceal(&engine))
	require.Nil(t, engine.SecretHistory)
}
