package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A stage is a version that is being installed.
type stage struct {
	store *store
	name  string   // of its directory, below store.dir
	root  *os.Root // its directory
}

// begin makes the directory of a version.
func (x *store) begin() (*stage, error) {
	st := &stage{store: x, name: "next" + newSuffix}
	dir := path.Join(x.dir, st.name)
	err := x.top.do("mkdir", dir, func() (err error) {
		if err = x.top.root.RemoveAll(dir); err != nil {
			return err
		}
		if err = x.top.root.Mkdir(dir, 0o700); err != nil {
			return err
		}
		st.root, err = x.top.root.OpenRoot(dir)
		return err
	})
	return st, err
}

// discard removes the stage, unless it was kept.
func (st *stage) discard() {
	st.root.Close()
	_ = st.store.top.root.RemoveAll(path.Join(st.store.dir, st.name))
}

// path returns the path of a file in the stage.
func (st *stage) path(name string) string {
	return filepath.Join(st.store.top.path, filepath.FromSlash(st.store.dir), st.name, name)
}

// unpack calls unpack to unpack a bundle into the folder of the site.
func (st *stage) unpack(unpack func(root *os.Root) (entry string, err error)) (entry string, err error) {
	err = st.store.top.do("unpack", path.Join(st.store.dir, st.name, siteDir), func() error {
		for _, name := range []string{topName, siteDir} {
			if err := st.root.Mkdir(name, 0o700); err != nil {
				return err
			}
		}
		root, err := st.root.OpenRoot(siteDir)
		if err != nil {
			return err
		}
		defer root.Close()
		entry, err = unpack(root)
		return err
	})
	return entry, err
}

// keep makes the stage the present version. It waits for a run that uses the previous one.
func (st *stage) keep(ctx context.Context, v version) error {
	x, top := st.store, st.store.top
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := st.root.WriteFile(metaFile, text, 0o600); err != nil {
		return err
	}
	if err := top.do("sync", path.Join(x.dir, st.name), func() error { return syncTree(ctx, st.root) }); err != nil {
		return err
	}
	x.use.Lock()
	defer x.use.Unlock()
	final := v.name()
	err = top.do("rename", path.Join(x.dir, final), func() error {
		if err := top.root.RemoveAll(path.Join(x.dir, final)); err != nil {
			return err
		}
		if err := top.root.Rename(path.Join(x.dir, st.name), path.Join(x.dir, final)); err != nil {
			return err
		}
		return top.syncDir(x.dir)
	})
	if err != nil {
		return err
	}
	st.name = final + newSuffix // so that discard does not remove it
	return x.activate(final, &v)
}

// receive copies a bundle or a script into the stage, and returns the file, at its beginning,
// with its SHA-256.
func (st *stage) receive(ctx context.Context, r io.Reader) (f *os.File, digest string, err error) {
	err = st.store.top.do("fetch", path.Join(st.store.dir, st.name, "packed"), func() error {
		f, err = st.root.OpenFile("packed", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		sum := sha256.New()
		limit := bundle.DefaultLimits.PackedSize
		n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(safepath.Within(ctx, r), limit+1))
		if err == nil && n > limit {
			err = diag.Exceeds("bundle", "%d bytes", limit)
		}
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		digest = hex.EncodeToString(sum.Sum(nil))
		return err
	})
	if err != nil && f != nil {
		f.Close()
		f = nil
	}
	return f, digest, err
}

// syncTree makes everything in a directory durable.
func syncTree(ctx context.Context, root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
