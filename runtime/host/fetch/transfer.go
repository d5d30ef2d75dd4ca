// Package fetch gets what is behind an http or https URL: redirects are followed, what
// authorizes a request goes to its own server only, and a server that sends too much or too
// slowly is an error.
//
// Begin with [New].
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/luaccm/ccm/runtime/bytesize"
)

// A Transfer is a request under way. Who reads it gets what comes; too much, too slow and
// too early an end are errors.
type Transfer struct {
	request Request
	ctx     context.Context
	guard   *stallGuard
	limit   int64
	body    io.ReadCloser
	// Size is how many bytes the server said that it sends, -1 if it did not.
	Size int64
	// ETag and LastModified are what the server calls the content, for a later Request; "" if it said
	// nothing.
	ETag, LastModified string
	received           int64
}

// New prepares a request of which no more than limit bytes may come. Open must follow, and
// Close.
func New(ctx context.Context, d Request, limit int64) *Transfer {
	if d.Stall <= 0 {
		d.Stall = DefaultStall
	}
	x := &Transfer{request: d, limit: limit}
	x.guard, x.ctx = newStallGuard(ctx, d.Stall)
	return x
}

// Close ends the transfer.
func (x *Transfer) Close() {
	if x.body != nil {
		x.body.Close()
	}
	x.guard.close()
}

// Open sends the request, follows redirects, and returns when the head of the answer is
// there.
func (x *Transfer) Open(t http.RoundTripper) error {
	resp, err := x.request.open(x.ctx, t, x.guard.reset)
	x.guard.pause()
	if err != nil {
		return err
	}
	x.body, x.Size = resp.Body, resp.ContentLength
	x.ETag, x.LastModified = validator(resp.Header.Get("ETag")), validator(resp.Header.Get("Last-Modified"))
	return nil
}

// validator returns a header of an answer, unless it is longer than any that means it.
func validator(text string) string {
	if len(text) > 1000 {
		return ""
	}
	return text
}

// Failed returns an error as that of the transfer: it names the URL, and if the context has
// ended it says why.
func (x *Transfer) Failed(err error) error {
	if cause := context.Cause(x.ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("GET %s: %w", RedactURL(x.request.URL), err)
}

// CheckSize returns an error if the server says that it sends more than is taken.
func (x *Transfer) CheckSize() error {
	if x.Size > x.limit {
		return &SizeError{Size: x.Size, Limit: x.limit}
	}
	return nil
}

// CheckSum returns an error if the SHA-256 of what came is not that of the request.
func (x *Transfer) CheckSum(got string) error {
	if want := x.request.Checksum; want != "" && got != want {
		return fmt.Errorf("checksum mismatch, expected %q got %q", want, got)
	}
	return nil
}

// Read implements io.Reader.
func (x *Transfer) Read(p []byte) (int, error) {
	n, err := x.guard.read(x.body, p[:min(int64(len(p)), x.limit-x.received+1)])
	if x.received += int64(n); x.received > x.limit {
		return 0, &SizeError{Limit: x.limit}
	}
	return n, truncated(err, x.received, x.Size)
}

// A SizeError says that a server sends more than is taken.
type SizeError struct {
	Size  int64 // that the server said, or 0
	Limit int64
}

// Error says how much is taken.
func (e *SizeError) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("the server sends %s, and the limit is %s", bytesize.Format(e.Size), bytesize.Format(e.Limit))
	}
	return fmt.Sprintf("the server sends more than %s, which is the limit", bytesize.Format(e.Limit))
}

// Limit returns how many bytes may come.
func (d Request) Limit() int64 {
	if d.MaxBytes > 0 {
		return d.MaxBytes
	}
	return DefaultLimit
}

// truncated says of a body that ended too early how much of it there was.
func truncated(err error, got, want int64) error {
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if want < 0 {
		return fmt.Errorf("the connection ended in the middle, after %d bytes: %w", got, err)
	}
	return fmt.Errorf("the connection ended in the middle, after %d of %d bytes: %w", got, want, err)
}
