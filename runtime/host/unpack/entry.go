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

	"github.com/luaccm/ccm/runtime/host"
)

// A Format is how an archive is packed, named after its suffix.
type Format string

// The formats.
const (
	Tar     Format = ".tar"
	TarGzip Format = ".tar.gz"
	TarXz   Format = ".tar.xz"
	TarZstd Format = ".tar.zst"
	Zip     Format = ".zip"
)

// formats are the formats by the suffixes of names.
var formats = []struct {
	suffix string
	format Format
}{
	{".tar.gz", TarGzip}, {".tgz", TarGzip}, {".tar.xz", TarXz}, {".txz", TarXz}, {".tar.zst", TarZstd}, {".tzst", TarZstd},
	{".tar", Tar}, {".zip", Zip},
}

// Suffixes lists the suffixes that archives can have.
func Suffixes() string {
	var list []string
	for _, f := range formats {
		list = append(list, f.suffix)
	}
	return strings.Join(list, ", ")
}

// FormatOf returns the format that the suffix of a name stands for, or
// "". Case does not matter, and .tgz is .tar.gz.
func FormatOf(name string) Format {
	name = strings.ToLower(name)
	for _, f := range formats {
		if strings.HasSuffix(name, f.suffix) {
			return f.format
		}
	}
	return ""
}

// An entry is one thing in an archive.
type entry struct {
	name  string // as the archive has it
	kind  host.FileKind
	mode  uint32
	mtime time.Time
	// target is where a symbolic link points, or the name of the entry that a
	// hard link is another name of.
	target   string
	hardLink bool
	// unique says that the format does not let a later entry replace this one.
	unique bool
	body   io.Reader // of a file
	size   int64     // of a file, if the archive says it
	sparse bool      // whether the archive leaves out parts that are nothing but zeros
}

// readEntries calls add for each entry of the archive in f, in order.
func readEntries(f *os.File, format Format, check func() error, add func(entry) error) error {
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
	if err := readTar(src, check, add); err != nil || format == Tar {
		return err
	}
	// What comes after the last entry is read too, since the checksum of the
	// whole stands at the end. Anything after that is padding.
	if _, err := io.Copy(io.Discard, io.LimitReader(src, 64<<20)); err != nil && !errors.Is(err, gzip.ErrHeader) {
		return unreadable(err)
	}
	return nil
}

// checked returns r, from which nothing is read any more once check fails.
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

// unreadable says that an archive is not one, or only part of one.
func unreadable(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return errors.New("the archive is cut short")
	}
	return fmt.Errorf("the archive cannot be read: %w", err)
}

func readTar(r io.Reader, check func() error, add func(entry) error) error {
	tr := tar.NewReader(r)
	for n := 0; ; n++ {
		head, err := tr.Next()
		switch {
		case err == io.EOF && n == 0:
			return errors.New("the archive is empty")
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are checked by put
			return unreadable(err)
		}
		e, skip, err := tarEntry(head)
		if skip {
			continue
		}
		e.body = checked(tr, check) // a hole is read from nothing
		if err == nil {
			err = add(e)
		}
		if err != nil {
			return fmt.Errorf("entry %q: %w", head.Name, err)
		}
	}
}

// tarEntry returns what a header stands for.
func tarEntry(head *tar.Header) (e entry, skip bool, err error) {
	_, sparse := head.PAXRecords["GNU.sparse.size"]
	_, sparser := head.PAXRecords["GNU.sparse.realsize"]
	e = entry{
		name: head.Name, mode: uint32(head.Mode) & 0o7777, mtime: head.ModTime, target: head.Linkname,
		size: head.Size, sparse: sparse || sparser || head.Typeflag == tar.TypeGNUSparse,
	}
	switch head.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		e.kind = host.Regular
	case tar.TypeDir:
		e.kind = host.Directory
	case tar.TypeSymlink:
		e.kind = host.Symlink
	case tar.TypeLink:
		e.kind, e.hardLink = host.Regular, true
	case tar.TypeXGlobalHeader:
		return e, true, nil
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return e, false, errors.New("is a device or a pipe, which is not extracted")
	default:
		return e, false, fmt.Errorf("is of the unknown type %q", head.Typeflag)
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
			return errors.New("the archive is cut short or is no zip archive")
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

// maxLinkLen is how long the target of a link can be (PATH_MAX).
const maxLinkLen = 4096

func addZip(file *zip.File, check func() error, add func(entry) error) error {
	if file.Flags&1 != 0 {
		return errors.New("is encrypted")
	}
	name, err := zipName(file)
	if err != nil {
		return err
	}
	mode, kind := zipMode(file)
	e := entry{name: name, kind: kind, mode: mode, mtime: file.Modified, unique: true}
	if kind == host.Special {
		return errors.New("is a device or a pipe, which is not extracted")
	}
	body, err := file.Open()
	if err != nil {
		return unreadable(err)
	}
	defer body.Close()
	e.body, e.size = checked(body, check), int64(file.UncompressedSize64)
	if kind == host.Symlink {
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

// onUnix reports whether the archive entry was made on a system with Unix
// permissions.
func onUnix(file *zip.File) bool {
	system := file.CreatorVersion >> 8
	return system == zipUnix || system == zipMacOS
}

// zipName returns the path of a zip entry. Programs on Windows have written
// backslashes where slashes belong. On Unix a backslash is part of a name, and
// is left as it is, but never where it could be meant to lead elsewhere.
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

// zipMode returns the permissions and the kind of a zip entry. What was not
// made on Unix has none, and gets the usual ones.
func zipMode(file *zip.File) (uint32, host.FileKind) {
	bits := file.ExternalAttrs >> 16
	if !onUnix(file) || bits == 0 {
		if strings.HasSuffix(file.Name, "/") || strings.HasSuffix(file.Name, `\`) && !onUnix(file) {
			return 0o755, host.Directory
		}
		return 0o644, host.Regular
	}
	switch m := file.Mode(); {
	case m.IsDir():
		return bits & 0o7777, host.Directory
	case m&os.ModeSymlink != 0:
		return bits & 0o7777, host.Symlink
	case m.IsRegular():
		return bits & 0o7777, host.Regular
	}
	return bits & 0o7777, host.Special
}
