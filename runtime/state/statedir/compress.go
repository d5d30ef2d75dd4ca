package statedir

import (
	"compress/gzip"
	"io"
	"sync"
)

// compressors is a pool, because each takes a megabyte.
var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// Compress calls write with a writer that compresses to w (gzip, RFC 1952). If write fails, the
// output is incomplete.
func Compress(w io.Writer, write func(io.Writer) error) error {
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(w)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
