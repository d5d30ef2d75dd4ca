package unpack

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/diag"
)

// An xzGuard passes an xz stream on. It ends the stream with an error before the header of a
// block that needs more memory than maxWindow: package xz would allocate what the header says, up
// to 4 GiB. What it cannot parse it passes on, for package xz to refuse.
//
// The format is that of xz-file-format-1.2.1.txt, sections 2 and 3, and of LZMA2 as xz writes it.
type xzGuard struct {
	from      *bufio.Reader
	next      func() (left int64, err error) // parses the next part and returns its length
	remaining int64                          // bytes to pass on before next is called
	check     int64                          // size of the check at the end of each block
	size      int64                          // bytes of the block so far, without its check
}

// checkSizes are the sizes of the check by its type (section 2.1.1.2).
var checkSizes = [16]int64{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// rest is longer than any archive.
const rest = math.MaxInt64

// Read implements io.Reader.
func (g *xzGuard) Read(p []byte) (n int, err error) {
	if g.next == nil {
		g.next = g.stream
	}
	for g.remaining == 0 {
		if g.remaining, err = g.next(); err != nil {
			return 0, err
		}
	}
	n, err = g.from.Read(p[:min(int64(len(p)), g.remaining)])
	g.remaining -= int64(n)
	return n, err
}

// peek returns the next n bytes. Package xz would take an end between two blocks for the end of
// the stream.
func (g *xzGuard) peek(n int) ([]byte, error) {
	b, err := g.from.Peek(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// stream parses the header of the stream (section 2.1.1).
func (g *xzGuard) stream() (int64, error) {
	b, err := g.peek(12)
	if err != nil {
		return 0, err
	}
	g.check, g.next = checkSizes[b[7]&0xf], g.block
	return 12, nil
}

// block parses the header of a block (section 3.1), or finds the index, after which no block
// follows.
func (g *xzGuard) block() (int64, error) {
	b, err := g.peek(1)
	if err != nil || b[0] == 0 {
		return rest, err
	}
	size := (int(b[0]) + 1) * 4
	if b, err = g.peek(size); err != nil {
		return 0, err
	}
	at := b[2:]
	number := func() uint64 {
		n, length := binary.Uvarint(at)
		at = at[max(length, 0):]
		return n
	}
	for _, present := range []byte{0x40, 0x80} { // the optional sizes of the block
		if b[1]&present != 0 {
			number()
		}
	}
	for range b[1]&3 + 1 {
		const lzma2 = 0x21
		id, length := number(), number()
		if length > uint64(len(at)) {
			return rest, nil
		}
		if id == lzma2 && length == 1 && at[0] < 64 {
			if window := int64(2|at[0]&1) << (at[0]/2 + 11); window > maxWindow {
				return 0, diag.With("the memory to read it",
					diag.MustBe("at most %s", bytesize.Format(maxWindow)).Got("%s", bytesize.Format(window)))
			}
		}
		at = at[length:]
	}
	g.size, g.next = int64(size), g.chunk
	return int64(size), nil
}

// chunk parses the header of a chunk of LZMA2.
func (g *xzGuard) chunk() (left int64, err error) {
	b, err := g.peek(6)
	if err != nil {
		return 0, err
	}
	switch control := b[0]; {
	case control == 0: // the end of the block, with its padding and check
		g.size++
		g.next = g.block
		return 1 + -g.size&3 + g.check, nil
	case control <= 2:
		left = 3 + int64(binary.BigEndian.Uint16(b[1:])) + 1
	case control >= 0x80:
		left = 5 + int64(binary.BigEndian.Uint16(b[3:])) + 1
		if control >= 0xc0 {
			left++ // new properties
		}
	default:
		return rest, nil
	}
	g.size += left
	return left, nil
}
