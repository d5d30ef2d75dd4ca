package unpack

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A Format is the format of an archive, named after its suffix.
type Format string

// The formats.
const (
	Tar     Format = ".tar"
	TarGzip Format = ".tar.gz"
	TarXz   Format = ".tar.xz"
	TarZstd Format = ".tar.zst"
	TarBzip Format = ".tar.bz2"
	Zip     Format = ".zip"
	// Those with one file, which has the name of the archive without the suffix.
	Gzip Format = ".gz"
	Xz   Format = ".xz"
	Zstd Format = ".zst"
	Bzip Format = ".bz2"
)

// formats are the formats, by the suffixes of file names.
var formats = []struct {
	suffix string
	format Format
}{
	{".tar.gz", TarGzip}, {".tgz", TarGzip}, {".tar.xz", TarXz}, {".txz", TarXz}, {".tar.zst", TarZstd}, {".tzst", TarZstd},
	{".tar.bz2", TarBzip}, {".tbz2", TarBzip}, {".tar", Tar}, {".zip", Zip},
	{".gz", Gzip}, {".xz", Xz}, {".zst", Zstd}, {".bz2", Bzip}, // after those of tar, which end alike
}

// isSingle reports whether a format holds one file without a name.
func (f Format) isSingle() bool { return f == Gzip || f == Xz || f == Zstd || f == Bzip }

// Suffixes lists the suffixes of archives.
func Suffixes() string {
	var list []string
	for _, f := range formats {
		list = append(list, f.suffix)
	}
	return strings.Join(list, ", ")
}

// FormatOf returns the format for the suffix of a name, or "". Case does not matter, and .tgz
// means .tar.gz.
func FormatOf(name string) Format {
	name = strings.ToLower(name)
	for _, f := range formats {
		if strings.HasSuffix(name, f.suffix) {
			return f.format
		}
	}
	return ""
}

// An entry is one entry of an archive.
type entry struct {
	name  string // as written in the archive
	kind  safepath.FileKind
	mode  uint32
	mtime time.Time
	// target is the target of a symbolic link, or the name of the entry to which a hard link
	// leads.
	target   string
	hardLink bool
	// unique says that in this format no later entry may replace this one.
	unique bool
	body   io.Reader // of a file
	size   int64     // of a file, if the archive tells it
	sparse bool      // the archive leaves out parts of zeros
}

// readEntries calls add for each entry of the archive in f, in order. Name is that of the archive.
func readEntries(f *os.File, name string, format Format, check func() error, add func(entry) error) error {
	if format == Zip {
		return readZip(f, check, add)
	}
	src, closeSource, err := decompressed(checked(f, check), format)
	if err == errFormat {
		return err
	}
	if err != nil {
		return unreadable(err)
	}
	defer closeSource()
	if format.isSingle() {
		name = name[:len(name)-len(format)]
		if err := add(entry{name: name, kind: safepath.Regular, mode: 0o644, body: checked(src, check)}); err != nil {
			return fmt.Errorf("entry %q: %w", name, err)
		}
		return nil
	}
	if err := readTar(src, check, add); err != nil || format == Tar {
		return err
	}
	// The rest after the last entry is read too, because the checksum is at the end. It is only
	// padding.
	if _, err := io.Copy(io.Discard, io.LimitReader(src, 64<<20)); err != nil && !errors.Is(err, gzip.ErrHeader) {
		return unreadable(err)
	}
	return nil
}

// checked returns a reader of r that stops when check fails.
func checked(r io.Reader, check func() error) io.Reader {
	return checkedReader{r, check}
}

// A checkedReader reads as long as check returns no error.
type checkedReader struct {
	from  io.Reader
	check func() error
}

// Read implements io.Reader.
func (r checkedReader) Read(p []byte) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// unreadable returns the error that an archive is damaged, truncated or no archive.
func unreadable(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return diag.Truncated("archive")
	}
	return diag.Cannot("read", "archive", err)
}

func readTar(r io.Reader, check func() error, add func(entry) error) error {
	tr := tar.NewReader(r)
	for n := 0; ; n++ {
		head, err := tr.Next()
		switch {
		case err == io.EOF && n == 0:
			return diag.Empty("archive")
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // put checks the names
			return unreadable(err)
		}
		e, skip, err := tarEntry(head)
		if skip {
			continue
		}
		e.body = checked(tr, check) // a hole reads nothing from r, so check is called here
		if err == nil {
			err = add(e)
		}
		if err != nil {
			return fmt.Errorf("entry %q: %w", head.Name, err)
		}
	}
}

