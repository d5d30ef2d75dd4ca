// Package fetch downloads http and https URLs. It follows redirects, sends credentials only to
// their own server, and fails if a server sends too much or too slowly.
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

// A Transfer is a download under way. Its reader gets the content; too much, too slow and
// truncated content are errors.
type Transfer struct {
	request Request
	method  string
	ctx     context.Context
	guard   *stallGuard
	limit   int64
	body    io.ReadCloser
	// Size is the number of bytes that the server announced, -1 if it did not.
	Size int64
	// ETag and LastModified are the validators of the content for a later Request; "" if the
	// server sent none.
	ETag, LastModified string
	received           int64
}

// New prepares a download of at most limit bytes. Open must follow, and Close.
func New(ctx context.Context, d Request, limit int64) *Transfer {
	if d.Stall <= 0 {
		d.Stall = DefaultStall
	}
	x := &Transfer{request: d, method: http.MethodGet, limit: limit}
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

// Open sends the request, follows redirects, and returns when the header of the response is
// there.
func (x *Transfer) Open(t http.RoundTripper) error {
	resp, err := x.request.open(x.ctx, t, x.method, x.guard.reset)
	x.guard.pause()
	if err != nil {
		return err
	}
	x.body, x.Size = resp.Body, resp.ContentLength
	x.ETag, x.LastModified = validator(resp.Header.Get("ETag")), validator(resp.Header.Get("Last-Modified"))
	return nil
}

// Head is Open for a response without content, of which only the header matters.
func (x *Transfer) Head(t http.RoundTripper) error {
	x.method = http.MethodHead
	return x.Open(t)
}

// validator returns a header of a response, or "" if it is too long to be a validator.
func validator(text string) string {
	if len(text) > 1000 {
		return ""
	}
	return text
}

// Failed returns an error of the transfer with the URL and, if the context has ended, the reason.
func (x *Transfer) Failed(err error) error {
	if cause := context.Cause(x.ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("%s %s: %w", x.method, RedactURL(x.request.URL), err)
}

// CheckSize returns an error if the server announces more than the limit.
func (x *Transfer) CheckSize() error {
	if x.Size > x.limit {
		return &SizeError{Size: x.Size, Limit: x.limit}
	}
	return nil
}

// CheckSum returns an error if the SHA-256 of the content is not the one of the request.
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

// A SizeError reports that a server sends more than the limit.
type SizeError struct {
	Size  int64 // announced by the server, or 0
	Limit int64
}

// Error reports how much is taken.
func (e *SizeError) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("response of %s exceeds the limit of %s", bytesize.Format(e.Size), bytesize.Format(e.Limit))
	}
	return fmt.Sprintf("response exceeds the limit of %s", bytesize.Format(e.Limit))
}

// Limit returns the number of bytes that may come.
func (d Request) Limit() int64 {
	if d.MaxBytes > 0 {
		return d.MaxBytes
	}
	return DefaultLimit
}

// truncated returns the error of a body that ended too early, with the number of bytes that came.
func truncated(err error, got, want int64) error {
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if want < 0 {
		return fmt.Errorf("connection closed after %d bytes: %w", got, err)
	}
	return fmt.Errorf("connection closed after %d of %d bytes: %w", got, want, err)
}
