package safepath

import (
	"context"
	"io"
)

// Within returns a reader of r that fails once the context has ended. Its Close closes r, if r is an io.Closer.
func Within(ctx context.Context, r io.Reader) io.ReadCloser { return contextReader{r, ctx} }

// A contextReader is a reader with a context.
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