// tarEntry returns the entry of a tar header.
func tarEntry(head *tar.Header) (e entry, skip bool, err error) {
	_, sparse := head.PAXRecords["GNU.sparse.size"]
	_, sparser := head.PAXRecords["GNU.sparse.realsize"]
	e = entry{
		name: head.Name, mode: uint32(head.Mode) & 0o7777, mtime: head.ModTime, target: head.Linkname,
		size: head.Size, sparse: sparse || sparser || head.Typeflag == tar.TypeGNUSparse,
	}
	switch head.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		e.kind = safepath.Regular
	case tar.TypeDir:
		e.kind = safepath.Directory
	case tar.TypeSymlink:
		e.kind = safepath.Symlink
	case tar.TypeLink:
		e.kind, e.hardLink = safepath.Regular, true
	case tar.TypeXGlobalHeader:
		return e, true, nil
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return e, false, diag.OfKind("", "a device or pipe, which is not extracted")
	default:
		return e, false, diag.OfKind("", "an entry of unknown type %q", head.Typeflag)
	}
	return e, false, nil
}

func readZip(f *os.File, check func() error, add func(entry) error) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	zr, err := zip.NewReader(f, fi.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if errors.Is(err, zip.ErrFormat) {
			return diag.Not("archive", "a zip archive, or is truncated")
		}
		return unreadable(err)
	}
	for _, file := range zr.File {
		if err := addZip(file, check, add); err != nil {
			return fmt.Errorf("entry %q: %w", file.Name, err)
		}
	}
	return nil
}

// maxLinkLen is the length limit of a link's target (PATH_MAX).
const maxLinkLen = 4096

func addZip(file *zip.File, check func() error, add func(entry) error) error {
	if file.Flags&1 != 0 {
		return diag.OfKind("", "an encrypted file")
	}
	name, err := zipName(file)
	if err != nil {
		return err
	}
	mode, kind := zipMode(file)
	e := entry{name: name, kind: kind, mode: mode, mtime: file.Modified, unique: true}
	if kind == safepath.Special {
		return diag.OfKind("", "a device or pipe, which is not extracted")
	}
	body, err := file.Open()
	if err != nil {
		return unreadable(err)
	}
	defer body.Close()
	e.body, e.size = checked(body, check), int64(file.UncompressedSize64)
	if kind == safepath.Symlink {
		target, err := io.ReadAll(io.LimitReader(e.body, maxLinkLen+1))
		if err != nil {
			return unreadable(err)
		}
		e.target = string(target)
	}
	return add(e)
}

const (
	zipUnix  = 3
	zipMacOS = 19
)

// onUnix reports whether the zip entry was made on a system with Unix permissions.
func onUnix(file *zip.File) bool {
	system := file.CreatorVersion >> 8
	return system == zipUnix || system == zipMacOS
}

// zipName returns the path of a zip entry. Some programs on Windows write backslashes for
// slashes. On Unix a backslash is part of a name and stays, but it is refused where it could lead
// elsewhere.
func zipName(file *zip.File) (string, error) {
	if !strings.Contains(file.Name, `\`) {
		return file.Name, nil
	}
	slashed := strings.ReplaceAll(file.Name, `\`, "/")
	if _, err := entryName(slashed); err != nil {
		return "", err
	}
	if onUnix(file) {
		return file.Name, nil
	}
	return slashed, nil
}

// zipMode returns the permissions and the kind of a zip entry. An entry that was not made on Unix
// gets the usual ones.
func zipMode(file *zip.File) (uint32, safepath.FileKind) {
	bits := file.ExternalAttrs >> 16
	if !onUnix(file) || bits == 0 {
		if strings.HasSuffix(file.Name, "/") || strings.HasSuffix(file.Name, `\`) && !onUnix(file) {
			return 0o755, safepath.Directory
		}
		return 0o644, safepath.Regular
	}
	switch m := file.Mode(); {
	case m.IsDir():
		return bits & 0o7777, safepath.Directory
	case m&os.ModeSymlink != 0:
		return bits & 0o7777, safepath.Symlink
	case m.IsRegular():
		return bits & 0o7777, safepath.Regular
	}
	return bits & 0o7777, safepath.Special
}
