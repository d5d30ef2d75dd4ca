package filelist

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// The LZ4 frame format, in which apt keeps its lists.
const (
	lz4Magic     = 0x184D2204
	lz4Window    = 64 << 10 // largest distance of a match
	lz4MostBlock = 4 << 20  // largest block
)

var errLZ4 = errors.New("damaged lz4 data")

// An lz4Reader decompresses an LZ4 frame. It skips checksums: damaged text is only not found.
type lz4Reader struct {
	r *bufio.Reader
	// buf has the window and, from next on, text that was not read yet.
	buf  []byte
	next int
	// block is the compressed block.
	block []byte
	flags byte
	open  bool // within a frame
}

func newLZ4Reader(r io.Reader) *lz4Reader { return &lz4Reader{r: bufio.NewReaderSize(r, 1<<16)} }

// Read implements io.Reader.
func (z *lz4Reader) Read(p []byte) (int, error) {
	for z.next == len(z.buf) {
		if err := z.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, z.buf[z.next:])
	z.next += n
	return n, nil
}

// fill decompresses the next block.
func (z *lz4Reader) fill() error {
	if !z.open {
		if err := z.header(); err != nil {
			return err
		}
	}
	size, err := z.number()
	if err != nil {
		return err
	}
	if size == 0 { // the end of the frame
		z.open = false
		return z.skip(z.flags&4 != 0)
	}
	plain, size := size>>31 == 1, size&(1<<31-1)
	if size > lz4MostBlock {
		return errLZ4
	}
	if cap(z.block) < int(size) {
		z.block = make([]byte, size)
	}
	z.block = z.block[:size]
	if _, err := io.ReadFull(z.r, z.block); err != nil {
		return noEOF(err)
	}
	if err := z.skip(z.flags&16 != 0); err != nil {
		return err
	}
	if keep := max(0, len(z.buf)-lz4Window); keep > 0 {
		z.buf = z.buf[:copy(z.buf, z.buf[keep:])]
	}
	z.next = len(z.buf)
	if plain {
		z.buf = append(z.buf, z.block...)
		return nil
	}
	z.buf, err = appendLZ4(z.buf, z.block)
	return err
}

// header reads the header of a frame. At the end of the text it returns io.EOF.
func (z *lz4Reader) header() error {
	magic, err := z.number()
	if err != nil {
		if z.buf != nil && errors.Is(err, io.ErrUnexpectedEOF) {
			return io.EOF
		}
		return err
	}
	if magic != lz4Magic {
		return errLZ4
	}
	var head [2]byte
	if _, err := io.ReadFull(z.r, head[:]); err != nil {
		return noEOF(err)
	}
	z.flags, z.open = head[0], true
	more := 1 // the checksum of the header
	if z.flags&8 != 0 {
		more += 8
	}
	if z.flags&1 != 0 {
		more += 4
	}
	_, err = z.r.Discard(more)
	return noEOF(err)
}

func (z *lz4Reader) number() (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(z.r, b[:])
	return binary.LittleEndian.Uint32(b[:]), noEOF(err)
}

func (z *lz4Reader) skip(checksum bool) error {
	if !checksum {
		return nil
	}
	_, err := z.number()
	return err
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendLZ4 appends the text of a compressed block to out, which has the window before it.
func appendLZ4(out, in []byte) ([]byte, error) {
	limit := len(out) + lz4MostBlock
	length := func(n int) (int, bool) {
		if n != 15 {
			return n, true
		}
		for len(in) > 0 {
			b := in[0]
			in = in[1:]
			if n += int(b); b != 255 {
				return n, true
			}
		}
		return 0, false
	}
	for len(in) > 0 {
		token := in[0]
		in = in[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(in) {
			return out, errLZ4
		}
		out, in = append(out, in[:n]...), in[n:]
		if len(in) == 0 {
			break // the last sequence has no match
		}
		if len(in) < 2 {
			return out, errLZ4
		}
		back := int(in[0]) | int(in[1])<<8
		in = in[2:]
		if n, ok = length(int(token & 15)); !ok || back == 0 || back > len(out) || len(out)+n+4 > limit {
			return out, errLZ4
		}
		n += 4
		for n > 0 { // a match may overlap itself
			from := len(out) - back
			some := min(n, back)
			out = append(out, out[from:from+some]...)
			n -= some
		}
	}
	return out, nil
}
