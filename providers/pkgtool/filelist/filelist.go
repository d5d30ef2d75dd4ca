// Package filelist reads the lists of files in packages that package managers keep: apt's Contents and the file lists of
// rpm repositories. It reads a list once, from the beginning, and keeps only what concerns the packages in question.
package filelist

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"path"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"github.com/luaccm/ccm/runtime/diag"
)

const (
	most        = 2 << 30 // largest number of bytes of a list that are read, decompressed
	mostEntries = 1 << 19 // largest number of entries that are yielded
	mostElement = 1 << 27 // largest description of one rpm package, in bytes
)

// ErrTooLong means that a list is longer than what is read of one, or has more entries.
var ErrTooLong = diag.Too("the list of files", "long")

// An Entry is a path in a package. A package of a list with versions comes first without a path.
type Entry struct {
	Package, Path string
	// Version is the version of the package; "" if the list has only one.
	Version string
	// Directory is set for a directory, Ghost for a path that the package owns and does not bring.
	Directory, Ghost bool
}

// open returns the text of a file that is compressed as the ending of its name says.
func open(name string, r io.Reader) (io.Reader, error) {
	var err error
	switch path.Ext(name) {
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".lz4":
		r = lz4.NewReader(r)
	case ".zst":
		r, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
	case ".xz":
		r, err = xz.NewReader(r)
	}
	if err != nil {
		return nil, err
	}
	return &limited{r, most}, nil
}

// A limited reader fails after n bytes.
type limited struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if l.n <= 0 {
		return 0, ErrTooLong
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.n)])
	l.n -= int64(n)
	return n, err
}

// Contents yields the files of some packages in a Contents file of apt. The ending of name is that of its compression. Its lines have
// a path and the packages that bring it:
//
//	etc/nginx/mime.types    httpd/nginx-common
//
// There are no directories in it.
func Contents(name string, r io.Reader, wants func(pkg string) bool, yield func(Entry)) error {
	r, err := open(name, r)
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(r, 1<<18)
	var pkgs map[string]bool // the last field is often that of the line before
	var last []byte
	for n := 0; n <= mostEntries; {
		line, err := lines.ReadSlice('\n')
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		line = bytes.TrimRight(line, "\n")
		at := max(bytes.LastIndexByte(line, ' '), bytes.LastIndexByte(line, '\t'))
		if at < 0 {
			continue
		}
		if field := line[at+1:]; !bytes.Equal(field, last) {
			last, pkgs = append(last[:0], field...), nil
			for one := range bytes.SplitSeq(field, []byte(",")) {
				if pkg := one[bytes.LastIndexByte(one, '/')+1:]; wants(string(pkg)) {
					if pkgs == nil {
						pkgs = make(map[string]bool)
					}
					pkgs[string(pkg)] = true
				}
			}
		}
		for pkg := range pkgs {
			n++
			yield(Entry{Package: pkg, Path: path.Join("/", string(bytes.TrimRight(line[:at], " \t")))})
		}
	}
	return ErrTooLong
}

// RPM yields the files of some packages in the filelists of a repository of rpm packages.
func RPM(name string, r io.Reader, wants func(pkg string) bool, yield func(Entry)) error {
	r, err := open(name, r)
	if err != nil {
		return err
	}
	tags := bufio.NewReaderSize(r, 1<<18)
	var element []byte // a package that is wanted; nil outside of it
	for n := 0; n <= mostEntries; {
		tag, err := tags.ReadSlice('>')
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case element == nil && !bytes.HasPrefix(bytes.TrimSpace(tag), []byte("<package ")):
			continue
		case element == nil && !wants(nameIn(tag)):
			continue
		}
		if element = append(element, tag...); len(element) > mostElement {
			return ErrTooLong
		}
		if !bytes.HasSuffix(tag, []byte("</package>")) {
			continue
		}
		if err := yieldRPM(element, func(e Entry) { n++; yield(e) }); err != nil {
			return err
		}
		element = nil
	}
	return ErrTooLong
}

// nameIn returns the attribute name of a tag, "" if there is none.
func nameIn(tag []byte) string {
	_, value, _ := bytes.Cut(tag, []byte(` name="`))
	value, _, _ = bytes.Cut(value, []byte(`"`))
	return string(value)
}

func yieldRPM(element []byte, yield func(Entry)) error {
	var pkg struct {
		Name    string `xml:"name,attr"`
		Version struct {
			Epoch   string `xml:"epoch,attr"`
			Version string `xml:"ver,attr"`
			Release string `xml:"rel,attr"`
		} `xml:"version"`
		Files []struct {
			Type string `xml:"type,attr"`
			Path string `xml:",chardata"`
		} `xml:"file"`
	}
	if err := xml.Unmarshal(element, &pkg); err != nil {
		return err
	}
	version := pkg.Version.Epoch + ":" + pkg.Version.Version + "-" + pkg.Version.Release
	yield(Entry{Package: pkg.Name, Version: version})
	for _, f := range pkg.Files {
		yield(Entry{Package: pkg.Name, Path: path.Join("/", f.Path), Version: version, Directory: f.Type == "dir", Ghost: f.Type == "ghost"})
	}
	return nil
}
