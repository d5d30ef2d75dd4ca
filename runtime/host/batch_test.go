package host_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/safepath"
)

// stage begins a batch of ten files.
func stage(t *testing.T, root string, effect func(op, path string) error) *host.Batch {
	t.Helper()
	b := host.New(host.Options{Root: root, Effect: effect}).NewBatch()
	for i := range 10 {
		attr := mine([]uint32{0o644, 0o400, 0, 0o755}[i%4])
		require.NoError(t, b.File().WriteFile(fmt.Sprint("/f", i), strings.NewReader("new"), attr))
	}
	return b
}

// commit moves all files of a batch to their paths.
func commit(b *host.Batch, errs []error, placed func(n int)) []error {
	if errs == nil {
		errs = make([]error, 10_000)
	}
	b.Announce(errs)
	b.Commit(errs, placed)
	return errs
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// A batch that dies leaves no file: its files have no names before the commit.
func TestBatchLeavesNothing(t *testing.T) {
	if !safepath.MakesUnnamed() {
		t.Skip("files have names from the start")
	}
	root := t.TempDir()
	if f, err := os.OpenFile(root, syscall.O_RDWR|0o20200000, 0o600); err != nil { // O_TMPFILE
		t.Skip(err)
	} else {
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "f1"), []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".f1.ccm-new"), []byte("left by one that died"), 0o600))
	b := stage(t, root, nil)
	require.Equal(t, []string{".f1.ccm-new", "f1"}, names(t, root))
	placed := 0
	for _, err := range commit(b, nil, func(int) { placed++ }) {
		require.NoError(t, err)
	}
	require.Equal(t, 10, placed)
	require.Len(t, names(t, root), 10)
	info, err := os.Stat(filepath.Join(root, "f3"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
}

// A file whose link fails can be written alone.
func TestBatchThatCannotLink(t *testing.T) {
	root := t.TempDir()
	b := stage(t, root, func(op, _ string) error {
		if op == "link" {
			return syscall.EPERM
		}
		return nil
	})
	for _, err := range commit(b, nil, func(int) {}) {
		if err != nil { // file systems without O_TMPFILE
			require.True(t, host.IsRetryable(err))
		}
	}
	for _, name := range names(t, root) {
		require.NotContains(t, name, "ccm-new")
	}
}

// A file that somebody makes or changes while the batch waits is not replaced: it has to be converged alone, with a
// new status.
func TestBatchThatIsOvertaken(t *testing.T) {
	for _, before := range []string{"", "old"} {
		root := t.TempDir()
		path := filepath.Join(root, "f")
		if before != "" {
			require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
		}
		var told []host.PreImage
		h := host.New(host.Options{Root: root, BeforeChange: func(_ *host.View, d host.PreImage) error {
			if told = append(told, d); len(told) == 1 {
				require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o600))
			}
			return nil
		}})
		b := h.NewBatch()
		require.NoError(t, b.File().WriteFile("/f", strings.NewReader("ours"), mine(0o644)))
		errs := commit(b, nil, func(int) { t.Error("it has its place") })
		require.True(t, host.IsConflict(errs[0]))
		require.True(t, host.IsRetryable(errs[0]))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "theirs", string(text))
		require.NoError(t, h.AfterConflict().WriteFile("/f", strings.NewReader("ours"), mine(0o644)))
		require.Len(t, told, 2)
		require.EqualValues(t, len("theirs"), told[1].Size)
		require.True(t, told[1].Supersedes)
		require.Equal(t, []string{"f"}, names(t, root))
	}
}

// A batch writes files only. Other effects have to be done alone, and the staged file leaves nothing.
func TestBatchTakesFilesOnly(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "f"), []byte("old"), 0o600))
	keep := func(_ *host.View, d host.PreImage) error { return fmt.Errorf("%s is not to be touched", d.Path) }
	b := host.New(host.Options{Root: root, BeforeChange: keep, Runner: &hosttest.Runner{}}).NewBatch()
	h := b.File()
	for name, effect := range map[string]func() error{
		"SetAttr":       func() error { return h.SetAttr("/f", mine(0o640)) },
		"Remove":        func() error { return h.Remove("/f") },
		"RemoveTree":    func() error { return h.RemoveTree("/f") },
		"Symlink":       func() error { return h.Symlink("x", "/f") },
		"MakeDirectory": func() error { return h.MakeDirectory("/d", mine(0o755)) },
		"Backup":        func() error { return h.Backups().Make("/f") },
		"Create":        func() error { _, err := h.Create("/f", mine(0o640)); return err },
		"Run":           func() error { _, err := h.Run(t.Context(), host.Cmd{Argv: []string{"true"}}); return err },
	} {
		err := effect()
		require.Error(t, err, name)
		require.True(t, host.IsRetryable(err), "%s: %v", name, err)
	}
	require.NoError(t, h.WriteFile("/f", strings.NewReader("new"), mine(0o640)))
	err := h.WriteFile("/f", strings.NewReader("newer"), mine(0o640))
	require.True(t, host.IsRetryable(err))
	for _, err := range commit(b, []error{err}, func(int) { t.Error("it has its place") }) {
		require.True(t, host.IsRetryable(err))
	}
	text, err := os.ReadFile(filepath.Join(root, "f"))
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
	require.Equal(t, []string{"f"}, names(t, root))
}

