package trust

import (
	"context"

	"io"
	"os"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// openStream opens a pipe or terminal that this process has inherited: standard input, or the shell's <(...). It
// returns nil for any other path.
func openStream(path string) *os.File {
	if !safepath.IsOpened(path) {
		return nil
	}
	f, err := believed.OpenToRead(path)
	if err != nil {
		return nil // the error comes from reading it as a file
	}
	if fi, err := f.Stat(); err != nil || fi.Mode().IsRegular() || fi.IsDir() {
		f.Close()
		return nil
	}
	_ = f.SetReadDeadline(time.Time{})
	return f
}

// ReadStream returns the content of a stream of at most LargestText bytes. It returns as soon as the context ends,
// even while a read blocks.
func ReadStream(ctx context.Context, r io.Reader, name string) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := safepath.ReadUpTo(r, safepath.LargestText)
		done <- result{text, err}
	}()
	select {
	case x := <-done:
		if x.err != nil {
			return nil, &os.PathError{Op: "read", Path: name, Err: x.err}
		}
		return x.text, nil
	case <-ctx.Done():
		return nil, &os.PathError{Op: "read", Path: name, Err: context.Cause(ctx)}
	}
}

// ReadOpened returns the content of an open regular file of at most LargestText bytes, and closes it.
func ReadOpened(f *os.File, name string) ([]byte, error) {
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &os.PathError{Op: "read", Path: name, Err: diag.Expected("a file").Found("%s", safepath.KindOf(fi))}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return safepath.ReadOpened(f, fi, name, safepath.LargestText)
}

// believed resolves paths that a Policy has checked already, so it follows every link.
var believed = &safepath.Resolver{Root: "/", AnyLink: true}
