package state

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"sync"
)

// compress compresses what is written, and seals it if seal is set.
func (s *Store) compress(w io.Writer, seal bool, write func(w io.Writer) error) error {
	closing := func() error { return nil }
	if seal {
		sealer, err := s.secrets.Seal(w)
		if err != nil {
			return err
		}
		w, closing = sealer, sealer.Close
	}
	z := newCompressor(w)
	defer z.release()
	if err := write(z); err != nil {
		return err
	}
	return errors.Join(z.Close(), closing())
}

// A compressor is a gzip.Writer, of which each needs a megabyte.
type compressor struct{ *gzip.Writer }

var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// newCompressor returns what compresses to w. Release must follow.
func newCompressor(w io.Writer) compressor {
	z := compressors.Get().(*gzip.Writer)
	z.Reset(w)
	return compressor{z}
}

// release ends the use of z.
func (z compressor) release() { compressors.Put(z.Writer) }

// An object is an open content. Reading it to its end fails if its digest is not that of
// its name.
type object struct {
	s   *Store
	f   *os.File
	z   *gzip.Reader
	sum hash.Hash
	id  string
}

// openObject returns a content.
func (s *Store) openObject(id string) (io.ReadCloser, error) {
	if !isObjectID(id) {
		return nil, fmt.Errorf("want the SHA-256 of a content, got %q", id)
	}
	f, err := s.dir.Open(s.objectName(id), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	var r io.Reader = f
	if strings.HasSuffix(f.Name(), sealedSuffix) {
		r, err = s.secrets.Open(f)
	}
	z := decompressors.Get().(*gzip.Reader)
	if err == nil {
		err = z.Reset(r)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("the backup %s is damaged: %w", id, err)
	}
	return &object{s: s, f: f, z: z, sum: sha256.New(), id: id}, nil
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	n, err := o.z.Read(p)
	o.sum.Write(p[:n])
	switch {
	case err == io.EOF && !o.s.named(o.id, hex.EncodeToString(o.sum.Sum(nil))):
		return n, fmt.Errorf("the backup %s is damaged: it holds something else", o.id)
	case err != nil && err != io.EOF:
		return n, fmt.Errorf("the backup %s is damaged: %w", o.id, err)
	}
	return n, err
}

// Close implements io.Closer.
func (o *object) Close() error {
	if o.z != nil {
		decompressors.Put(o.z)
		o.z = nil
	}
	return o.f.Close()
}

// decompressors is a pool: a gzip.Reader is larger than most contents.
var decompressors = sync.Pool{New: func() any { return new(gzip.Reader) }}
