package host_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/test/tally"
)

func TestMain(m *testing.M) {
	hosttest.AttackIfAsked()
	os.Exit(m.Run())
}

// TestAdversary: root works in a user's directory while the user exchanges files in it. No file of others is changed
// or read.
func TestAdversary(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	archive := filepath.Join(t.TempDir(), "a.tar")
	require.NoError(t, os.WriteFile(archive, hosttest.Tar(t,
		hosttest.Dir("dir", 0o755), hosttest.File("dir/f", "unpacked"), hosttest.File("f", "unpacked"),
		hosttest.File("dir/dir/f", "unpacked"), hosttest.Link("l", "f"),
	), 0o600))
	out := t.TempDir()

	// seen fails if root has read a text that the adversary may not read.
	seen := func(t *testing.T, text []byte) {
		if strings.Contains(string(text), strings.TrimSpace(hosttest.Secret)) {
			t.Fatal("root was led to read a file of root")
		}
	}
	type run struct {
		t     *testing.T
		h     *host.Host
		attr  safepath.Attr // the wanted attributes
		f     string        // a file in the home directory
		inDir string        // a file in a directory below it
		dir   string        // a directory below it
		root  string        // the root of a tree in that
	}
	kinds := map[string]func(r run) error{
		"replace": func(r run) error {
			return errors.Join(r.h.WriteFile(r.f, strings.NewReader("new"), r.attr), r.h.WriteFile(r.inDir, strings.NewReader("new"), r.attr))
		},
		"batch": func(r run) error {
			b := r.h.NewBatch()
			errs := []error{
				b.File().WriteFile(r.f, strings.NewReader("new"), r.attr),
				b.File().WriteFile(r.inDir, strings.NewReader("new"), r.attr),
				b.File().WriteNewFile(filepath.Join(r.dir, "secret"), strings.NewReader("new"), r.attr),
				b.File().WriteNewFile(filepath.Join(r.root, "new"), strings.NewReader("new"), r.attr),
			}
			b.Announce(errs)
			b.Commit(errs, func(int) {})
			return errors.Join(errs...)
		},
		"remove": func(r run) error {
			return errors.Join(r.h.Remove(r.inDir), r.h.Remove(r.f), r.h.RemoveBelow(filepath.Dir(r.dir), "dir/dir/f"))
		},
		"force": func(r run) error { return errors.Join(r.h.RemoveTree(r.root), r.h.RemoveTree(r.dir)) },
		"attributes": func(r run) error {
			return errors.Join(r.h.SetAttr(r.f, r.attr), r.h.SetAttr(r.inDir, r.attr), r.h.SetAttr(r.dir, r.attr))
		},
		"directory": func(r run) error {
			return errors.Join(r.h.MakeDirectory(filepath.Join(r.dir, "new"), r.attr), r.h.MakeDirectory(filepath.Join(r.root, "new/dir"), r.attr))
		},
		"extract": func(r run) error {
			x := unpack.Options{Format: unpack.Tar, Parent: r.dir}
			err := unpack.Extract(r.t.Context(), r.h, archive, x)
			x.Parent = filepath.Dir(r.dir)
			return errors.Join(err, unpack.Extract(r.t.Context(), r.h, archive, x))
		},
		"link": func(r run) error {
			return errors.Join(r.h.Symlink("x", r.inDir), r.h.ChownLink(r.inDir, r.attr.UID, r.attr.GID), r.h.ChownLink(r.f, r.attr.UID, r.attr.GID))
		},
		"aside": func(r run) error {
			err := r.h.Backups().Make(r.inDir)
			err = errors.Join(err, r.h.WriteFile(r.inDir, strings.NewReader("new"), r.attr))
			return errors.Join(err, r.h.Backups().Rollback(r.inDir), r.h.Backups().Discard(r.inDir))
		},
		"read": func(r run) error {
			var errs []error
			for _, name := range []string{r.f, r.inDir, filepath.Join(r.dir, "secret")} {
				text, err := r.h.ReadUpTo(name, 1<<20)
				seen(r.t, text)
				_, same, err2 := r.h.LookAt(name, hosttest.Secret)
				if same {
					seen(r.t, []byte(hosttest.Secret))
				}
				src, err3 := r.h.Sources().Open(r.t.Context(), name)
				if err3 == nil {
					text, err3 = io.ReadAll(src)
					seen(r.t, text)
					src.Close()
				}
				errs = append(errs, err, err2, err3)
			}
			return errors.Join(errs...)
		},
		"edit": func(r run) error {
			e := r.h.NewEdit(t.Context(), r.inDir)
			text, err := e.Host().ReadUpTo(r.inDir, 1<<20)
			if err != nil {
				return err
			}
			seen(r.t, text)
			return errors.Join(e.Host().WriteFile(r.inDir, strings.NewReader(string(text)+"more\n"), r.attr), e.Commit())
		},
		"tree": func(r run) error {
			var errs []error
			entries, err := r.h.Sources().Tree(r.t.Context(), r.dir, safepath.MaxNames)
			errs = append(errs, err)
			for _, e := range entries {
				if e.Kind != safepath.Regular {
					continue
				}
				src, err := r.h.Sources().Open(r.t.Context(), filepath.Join(r.dir, e.Rel))
				if err == nil {
					text, e := io.ReadAll(src)
					seen(r.t, text)
					err = errors.Join(e, src.Close())
				}
				if err == nil {
					err = r.h.WriteFile(filepath.Join(out, "copy"), strings.NewReader("x"), r.attr)
				}
				errs = append(errs, err)
			}
			_, err = r.h.Tree(r.t.Context(), r.dir, safepath.MaxNames)
			return errors.Join(append(errs, err)...)
		},
	}
	for name, do := range kinds {
		t.Run(name, func(t *testing.T) {
			tries := tally.Of(t, "a user swaps files, links, pipes and directories in his own directory, and takes and locks temporary names, while root works there in 12 ways: replaces, removes, gives modes, extracts, copies and so on",
				"files and directories of root beside it keep content, mode, owner and entries, and nothing of them can be read")
			a := hosttest.NewAdversary(t, "f", "dir")
			r := run{
				t: t, h: host.New(host.Options{}), attr: safepath.Attr{UID: a.UID, GID: a.GID, Mode: 0o644},
				f: filepath.Join(a.Home, "f"), inDir: filepath.Join(a.Home, "dir/f"),
				dir: filepath.Join(a.Home, "dir"), root: filepath.Join(a.Home, "dir/dir"),
			}
			done, runs := 0, tally.Times(40, 2000)
			for range runs {
				a.Wait()
				tries.Add(1)
				if do(r) == nil {
					done++
				}
			}
			t.Logf("%d runs, %d of them did what was wanted, %d swaps", runs, done, a.Lost(t))
		})
	}
}
