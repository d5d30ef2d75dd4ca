package unpack_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A copySource is a directory with files, directories, and a hole.
func copySource(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for i := range 12 {
		require.NoError(t, os.MkdirAll(fmt.Sprintf("%s/d%d/e", dir, i%3), 0o755))
		require.NoError(t, os.WriteFile(fmt.Sprintf("%s/d%d/e/f%d", dir, i%3, i), []byte(strings.Repeat("x", i)), 0o640))
	}
	require.NoError(t, os.WriteFile(dir+"/large", []byte(strings.Repeat("large", 40_000)), 0o600))
	require.NoError(t, os.WriteFile(dir+"/hole", nil, 0o644))
	require.NoError(t, os.Truncate(dir+"/hole", 1<<20))
	require.NoError(t, os.WriteFile(dir+"/set", []byte("id"), 0o755))
	require.NoError(t, os.Chmod(dir+"/set", 0o755|fs.ModeSetuid))
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		names = append(names, rel)
		return err
	}))
	return dir, names
}

// sourceAttr gives files the mode of their source and directories 0750.
func sourceAttr(source, _ safepath.Info, _ safepath.Attr) safepath.Attr {
	a := safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: source.Mode}
	if source.Kind == safepath.Directory {
		a.Mode = 0o750
	}
	return a
}

// A new tree appears in one step, and so do new parts of an existing tree; existing files are replaced.
func TestCopyTree(t *testing.T) {
	source, names := copySource(t)
	want := below(t, source)
	for k, v := range want {
		if strings.HasPrefix(v, "d") {
			want[k] = "drwxr-x---"
		}
	}
	var ops map[string]int
	var told []host.PreImage
	root := t.TempDir()
	h := host.New(host.Options{
		Root:         root,
		Effect:       func(op, _ string) error { ops[op]++; return nil },
		BeforeChange: func(_ *host.View, d host.PreImage) error { told = append(told, d); return nil },
	})
	copyAll := func(names []string) {
		ops, told = make(map[string]int), nil
		require.NoError(t, unpack.CopyTree(t.Context(), h, unpack.Copy{Source: source, Directory: "/srv/www", Names: names, Attr: sourceAttr}))
	}
	copyAll(names)
	require.Equal(t, want, below(t, root+"/srv/www"))
	require.Equal(t, 1, ops["rename"])
	require.Equal(t, 1, ops["sync"])
	require.Len(t, told, len(names)+1) // and /srv
	for _, d := range told {
		require.Equal(t, safepath.Missing, d.Kind)
		if info, err := h.Lstat(d.Path); d.Next != nil {
			require.NoError(t, err)
			info.CTime = d.Next.CTime // changed by the mode and the rename
			require.Equal(t, info, *d.Next)
		}
	}
	var st fs.FileInfo
	st, err := os.Stat(root + "/srv/www/hole")
	require.NoError(t, err)
	require.Less(t, blocks(st)*512, int64(1<<20), "a copy of a sparse file has holes")

	// One file differs, one directory is missing, and one with few files is incomplete.
	require.NoError(t, os.WriteFile(root+"/srv/www/large", []byte("old"), 0o600))
	require.NoError(t, os.RemoveAll(root+"/srv/www/d0"))
	require.NoError(t, os.Remove(root+"/srv/www/d1/e/f1"))
	copyAll([]string{"large", "d0", "d0/e", "d0/e/f0", "d0/e/f3", "d0/e/f6", "d0/e/f9", "d1/e/f1"})
	require.Equal(t, want, below(t, root+"/srv/www"))
	require.NoError(t, os.RemoveAll(root+"/srv/www/d0"))
	require.NoError(t, os.RemoveAll(root+"/srv/www/d2"))
	copyAll([]string{"d0", "d0/e", "d0/e/f0", "d0/e/f3", "d0/e/f6", "d0/e/f9", "d2", "d2/e", "d2/e/f2", "d2/e/f5", "d2/e/f8", "d2/e/f11"})
	require.Equal(t, want, below(t, root+"/srv/www"))
	require.Equal(t, 2, ops["rename"])
	require.Equal(t, 1, ops["sync"])
}

// If any step fails or the process dies after it, the tree is complete or missing, and the next copy completes it.
func TestCopyTreeFailingAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("fails at each step: make test-all")
	}
	source, names := copySource(t)
	for _, more := range []int{1, 1 << 30} { // one step fails; the process dies
		for n := 1; ; n++ {
			effect, asked := hosttest.Failing(n, more)
			root := t.TempDir()
			require.NoError(t, os.Mkdir(root+"/srv", 0o755))
			c := unpack.Copy{Source: source, Directory: "/srv/www", Names: names, Attr: sourceAttr}
			err := unpack.CopyTree(t.Context(), host.New(host.Options{Root: root, Effect: effect}), c)
			if asked() < n {
				require.NoError(t, err)
				require.Greater(t, n, 30)
				break
			}
			require.ErrorIs(t, err, hosttest.ErrInjected)
			copied := func() int {
				snap := below(t, root+"/srv")
				maps.DeleteFunc(snap, func(k, _ string) bool { return strings.HasPrefix(k, ".www.ccm-extract") }) // RemoveLeftover removes these
				return len(snap)
			}
			require.Contains(t, []int{0, len(names)}, copied(), "step %d", n)
			require.NoError(t, unpack.CopyTree(t.Context(), host.New(host.Options{Root: root}), c))
			require.Equal(t, len(names), copied(), "step %d", n)
		}
	}
}

