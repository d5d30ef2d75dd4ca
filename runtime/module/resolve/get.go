package resolve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/atomicfile"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/host/unpack"
	"github.com/luaccm/ccm/runtime/module"
)

// A CachedModule is the record of a module in the cache.
type CachedModule struct {
	Dir    string `json:"-"`
	Hash   string `json:"hash"`
	Tag    string `json:"tag,omitempty"`    // the tag of git
	Commit string `json:"commit,omitempty"` // the commit of git
	// TagObject is the text of an annotated tag, which may be signed.
	TagObject string `json:"tag_object,omitempty"`
	Signer    string `json:"-"`
}

// Get returns a version of a module, from the cache if it is there, else from its source.
func (r *Resolver) Get(ctx context.Context, source module.Source, version string) (*CachedModule, error) {
	if got := r.cached(source, version); got != nil {
		return got, nil
	}
	return r.fetch(ctx, source, version)
}

// GetLocked returns the version of a module that a lock has, verified against the lock. If the cache holds something
// else for that version, the source is asked again: a tag that had been moved may have been put back.
func (r *Resolver) GetLocked(ctx context.Context, m *module.LockedModule) (got *CachedModule, err error) {
	if got = r.cached(m.Source, m.Version); got == nil || isMoved(m, got) != nil {
		if got, err = r.fetch(ctx, m.Source, m.Version); err != nil {
			return nil, err
		}
	}
	return got, isMoved(m, got)
}

// isMoved returns an error unless a module is the one that the lock has.
func isMoved(m *module.LockedModule, got *CachedModule) error {
	what, have, now := "hash", m.Hash, got.Hash
	if have == now {
		what, have, now = "commit", m.Commit, got.Commit
	}
	if have == now {
		return nil
	}
	by := ""
	if got.Tag != "" {
		by = ": someone moved the tag " + got.Tag
	}
	return diag.At(diag.Pos{}, diag.Contains("lock file", "%s %s, but %s now has %s%s", what, have, m.Source, now, by)).
		WithHint("ask its publisher; to accept the new content, remove %s and run ccm mod tidy", module.LockName)
}

// fetch downloads a version of a module from its source into the cache.
func (r *Resolver) fetch(ctx context.Context, source module.Source, version string) (*CachedModule, error) {
	if err := r.makeCache(); err != nil {
		return nil, err
	}
	r.tell("getting %s %s", source, version)
	stage, err := os.MkdirTemp(filepath.Join(r.Caches[0], "tmp"), "get-")
	if err != nil {
		return nil, err
	}
	defer removeTree(stage)
	tree := filepath.Join(stage, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		return nil, err
	}
	var got *CachedModule
	if source.Git != "" {
		got, err = r.fromGit(ctx, source, version, stage, tree)
	} else {
		got, err = r.fromURL(ctx, source, version, stage, tree)
	}
	if err != nil {
		return nil, err
	}
	if got.Dir, got.Hash, err = r.place(got.Dir); err != nil {
		return nil, err
	}
	return got, r.index(source, version, got)
}

// makeCache makes the directories of the cache. As root, it refuses a path on which another user may write.
func (r *Resolver) makeCache() error {
	for _, dir := range []string{"", "h1", "index", "tmp"} {
		if err := os.MkdirAll(filepath.Join(r.Caches[0], dir), 0o755); err != nil {
			return err
		}
	}
	return r.Policy.CheckKept(r.Caches[0])
}

// indexFile returns the file of a cache with the record of a source at a version.
func indexFile(cache string, source module.Source, version string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{source.Git, source.URL, source.Folder, version}, "\x00")))
	return filepath.Join(cache, "index", hex.EncodeToString(sum[:])+".json")
}

// cached returns the record of a version from the first cache that has all its files, nil if none has.
func (r *Resolver) cached(source module.Source, version string) *CachedModule {
	for _, cache := range r.Caches {
		text, err := os.ReadFile(indexFile(cache, source, version))
		if err != nil || r.Policy.Check(cache) != nil {
			continue
		}
		got := new(CachedModule)
		if json.Unmarshal(text, got) != nil {
			continue
		}
		if got.Dir, err = module.TreeDir(cache, got.Hash); err != nil {
			continue
		}
		if have, err := module.HashDir(got.Dir); err == nil && have == got.Hash {
			return got
		}
	}
	return nil
}

