package testsystem

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/runtime/lazyregexp"
)

// neverChanges matches the paths of files with a version or checksum in their names: packages of apt and dnf, and the
// lists of packages that are stored by checksum.
var neverChanges = lazyregexp.New(`\.u?deb$|\.rpm$|/by-hash/|/[0-9a-f]{64}-[^/]*$`)

// A packageCache is an HTTP proxy that keeps packages, so that the systems of a machine download each only once.
type packageCache struct {
	dir     string
	forward http.Handler
}

// newPackageCache returns a cache in a folder, which is made. Files older than oldest are removed.
func newPackageCache(dir string, oldest time.Time) (*packageCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if info, failure := e.Info(); failure == nil && info.ModTime().Before(oldest) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // of another process that does the same
		return nil, err
	}
	c := &packageCache{dir: dir}
	c.forward = &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {}, ModifyResponse: c.keep, ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	return c, nil
}

// file returns where the answer to a request is kept, "" if it is not.
func (c *packageCache) file(r *http.Request) string {
	if r.Method != http.MethodGet || !neverChanges().MatchString(r.URL.Path) || r.URL.RawQuery != "" || r.URL.User != nil ||
		r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
		return ""
	}
	sum := sha256.Sum256([]byte(r.URL.String()))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:]))
}

func (c *packageCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name := c.file(r); name != "" {
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			w.Header().Set("Content-Type", "application/octet-stream")
			http.ServeContent(w, r, "", time.Time{}, f)
			return
		}
	}
	c.forward.ServeHTTP(w, r)
}

// keep writes an answer to the cache while the system reads it.
func (c *packageCache) keep(answer *http.Response) error {
	name := c.file(answer.Request)
	if name == "" || answer.StatusCode != http.StatusOK || answer.ContentLength < 0 {
		return nil
	}
	f, err := os.CreateTemp(c.dir, ".new-")
	if err != nil {
		return nil // the answer itself is good
	}
	answer.Body = &keptBody{ReadCloser: answer.Body, f: f, name: name, missing: answer.ContentLength}
	return nil
}

// keptBody is an answer that is written to a file. Only a complete one gets its name.
type keptBody struct {
	io.ReadCloser
	f       *os.File
	name    string
	missing int64
	err     error // of the file
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.err == nil {
		_, b.err = b.f.Write(p[:n])
	}
	b.missing -= int64(n)
	return n, err
}

func (b *keptBody) Close() error {
	err := errors.Join(b.err, b.f.Close())
	if err == nil && b.missing == 0 {
		err = os.Rename(b.f.Name(), b.name)
	}
	if err != nil || b.missing != 0 {
		_ = os.Remove(b.f.Name())
	}
	return b.ReadCloser.Close()
}
