// Package backup keeps the contents of files that were overwritten or removed. A content stays
// until its room is needed or no run names it any more.
//
// Begin with [Store], and [Writer] for one run.
package backup

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/secret"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A Store has the contents in a state directory: compressed files named after the SHA-256 of
// their content. A content with secrets is encrypted with age to the identity of the machine, and
// its name is a keyed digest of the SHA-256. Equal contents are stored once. Small contents of earlier
// runs are in packs; one that is stored again has a copy there until the next cleanup.
type Store struct {
	Dir     *statedir.Dir
	Secrets *secret.Keeper
	// NeedKey makes sure that the key of Secrets is on disk.
	NeedKey func() error
	// Bytes bounds the space that all contents take on disk together, in bytes. Object bounds the size
	// of one.
	Bytes, Object int64
	// Runs returns the runs that are on record, oldest first.
	Runs func() ([]RunContents, error)
	Now  func() time.Time

	machine *age.X25519Identity // nil until it was read
	packs   packs
}

// RunContents has the contents that one run stored.
type RunContents struct {
	ID       string
	Start    time.Time // zero if unknown
	Contents []string  // the IDs of the contents
	// Damaged is set if the run may have stored more.
	Damaged bool
}

const contentsDir = "objects"

// The suffixes of files with contents.
const (
	clearSuffix     = ".gz"
	encryptedSuffix = ".gz.age"
	sealedSuffix    = ".sealed" // written by versions of ccm before encryptedSuffix
)

func contentFile(id, suffix string) string { return filepath.Join(contentsDir, id[:2], id+suffix) }

// suffixes are those of files with contents, the most frequent first: to look for another one takes five system calls.
var suffixes = []string{clearSuffix, encryptedSuffix, sealedSuffix}

// file returns the name of the file that a content has of its own.
func (s *Store) file(id string) string {
	for _, suffix := range suffixes {
		if name := contentFile(id, suffix); s.Dir.Has(name) {
			return name
		}
	}
	return contentFile(id, clearSuffix)
}

// A source reads the bytes of a content as they are on disk.
type source struct {
	io.Reader
	io.Closer
	suffix string
}

// openFile opens a content that has a file of its own.
func (s *Store) openFile(id string) (src source, err error) {
	likely := suffixes
	if x, ok := s.knownPlace(id); ok { // then it rarely has a file of its own
		likely = suffixes[x.suffix : x.suffix+1]
	}
	for _, suffix := range likely {
		var f *os.File
		if f, err = s.Dir.Open(contentFile(id, suffix), os.O_RDONLY); !errors.Is(err, os.ErrNotExist) {
			return source{f, f, suffix}, err
		}
	}
	return source{}, err
}

// secretID returns the ID of a content with secrets, given its SHA-256.
func (s *Store) secretID(sum string) string { return s.Secrets.Digest("content", sum) }

// IsNamed reports whether id is the ID of the content with that SHA-256.
func (s *Store) IsNamed(id, sum string) bool { return id == sum || id == s.secretID(sum) }

// isID reports whether id is a SHA-256 in hexadecimal.
func isID(id string) bool {
	return len(id) == 2*sha256.Size && strings.Trim(id, "0123456789abcdef") == ""
}

// each calls f for every file of the store but packs. A file that is no content has the ID "".
func (s *Store) each(f func(id, name string, size int64) error) error {
	dirs, err := s.Dir.List(contentsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, d := range dirs {
		if !d.IsDir() || d.Name() == filepath.Base(packsDir) || err != nil {
			continue
		}
		dir := filepath.Join(contentsDir, d.Name())
		files, e := s.Dir.List(dir)
		if err = e; err != nil {
			break
		}
		for _, file := range files {
			name := filepath.Join(dir, file.Name())
			fi, e := s.Dir.Stat(name)
			if e != nil {
				return e
			}
			id, suffix, _ := strings.Cut(file.Name(), ".")
			if !slices.Contains(suffixes, "."+suffix) || !isID(id) {
				id = ""
			}
			if err := f(id, name, fi.Size); err != nil {
				return err
			}
		}
	}
	return err
}

// A content is an open content. Reading it to its end fails if its digest does not match its ID.
type content struct {
	s   *Store
	src source
	z   *gzip.Reader
	sum hash.Hash
	id  string
}

// Open returns a content. The error wraps [os.ErrNotExist] if it was removed.
func (s *Store) Open(id string) (io.ReadCloser, error) {
	if !isID(id) {
		return nil, diag.Expected("the SHA-256 of a content").Got("%q", id)
	}
	src, err := s.openFile(id)
	if errors.Is(err, os.ErrNotExist) {
		if packed, e := s.openPacked(id); !errors.Is(e, os.ErrNotExist) {
			src, err = packed, e
		}
	}
	if err != nil {
		return nil, err
	}
	return s.decode(id, src)
}

// decode returns the content that a source has, and closes the source if that fails.
func (s *Store) decode(id string, src source) (_ io.ReadCloser, err error) {
	r := src.Reader
	switch src.suffix {
	case encryptedSuffix:
		r, err = s.decrypt(r)
	case sealedSuffix:
		r, err = s.Secrets.Open(r)
	}
	z := decompressors.Get().(*gzip.Reader)
	if err == nil {
		err = z.Reset(r)
	}
	if err != nil {
		src.Close()
		return nil, diag.Damaged(fmt.Sprintf("backup %s", id), err)
	}
	return &content{s: s, src: src, z: z, sum: sha256.New(), id: id}, nil
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.z.Read(p)
	c.sum.Write(p[:n])
	switch {
	case errors.Is(err, io.EOF) && !c.s.IsNamed(c.id, hex.EncodeToString(c.sum.Sum(nil))):
		return n, diag.Damaged(fmt.Sprintf("backup %s", c.id), diag.Mismatch("its content", "its digest%s", c.orKey()))
	case err != nil && !errors.Is(err, io.EOF):
		return n, diag.Damaged(fmt.Sprintf("backup %s", c.id), err)
	}
	return n, err
}

// orKey returns the other possible reason for a content that does not match its ID. The ID of a
// content with secrets depends on the key of the state directory.
func (c *content) orKey() string {
	if c.src.suffix == encryptedSuffix {
		return ", or the file key of the state directory differs"
	}
	return ""
}

// Close implements io.Closer.
func (c *content) Close() error {
	if c.z != nil {
		decompressors.Put(c.z)
		c.z = nil
	}
	return c.src.Close()
}

// decompressors is a pool, because a gzip.Reader is larger than most contents.
var decompressors = sync.Pool{New: func() any { return new(gzip.Reader) }}