// index saves the record of a source at a version.
func (r *Resolver) index(source module.Source, version string, got *CachedModule) error {
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		return err
	}
	file := indexFile(r.Caches[0], source, version)
	return atomicfile.Write(file, atomicfile.Options{Shared: true}, atomicfile.Text(append(text, '\n')))
}

// place moves the files of a module to their directory in the cache, which is named by their hash and read-only. If
// another process has already put them there, that copy is used.
func (r *Resolver) place(tree string) (dir, hash string, err error) {
	if err := seal(tree); err != nil {
		return "", "", err
	}
	if hash, err = module.HashDir(tree); err != nil {
		return "", "", err
	}
	if dir, err = module.TreeDir(r.Caches[0], hash); err != nil {
		return "", "", err
	}
	if have, err := module.HashDir(dir); err == nil && have == hash {
		return dir, hash, nil
	} else if !errors.Is(err, fs.ErrNotExist) { // the directory in the cache was tampered with
		removeTree(dir)
	}
	if err := os.Rename(tree, dir); err != nil {
		if have, hashErr := module.HashDir(dir); hashErr != nil || have != hash {
			return "", "", err
		}
		return dir, hash, nil
	}
	return dir, hash, os.Chmod(dir, 0o555)
}

// seal makes all files and directories below tree read-only, but not tree itself, which still has to be renamed.
func seal(tree string) error {
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path == tree:
			return os.Chmod(path, 0o755)
		case d.IsDir():
			return os.Chmod(path, 0o555)
		case d.Type().IsRegular():
			return os.Chmod(path, 0o444)
		}
		rel, _ := filepath.Rel(tree, path)
		return diag.OfKind(rel, "a link or special file, which is not supported in modules")
	})
}

// removeTree removes a directory with read-only directories in it.
func removeTree(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// unpackTo extracts an archive within the limits on a module.
func (r *Resolver) unpackTo(ctx context.Context, archive, dir string, format unpack.Format) error {
	return unpack.Extract(ctx, r.local(), archive, unpack.Options{Format: format, Parent: dir, MaxEntries: module.MaxFiles, MaxBytes: module.MaxBytes})
}

// local returns the machine on which this process runs.
func (r *Resolver) local() *host.Host { return r.Host }

// fromURL downloads and extracts an archive.
func (r *Resolver) fromURL(ctx context.Context, source module.Source, version, stage, tree string) (*CachedModule, error) {
	u, err := url.Parse(source.At(version))
	if err != nil {
		return nil, diag.Not(strconv.Quote(source.URL), "a URL")
	}
	archive := filepath.Join(stage, "module.tar.gz")
	if err := r.download(ctx, u, archive); err != nil {
		return nil, err
	}
	if err := r.unpackTo(ctx, archive, tree, unpack.TarGzip); err != nil {
		return nil, err
	}
	// Most archives hold one directory, named after the project and version.
	if entries, err := os.ReadDir(tree); err == nil && len(entries) == 1 && entries[0].IsDir() {
		tree = filepath.Join(tree, entries[0].Name())
	}
	if source.Folder != "" {
		tree = filepath.Join(tree, filepath.FromSlash(source.Folder))
	}
	if fi, err := os.Lstat(tree); err != nil || !fi.IsDir() {
		return nil, diag.Missing(fmt.Sprintf("directory %s", source.Folder), "in %s", fetch.RedactURL(u))
	}
	return &CachedModule{Dir: tree}, nil
}

// download writes the resource of a URL to a file.
func (r *Resolver) download(ctx context.Context, u *url.URL, to string) error {
	x := fetch.New(ctx, fetch.Request{URL: u}, module.MaxBytes)
	defer x.Close()
	if err := x.Open(r.Transport); err != nil {
		return x.Failed(err)
	}
	if err := x.CheckSize(); err != nil {
		return x.Failed(err)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, x); err != nil {
		f.Close()
		return x.Failed(err)
	}
	return f.Close()
}