// A file in the way is kept, and anything but files and directories is not copied.
func TestCopyTreeRefuses(t *testing.T) {
	source, names := copySource(t)
	for what, c := range map[string]struct {
		prepare func(root string) error
		names   []string
		err     string
	}{
		"a file at the place of a directory": {func(root string) error { return os.WriteFile(root+"/www", []byte("mine"), 0o644) }, names, "/www: expected a directory, found a file"},
		"a link at the place":                {func(root string) error { return os.Symlink("elsewhere", root+"/www") }, names, "/www: expected a directory, found a symbolic link"},
		"a directory at the place of a file": {func(root string) error { return os.MkdirAll(root+"/www/large", 0o755) }, []string{"large"}, "/www/large: expected a file, found a directory"},
		"a path that leads out":              {nil, []string{"../x"}, "is a path with .."},
		"a source that is gone":              {nil, append([]string{"gone"}, names...), "no such file"},
		"a link in the source":               {func(string) error { return os.Symlink("large", source+"/link") }, append([]string{"link"}, names...), "expected files and directories, found a symbolic link"},
	} {
		t.Run(what, func(t *testing.T) {
			root := t.TempDir()
			if c.prepare != nil {
				require.NoError(t, c.prepare(root))
			}
			before := below(t, root)
			err := unpack.CopyTree(t.Context(), host.New(host.Options{Root: root}), unpack.Copy{Source: source, Directory: "/www", Names: c.names, Attr: sourceAttr})
			require.ErrorContains(t, err, c.err)
			require.Equal(t, before, below(t, root))
		})
	}
	// Somebody makes a file there after the check.
	root := t.TempDir()
	h := host.New(host.Options{Root: root, Effect: func(op, path string) error {
		if op == "rename" && path == "/www" {
			return os.WriteFile(root+"/www", []byte("mine"), 0o644)
		}
		return nil
	}})
	err := unpack.CopyTree(t.Context(), h, unpack.Copy{Source: source, Directory: "/www", Names: names[:3], Attr: sourceAttr})
	require.ErrorIs(t, err, fs.ErrExist)
	require.Equal(t, map[string]string{"www": "-rw-r--r-- mine"}, below(t, root))
}

// blocks returns the disk space of a file in blocks of 512 bytes.
func blocks(fi fs.FileInfo) int64 { return fi.Sys().(*syscall.Stat_t).Blocks }

// laterClock is an hour ahead, so that a new file is old enough for its stat data to be reliable.
type laterClock struct{}

func (laterClock) Now() time.Time { return time.Now().Add(time.Hour) }

// A copy is compared by its digest without reading it; later changes of copy or source are still detected.
func TestCopyIsComparedByItsDigest(t *testing.T) {
	source, root := t.TempDir(), t.TempDir()
	for i := range 12 {
		require.NoError(t, os.WriteFile(fmt.Sprintf("%s/f%02d", source, i), []byte("text"), 0o644))
	}
	h := host.New(host.Options{Root: root, Clock: laterClock{}})
	require.NoError(t, unpack.CopyTree(t.Context(), h, unpack.Copy{Source: source, Directory: "/new", Names: []string{".", "f00", "f01", "f02", "f03"}, Attr: sourceAttr}))
	differing := func() (list []string) {
		every := func(safepath.TreeEntry) (bool, error) { return true, nil }
		require.NoError(t, h.Sources().CompareTree(t.Context(), source, "/new", every, func(p host.TreePair) error {
			if p.Target.Kind == safepath.Regular && p.Differs {
				list = append(list, p.Rel)
			}
			return nil
		}))
		return list
	}
	require.True(t, h.Sources().IsSummed(source+"/f01"))
	require.Empty(t, differing())
	require.NoError(t, os.WriteFile(root+"/new/f01", []byte("TEXT"), 0o644))
	require.NoError(t, os.WriteFile(source+"/f02", []byte("TEXT"), 0o644))
	require.NoError(t, os.Chtimes(source+"/f02", time.Unix(1, 0), time.Unix(1, 0)))
	require.Equal(t, []string{"f01", "f02"}, differing())
}

// Names that sort before "." come after the directory itself.
func TestCopyTreeNamesBeforeDot(t *testing.T) {
	source := t.TempDir()
	names := []string{"."}
	for _, name := range []string{" a", "!b", "#c", "(group)", "+page", ",d", "-x", "$", "%", "&", "'", "*", "e"} {
		require.NoError(t, os.MkdirAll(filepath.Join(source, "dir "+name, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(source, name), []byte(name), 0o640))
		require.NoError(t, os.WriteFile(filepath.Join(source, "dir "+name, name, name), []byte(name), 0o640))
		names = append(names, name, "dir "+name, filepath.Join("dir "+name, name), filepath.Join("dir "+name, name, name))
	}
	for _, some := range [][]string{names, names[:2], append(names[1:7:7], ".")} {
		root := t.TempDir()
		h := host.New(host.Options{Root: root})
		c := unpack.Copy{Source: source, Directory: "/dst", Names: some, Attr: sourceAttr}
		require.NoError(t, unpack.CopyTree(t.Context(), h, c), "%q", some)
		require.NoError(t, unpack.CopyTree(t.Context(), h, c), "again: %q", some)
		require.FileExists(t, root+"/dst/ a")
	}
}
