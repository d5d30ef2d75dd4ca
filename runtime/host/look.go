package host

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ReadUpTo returns the content of the regular file at the path, links followed.
// A file that holds more than limit bytes is an error, and so is anything that
// is no file: it does not wait for a pipe.
func (v *View) ReadUpTo(name string, limit int64) ([]byte, error) {
	path, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if kind := kindOf(fi); kind != Regular {
		return nil, fmt.Errorf("want a file, found %s", kind)
	}
	return readUpTo(f, limit)
}

// readUpTo reads r to its end, which must come within limit bytes.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("more than %s", FormatBytes(limit))
	}
	return b, err
}

// Fetch returns what d fetches, which must be no more than limit bytes.
func (v *View) Fetch(ctx context.Context, d Download, limit int64) ([]byte, error) {
	if d.Stall <= 0 {
		d.Stall = DefaultStall
	}
	guard, ctx := newStallGuard(ctx, d.Stall)
	defer guard.close()
	body, err := d.fetch(ctx, v, guard, limit)
	if err == nil {
		return body, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return nil, fmt.Errorf("GET %s: %w", RedactURL(d.URL), err)
}

func (d Download) fetch(ctx context.Context, v *View, guard *stallGuard, limit int64) ([]byte, error) {
	body, size, err := d.open(ctx, v.transport(), guard.reset)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if size > limit {
		return nil, fmt.Errorf("%s, more than %s", FormatBytes(size), FormatBytes(limit))
	}
	b, err := readUpTo(guard.reader(body), limit)
	if err != nil {
		return nil, truncated(err, int64(len(b)), size)
	}
	if got := SumBytes(b); d.Checksum != "" && got != d.Checksum {
		return nil, fmt.Errorf("checksum mismatch, expected %q got %q", d.Checksum, got)
	}
	return b, nil
}
