package trust

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/luaccm/ccm/runtime/safepath"
)

// openStream opens a pipe or a terminal that whoever started ccm has opened: standard
// input, or what the shell makes of <(...). It returns nil if the path names none.
func openStream(path string) *os.File {
	if !safepath.IsOpened(path) {
		return nil
	}
	f, err := believed.OpenToRead(path)
	if err != nil {
		return nil // which reading it as a file says
	}
	if fi, err := f.Stat(); err != nil || fi.Mode().IsRegular() || fi.IsDir() {
		f.Close()
		return nil
	}
	_ = f.SetReadDeadline(time.Time{})
	return f
}

// ReadStream returns what a stream holds, which must be no more than LargestText. It
// returns as soon as the context ends, whether the stream has ended or not.
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

// ReadOpened returns what a file holds that the caller has opened, and closes it. What is
// no regular file is refused, and one of more than LargestText bytes.
func ReadOpened(f *os.File, name string) ([]byte, error) {
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &os.PathError{Op: "read", Path: name, Err: fmt.Errorf("want a file, found %s", safepath.KindOf(fi))}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return safepath.ReadOpened(f, fi, name, safepath.LargestText)
}

// believed is for the files that a Policy has judged.
var believed = &safepath.Resolver{Root: "/", AnyLink: true}
