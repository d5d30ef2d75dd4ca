package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// An executable with a bundle is the program, the bundle behind it, and a trailer that says where
// the bundle is: 16 bytes that name the format, and in 8 bytes each, little endian, where the
// bundle begins and how long it is. Systems load programs by what their headers say, and leave what
// follows alone.
const (
	trailerMark = "ccm bundle here\x01"
	trailerSize = len(trailerMark) + 2*8
)

// Trailer returns what follows a bundle that begins at an offset of an executable.
func trailer(offset, size int64) []byte {
	b := append(make([]byte, 0, trailerSize), trailerMark...)
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	return binary.LittleEndian.AppendUint64(b, uint64(size))
}

// InExecutable returns the bundle behind an executable; nil if it has none. It reads the last
// bytes of the file only.
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
		return nil, errors.New("the bundle in the executable is damaged")
	}
	return io.NewSectionReader(f, int64(offset), int64(size)), nil
}

// WriteExecutable writes a program with a bundle behind it. Of a program that has one already
// it takes the other part. The bundle is written by write.
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
		_, size, _ = old.Outer() // where it begins
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

// executables are what programs begin with: ELF and Mach-O, for one processor in either order, or
// for many.
var executables = []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xca\xfe\xba\xbe"}

// gzipMark is what a gzip file begins with (RFC 1952, section 2.3.1), with the only method that
// there is.
const gzipMark = "\x1f\x8b\x08"

// Find returns the bundle that a file is or has behind it; nil if it is something else.
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

// IsBundle reports whether something begins as a bundle does.
func IsBundle(head []byte) bool {
	return len(head) >= len(gzipMark) && string(head[:len(gzipMark)]) == gzipMark
}