// A file larger than the buffer is written completely.
func TestBatchOfLargeFiles(t *testing.T) {
	root := t.TempDir()
	b := host.New(host.Options{Root: root}).NewBatch()
	sizes := []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000}
	var all sync.WaitGroup
	for i, size := range sizes {
		h := b.File()
		all.Go(func() {
			if err := h.WriteFile(fmt.Sprint("/f", i), strings.NewReader(strings.Repeat("x", size)), mine(0o644)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.True(t, b.Concurrent())
	require.NoError(t, errors.Join(commit(b, nil, func(int) {})...))
	for i, size := range sizes {
		text, err := os.ReadFile(filepath.Join(root, fmt.Sprint("f", i)))
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("x", size), string(text))
	}
}

func mine(mode uint32) safepath.Attr {
	return safepath.Attr{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Mode: mode}
}

// The new Info of a file is announced before the commit, with its final owner, mode and times. It works for more
// directories than are held open.
func TestBatchTellsWhatComes(t *testing.T) {
	root := t.TempDir()
	var told []host.PreImage
	h := host.New(host.Options{Root: root, BeforeChange: func(_ *host.View, d host.PreImage) error {
		told = append(told, d)
		return nil
	}})
	b := h.NewBatch()
	for i := range 40 {
		dir := fmt.Sprint("/d", i/2%7)
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		content := strings.Repeat("x", i)
		write := b.File().WriteNewFile
		if i%3 == 0 {
			require.NoError(t, os.WriteFile(filepath.Join(root, dir, fmt.Sprint("f", i)), []byte("old"), 0o600))
			write = b.File().WriteFile
		}
		require.NoError(t, write(fmt.Sprintf("%s/f%d", dir, i), strings.NewReader(content), mine([]uint32{0o644, 0o600, 0o666, 0}[i%4])))
	}
	require.NoError(t, errors.Join(commit(b, nil, func(int) {})...))
	require.Len(t, told, 40)
	for _, d := range told {
		now, err := h.Lstat(d.Path)
		require.NoError(t, err)
		now.CTime = d.Next.CTime // linking has changed it
		require.Equal(t, now, *d.Next, d.Path)
	}
}

// A directory that somebody moves away during a batch does not take new files along, and no file is left in it.
func TestBatchOfMovedDirectory(t *testing.T) {
	if !safepath.MakesUnnamed() {
		t.Skip("files have names from the start")
	}
	for _, late := range []bool{false, true} {
		root := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(root, "d"), 0o755))
		move := func() {
			require.NoError(t, os.Rename(filepath.Join(root, "d"), filepath.Join(root, "moved")))
			require.NoError(t, os.Mkdir(filepath.Join(root, "d"), 0o755))
		}
		h := host.New(host.Options{Root: root})
		b := h.NewBatch()
		for i := range 8 {
			name := fmt.Sprint("/d/f", i)
			if i%2 == 0 {
				require.NoError(t, b.File().WriteNewFile(name, strings.NewReader("new"), mine(0o644)))
				continue
			}
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("old"), 0o600))
			require.NoError(t, b.File().WriteFile(name, strings.NewReader("new"), mine(0o644)))
		}
		if !late {
			move()
		}
		errs := commit(b, nil, func(n int) {
			if late && n == 3 {
				move()
			}
		})
		for _, err := range errs { // the file to replace has been moved
			require.True(t, err == nil || host.IsRetryable(err), err)
		}
		all := append(names(t, filepath.Join(root, "d")), names(t, filepath.Join(root, "moved"))...)
		for _, name := range all {
			require.NotContains(t, name, "ccm-new")
		}
		if !late {
			require.Len(t, names(t, filepath.Join(root, "d")), 8)
			require.Len(t, names(t, filepath.Join(root, "moved")), 4, "the old ones")
		}
		// The next batch does not confuse the two directories.
		b = h.NewBatch()
		for i := range 3 {
			require.NoError(t, b.File().WriteNewFile(fmt.Sprint("/d/g", i), strings.NewReader("new"), mine(0o644)))
		}
		require.NoError(t, errors.Join(commit(b, nil, func(int) {})...))
		require.Contains(t, names(t, filepath.Join(root, "d")), "g2")
	}
}
