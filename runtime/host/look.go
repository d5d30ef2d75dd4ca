package host

import (
	"context"
	"fmt"
	"io"
)

// ReadUpTo returns the content of the regular file at the path, links followed.
// A file that holds more than limit bytes is an error, and so is anything that
// is no file: it waits neither for a pipe nor for a file of the kernel.
func (v *View) ReadUpTo(name string, limit int64) ([]byte, error) {
	if o := v.planned(); o != nil {
		return o.readUpTo(v, name, limit)
	}
	return v.files.ReadRegular(name, limit)
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
	if err := checkSize(size, limit); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(bounded(guard.reader(body), limit))
	if err != nil {
		return nil, truncated(err, int64(len(b)), size)
	}
	if got := SumBytes(b); d.Checksum != "" && got != d.Checksum {
		return nil, fmt.Errorf("checksum mismatch, expected %q got %q", d.Checksum, got)
	}
	return b, nil
}
