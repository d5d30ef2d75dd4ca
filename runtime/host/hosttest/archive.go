package hosttest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

// An ArchiveEntry is one entry of an archive for tests. Without a Typeflag it is a
// file; without a Mode it has 0644.
type ArchiveEntry struct {
	tar.Header
	Body string
}

// File returns the entry of a file.
func File(name, body string) ArchiveEntry {
	return ArchiveEntry{Header: tar.Header{Name: name}, Body: body}
}

// Link returns the entry of a symbolic link.
func Link(name, target string) ArchiveEntry {
	return ArchiveEntry{Header: tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeSymlink, Mode: 0o777}}
}

// HardLink returns the entry of a hard link.
func HardLink(name, target string) ArchiveEntry {
	return ArchiveEntry{Header: tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeLink}}
}

// Dir returns the entry of a directory.
func Dir(name string, mode int64) ArchiveEntry {
	return ArchiveEntry{Header: tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: mode}}
}

// Tar packs entries as they are, however hostile.
func Tar(t testing.TB, entries ...ArchiveEntry) []byte {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag = tar.TypeReg
		}
		if e.Mode == 0 {
			e.Mode = 0o644
		}
		e.Size = int64(len(e.Body))
		require.NoError(t, tw.WriteHeader(&e.Header))
		_, err := tw.Write([]byte(e.Body))
		require.NoError(t, err)
	}
	require.NoError(t, tw.Close())
	return buf.Bytes()
}

// Gzip compresses b.
func Gzip(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	_, err := zw.Write(b)
	require.NoError(t, err)
	require.NoError(t, zw.Close())
	return buf.Bytes()
}

// TarGzip packs entries and compresses them.
func TarGzip(t testing.TB, entries ...ArchiveEntry) []byte {
	t.Helper()
	return Gzip(t, Tar(t, entries...))
}

// TarXz packs entries and compresses them with xz.
func TarXz(t testing.TB, entries ...ArchiveEntry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := xz.NewWriter(&buf)
	require.NoError(t, err)
	_, err = w.Write(Tar(t, entries...))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// TarZstd packs entries and compresses them with zstd.
func TarZstd(t testing.TB, entries ...ArchiveEntry) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	defer w.Close()
	return w.EncodeAll(Tar(t, entries...), nil)
}

// Zip packs entries as they are. Those with a Mode are made on Unix, those
// without on another system.
func Zip(t testing.TB, entries ...ArchiveEntry) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, e := range entries {
		head := &zip.FileHeader{Name: e.Name, Method: zip.Deflate, Modified: e.ModTime}
		body := e.Body
		if e.Mode != 0 {
			head.SetMode(e.FileInfo().Mode())
		}
		if e.Typeflag == tar.TypeSymlink {
			body = e.Linkname
		}
		if e.Typeflag == tar.TypeDir {
			head.Method = zip.Store
		}
		w, err := zw.CreateHeader(head)
		require.NoError(t, err)
		_, err = w.Write([]byte(body))
		require.NoError(t, err)
	}
	require.NoError(t, zw.Close())
	return buf.Bytes()
}
