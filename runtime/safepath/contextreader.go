package safepath

import (
	"context"
	"io"
)

// Within returns r, from which nothing is read any more once the context has ended. Close closes r, if it can be
// closed.
func Within(ctx context.Context, r io.Reader) io.ReadCloser { return contextReader{r, ctx} }

// A contextReader is read until its context ends.
type contextReader struct {
	io.Reader
	ctx context.Context
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.Reader.Read(p)
}

// Close implements io.Closer.
func (c contextReader) Close() error {
	if x, ok := c.Reader.(io.Closer); ok {
		return x.Close()
	}
	return nil
}
