package ssh

import (
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/luaccm/ccm/runtime/sha256sum"
)

// leastPart is the least bytes that are sent at a time of a program that is still being compressed.
const leastPart = 2 << 20

// A packing is a program in the form for sending. Compressed parts are sent while the rest is being
// compressed, because compressing takes about as long as sending and unpacking.
type packing struct {
	mu     sync.Mutex
	growth sync.Cond
	text   []byte // only grows
	whole  bool
	err    error
}

// pack begins to read a program, and to compress it if need be.
func pack(x *program, compressed bool) *packing {
	p := new(packing)
	p.growth.L = &p.mu
	go func() {
		err := p.fill(x, compressed)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.whole, p.err = true, err
		p.growth.Broadcast()
	}()
	return p
}

func (p *packing) fill(x *program, compressed bool) error {
	f, err := os.Open(x.file)
	if err != nil {
		return err
	}
	defer f.Close()
	into := io.Writer(p)
	var z *gzip.Writer
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	size := fi.Size()
	if compressed {
		size /= 2                                     // rough size after compression
		z, _ = gzip.NewWriterLevel(p, gzip.BestSpeed) // a valid level
		into = z
	}
	p.mu.Lock()
	p.text = make([]byte, 0, size)
	p.mu.Unlock()
	sum, err := sha256sum.Reader(io.TeeReader(f, into))
	if err == nil && z != nil {
		err = z.Close()
	}
	if err == nil && sum != x.sha256 {
		err = errChanged(x.file)
	}
	return err
}

// Write implements io.Writer.
func (p *packing) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = append(p.text, text...)
	p.growth.Broadcast()
	return len(text), nil
}

// from returns the text from an offset on: nothing at the end, otherwise all that there is so far.
// If that is little it waits for more.
func (p *packing) from(offset int) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.whole && len(p.text)-offset < leastPart {
		p.growth.Wait()
	}
	return p.text[offset:len(p.text):len(p.text)], p.err
}
