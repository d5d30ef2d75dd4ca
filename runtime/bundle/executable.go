package bundle

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
)

// An executable with a bundle is the program, then the bundle, then a trailer with the place of the
// bundle: 16 bytes that name the format, and the offset and the length of the bundle, in 8 bytes
// each, little endian. Systems load programs by their headers, and ignore the rest of the file.
const (
	trailerMark = "ccm bundle here\x01"
	trailerSize = len(trailerMark) + 2*8
)

// trailer returns the trailer of a bundle at an offset of an executable.
func trailer(offset, size int64) []byte {
	b := append(make([]byte, 0, trailerSize), trailerMark...)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	return binary.LittleEndian.AppendUint64(b, uint64(size))
}

// InExecutable returns the bundle in an executable; nil if there is none. It reads only the last
// bytes of the file.
func InExecutable(f *os.File) (*io.SectionReader, error) {
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() < int64(trailerSize) {
		return nil, err
	}
	var buf [trailerSize]byte
	end := fi.Size() - int64(trailerSize)
	if _, err := f.ReadAt(buf[:], end); err != nil {
		return nil, err
	}
	if string(buf[:len(trailerMark)]) != trailerMark {
		return nil, nil
	}
	offset := binary.LittleEndian.Uint64(buf[len(trailerMark):])
	size := binary.LittleEndian.Uint64(buf[len(trailerMark)+8:])
	if offset > uint64(end) || size != uint64(end)-offset {
		return nil, diag.Damaged("bundle in the executable", nil)
	}
	return io.NewSectionReader(f, int64(offset), int64(size)), nil
}

// WriteExecutable writes a program and then a bundle. If the program has a bundle already, that is
// left out. Write writes the new bundle.
func WriteExecutable(w io.Writer, program *os.File, write func(io.Writer) error) error {
	fi, err := program.Stat()
	if err != nil {
		return err
	}
	size := fi.Size()
	old, err := InExecutable(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program.Name(), err)
	}
	if old != nil {
		_, size, _ = old.Outer() // the offset of the earlier bundle
	}
	if _, err := io.Copy(w, io.NewSectionReader(program, 0, size)); err != nil {
		return err
	}
	counted := &countingWriter{}
	if err := write(io.MultiWriter(w, counted)); err != nil {
		return err
	}
	_, err = w.Write(trailer(size, counted.n))
	return err
}

// executables are the first bytes of programs: ELF and Mach-O, for one processor in either byte
// order, or for many.
var executables = []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe"}

// gzipMark is the beginning of a gzip file (RFC 1952, section 2.3.1), with the only existing
// method.
const gzipMark = "\x1f\x8b\x08"

// Find returns the bundle that a file is or contains; nil if there is none.
func Find(f *os.File) (*io.SectionReader, error) {
	var head [4]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if IsBundle(head[:n]) {
		fi, err := f.Stat()
		if err != nil {
			return nil, err
		}
		return io.NewSectionReader(f, 0, fi.Size()), nil
	}
	if slices.Contains(executables, string(head[:n])) {
		return InExecutable(f)
	}
	return nil, nil
}

// IsBundle reports whether head is the beginning of a bundle.
func IsBundle(head []byte) bool {
	return len(head) >= len(gzipMark) && string(head[:len(gzipMark)]) == gzipMark
}
