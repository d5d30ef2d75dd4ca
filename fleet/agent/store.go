package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/luaccm/ccm/runtime/atomicfile"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// Names in the cache directory.
const (
	sourcesDir = "sources" // a directory for each source
	currentDir = "current" // in it: a link to the present version
	siteDir    = "site"    // in a version: the content of the bundle
	metaFile   = "version.json"
	topName    = ".git" // ends the search for modules, as at the top of a repository
	newSuffix  = ".new"
	keptCount  = 3 // versions of a source
)

// A cacheDir is the cache directory of an agent.
type cacheDir struct {
	root   *os.Root
	path   string
	effect func(op, path string) error // called before each change; may be nil
}

// openStore opens a cache directory, and makes a missing one.
func openStore(dir string, effect func(op, path string) error) (*cacheDir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &cacheDir{root: root, path: dir, effect: effect}, nil
}

// do calls the effect hook, and then performs the effect.
func (s *cacheDir) do(op, name string, effect func() error) error {
	if s.effect != nil {
		if err := s.effect(op, filepath.Join(s.path, name)); err != nil {
			return err
		}
	}
	return effect()
}

// writeFile replaces a file in one step. Durable says that it has to survive a loss of power.
func (s *cacheDir) writeFile(name string, text []byte, durable bool) error {
	return atomicfile.Replace(s.root, name, atomicfile.Options{Durable: durable, Effect: s.do}, atomicfile.Text(text))
}

func (s *cacheDir) syncDir(name string) error {
	d, err := s.root.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// A version is one installed version of a source.
type version struct {
	// Digest identifies the content, Revision is the server's name for it: an ETag, a digest, a
	// commit.
	Digest       string    `json:"digest"`
	Revision     string    `json:"revision,omitempty"`
	LastModified string    `json:"modified,omitempty"` // Last-Modified of HTTP
	Entry        string    `json:"entry"`
	Signer       string    `json:"signer,omitempty"`
	Signers      string    `json:"signers,omitempty"` // fingerprint of the file of allowed signers
	FetchTime    time.Time `json:"fetched"`
}

// A store keeps the versions of one source, each in a directory, with a link to the present one.
// A version is written under a temporary name and renamed when it is complete and durable; then
// the link is replaced. So whenever the agent dies, there is a complete version, or none yet.
type store struct {
	top *cacheDir
	dir string // below top

	use sync.RWMutex // read-locked while a run uses the files
	mu  sync.Mutex
	now *version // nil for none
}

// openStore opens the store of a source, by its name and everything that distinguishes it.
func (s *cacheDir) openStore(name string, parts ...string) (*store, error) {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{name}, parts...), "\x00")))
	x := &store{top: s, dir: path.Join(sourcesDir, slug(name)+"-"+hex.EncodeToString(sum[:4]))}
	if err := s.root.MkdirAll(x.dir, 0o700); err != nil {
		return nil, err
	}
	if err := x.sweep(); err != nil {
		return nil, err
	}
	text, err := s.root.ReadFile(path.Join(x.dir, currentDir, metaFile))
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	v := new(version)
	if json.Unmarshal(text, v) == nil && v.Entry != "" && fs.ValidPath(v.Entry) {
		if fi, err := s.root.Stat(path.Join(x.dir, currentDir, siteDir, v.Entry)); err == nil && fi.Mode().IsRegular() {
			x.now = v
		}
	}
	return x, nil // a damaged version is fetched again
}

// slug returns the readable part of the name of a directory.
func slug(name string) string {
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, name)
	name = strings.Trim(name, "-.")
	return name[max(0, len(name)-40):]
}

// current returns the present version; nil for none.
func (x *store) current() *version {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now
}

// take returns the present site, like Source.Take.
func (x *store) take() (Site, func(), bool) {
	x.use.RLock()
	v := x.current()
	if v == nil {
		x.use.RUnlock()
		return Site{}, nil, false
	}
	p := filepath.Join(x.top.path, x.dir, currentDir, siteDir, filepath.FromSlash(v.Entry))
	return Site{Path: p, Digest: v.Digest, Signer: v.Signer}, sync.OnceFunc(x.use.RUnlock), true
}

// name returns the name of the directory of a version.
func (v *version) name() string {
	return sha256sum.Short(v.Digest+"\x00"+v.Entry+"\x00"+v.Signers, 8)
}

// activate makes a version the present one. The caller has locked x.use.
func (x *store) activate(name string, v *version) error {
	link, temporary := path.Join(x.dir, currentDir), path.Join(x.dir, currentDir+newSuffix)
	err := x.top.do("link", link, func() error {
		if err := x.top.root.RemoveAll(temporary); err != nil {
			return err
		}
		if err := x.top.root.Symlink(name, temporary); err != nil {
			return err
		}
		if err := x.top.root.Rename(temporary, link); err != nil {
			return err
		}
		return x.top.syncDir(x.dir)
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.now = v
	x.mu.Unlock()
	return x.top.do("prune", x.dir, func() error { return x.prune(name) })
}

// confirm records the server's revision of the content that is installed already.
func (x *store) confirm(revision, modified string) error {
	x.mu.Lock()
	v := *x.now
	x.mu.Unlock()
	if v.Revision == revision && v.LastModified == modified {
		return nil
	}
	v.Revision, v.LastModified = revision, modified
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = x.top.writeFile(path.Join(x.dir, currentDir, metaFile), text, false)
	}
	if err == nil {
		x.mu.Lock()
		x.now = &v
		x.mu.Unlock()
	}
	return err
}

// prune removes the oldest versions, but not the present one.
func (x *store) prune(current string) error {
	list, err := x.entries()
	if err != nil {
		return err
	}
	type oldVersion struct {
		name string
		at   time.Time
	}
	var old []oldVersion
	for _, e := range list {
		if !e.IsDir() || e.Name() == current || strings.HasSuffix(e.Name(), newSuffix) {
			continue
		}
		if fi, err := e.Info(); err == nil {
			old = append(old, oldVersion{e.Name(), fi.ModTime()})
		}
	}
	slices.SortFunc(old, func(a, b oldVersion) int { return b.at.Compare(a.at) })
	for i, v := range old {
		if i >= keptCount-1 {
			err = errors.Join(err, x.top.root.RemoveAll(path.Join(x.dir, v.name)))
		}
	}
	return err
}

// sweep removes the leftovers of a dead agent.
func (x *store) sweep() error {
	list, err := x.entries()
	for _, e := range list {
		if strings.HasSuffix(e.Name(), newSuffix) {
			err = errors.Join(err, x.top.root.RemoveAll(path.Join(x.dir, e.Name())))
		}
	}
	return err
}

func (x *store) entries() ([]fs.DirEntry, error) {
	d, err := x.top.root.Open(x.dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}
