package secret

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/luaccm/ccm/runtime/diag"
)

// Sealed data is a sequence of blocks, each encrypted with AES-GCM. The key is derived from the Keeper's key and a
// random salt at the beginning. The nonce is the number of the block and a mark on the last one, so missing,
// exchanged and changed blocks are detected.

// sealHeader is the first line of sealed data.
const sealHeader = "ccm sealed 1\n"

const (
	saltSize  = 32
	blockSize = 64 << 10
)

// ErrNotSealed is the error that data is not sealed.
var ErrNotSealed = diag.Not("", "sealed")

// ErrSeal is the error that sealed data cannot be opened.
var ErrSeal = errors.New("damaged, or sealed with another key")

func (k *Keeper) aead(salt []byte) (cipher.AEAD, error) {
	sub, err := hkdf.Key(sha256.New, k.Key(), salt, "ccm seal", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(sub)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func nonce(number uint64, last bool) []byte {
	n := make([]byte, 12)
	binary.BigEndian.PutUint64(n, number)
	if last {
		n[11] = 1
	}
	return n
}

type sealer struct {
	w      io.Writer
	aead   cipher.AEAD
	buf    []byte
	number uint64
}

// Seal returns a writer that encrypts data and writes it to w. It must be closed, which does not close w.
func (k *Keeper) Seal(w io.Writer) (io.WriteCloser, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // it never fails
	aead, err := k.aead(salt)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(w, sealHeader+string(salt)); err != nil {
		return nil, err
	}
	return &sealer{w: w, aead: aead, buf: make([]byte, 0, blockSize+aead.Overhead())}, nil
}

// Write implements io.Writer.
func (s *sealer) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(s.buf) == blockSize { // there is more, so this is not the last
			if err := s.flush(false); err != nil {
				return n, err
			}
		}
		k := min(blockSize-len(s.buf), len(p))
		s.buf = append(s.buf, p[:k]...)
		p, n = p[k:], n+k
	}
	return n, nil
}

func (s *sealer) flush(last bool) error {
	_, err := s.w.Write(s.aead.Seal(s.buf[:0], nonce(s.number, last), s.buf, nil))
	s.number, s.buf = s.number+1, s.buf[:0]
	return err
}

// Close writes the last block.
func (s *sealer) Close() error { return s.flush(true) }

type opener struct {
	r         *bufio.Reader
	aead      cipher.AEAD
	buf       []byte
	remaining []byte // of the block, not read yet
	number    uint64
	done      bool
}

// Open returns a reader of sealed data.
func (k *Keeper) Open(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, blockSize+64)
	head := make([]byte, len(sealHeader)+saltSize)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(sealHeader)]) != sealHeader {
		return nil, ErrNotSealed
	}
	aead, err := k.aead(head[len(sealHeader):])
	if err != nil {
		return nil, err
	}
	return &opener{r: in, aead: aead, buf: make([]byte, blockSize+aead.Overhead())}, nil
}

// Read implements io.Reader.
func (o *opener) Read(p []byte) (int, error) {
	for len(o.remaining) == 0 {
		if o.done {
			return 0, io.EOF
		}
		n, err := io.ReadFull(o.r, o.buf)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, fmt.Errorf("%w: %w", ErrSeal, err)
		}
		_, more := o.r.Peek(1)
		o.done = more != nil
		if o.remaining, err = o.aead.Open(o.buf[:0], nonce(o.number, o.done), o.buf[:n], nil); err != nil {
			return 0, ErrSeal
		}
		o.number++
	}
	n := copy(p, o.remaining)
	o.remaining = o.remaining[n:]
	return n, nil
}
