package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/host/diskspace"
)

// A Download is what to fetch over HTTP, and how. What authorizes it, the user
// and the headers, is sent to the server of the URL only: it does not follow a
// redirect to another one, and is in no message.
type Download struct {
	// URL is http or https. A user in it is as good as Username and Password.
	URL *url.URL
	// Username and Password are for basic authentication, if Username is set.
	Username, Password string
	// Header is added to the request.
	Header map[string]string
	// Checksum is the SHA-256 of the content in hexadecimal; "" accepts any.
	Checksum string
	// Stall ends the download if for that long nothing comes, or less than a server
	// sends that means it: slowest bytes a second. 0 means DefaultStall. There is no
	// other limit on how long a download takes.
	Stall time.Duration
	// MaxBytes ends the download if more comes, or if the server says before that more
	// would; 0 means DefaultDownload.
	MaxBytes int64
}

// DefaultStall is how long a server may be silent, DefaultDownload how much it may
// send.
const (
	DefaultStall    = time.Minute
	DefaultDownload = 10 << 30
)

// slowest is how many bytes a second come at least. Less is as good as nothing: a
// server that sends a byte now and then would never come to an end.
const slowest = 100

// A Progress is how far a download is.
type Progress struct {
	Path         string // of the file that is being written
	Bytes, Total int64  // Total is -1 if the server did not say
	Rate         float64
}

// String formats p as 12.3 MiB of 40.0 MiB, 3.2 MiB/s.
func (p Progress) String() string {
	s := bytesize.Format(p.Bytes)
	if p.Total >= 0 {
		s += " of " + bytesize.Format(p.Total)
	}
	if p.Rate > 0 {
		s += ", " + bytesize.Format(int64(p.Rate)) + "/s"
	}
	return s
}

// Download replaces the file at the path by what d fetches, in one step like
// [Host.WriteFile]: the content comes into a temporary file that has the owner
// and the mode of attr already, and gets its name only after its checksum was
// found to be right.
func (h *Host) Download(ctx context.Context, name string, attr Attr, d Download) (err error) {
	if d.Stall <= 0 {
		d.Stall = DefaultStall
	}
	guard, ctx := newStallGuard(ctx, d.Stall)
	defer guard.close()
	where := RedactURL(d.URL)
	h.log.Debug("download", "path", name, "url", where)
	failed := func(err error) error {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("GET %s: %w", where, err)
	}
	var body io.ReadCloser
	var size int64
	err = h.Effect("download", name, func() (err error) {
		body, size, err = d.open(ctx, h.transport(), guard.reset)
		return err
	})
	if err != nil {
		return failed(err)
	}
	defer body.Close()
	guard.pause()
	limit := d.limit()
	if err := checkSize(size, limit); err != nil {
		return failed(err)
	}

	tmp, err := h.createUnnamed(name, attr)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Discard())
		}
	}()
	if err := diskspace.Check(tmp.fd, size); err != nil {
		return failed(err)
	}
	sum := sha256.New()
	meter := h.newMeter(name, size)
	n, err := io.Copy(io.MultiWriter(tmp, sum, meter, &diskspace.Guard{FD: tmp.fd}), bounded(guard.reader(body), limit))
	if err != nil {
		return failed(truncated(err, n, size))
	}
	meter.done()
	if got := hex.EncodeToString(sum.Sum(nil)); d.Checksum != "" && got != d.Checksum {
		return failed(fmt.Errorf("checksum mismatch, expected %q got %q", d.Checksum, got))
	}
	err = tmp.Commit()
	if _, ok := errors.AsType[*linkError](err); ok {
		err = errors.Join(tmp.copyTo(attr), tmp.Discard())
	}
	return err
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

// limit is how many bytes may come.
func (d Download) limit() int64 {
	if d.MaxBytes > 0 {
		return d.MaxBytes
	}
	return DefaultDownload
}

// checkSize reports a size, as the server says it, that is too much.
func checkSize(size, limit int64) error {
	if size > limit {
		return &SizeError{Size: size, Limit: limit}
	}
	return nil
}

// bounded returns r, from which no more comes than is taken.
func bounded(r io.Reader, limit int64) io.Reader {
	left := limit
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p[:min(int64(len(p)), left+1)])
		if left -= int64(n); left < 0 {
			return 0, &SizeError{Limit: limit}
		}
		return n, err
	})
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

// A stallGuard cancels a context when too little has come for too long. It pauses
// while nothing is waited for, so that a slow disk is no stall.
type stallGuard struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelCauseFunc
	// waited is how long it was waited for what came since the last reset, got how
	// much that is.
	waited time.Duration
	got    atomic.Int64
}

func newStallGuard(ctx context.Context, limit time.Duration) (*stallGuard, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	g := &stallGuard{limit: limit, cancel: cancel}
	g.timer = time.AfterFunc(limit, func() {
		what := "nothing"
		if got := g.got.Load(); got > 0 {
			what = "only " + bytesize.Format(got)
		}
		cancel(fmt.Errorf("%w: %s came for %s", ErrTimeout, what, limit))
	})
	return g, ctx
}

// reset begins to wait anew.
func (g *stallGuard) reset() {
	g.waited = 0
	g.got.Store(0)
	g.timer.Reset(g.limit)
}

func (g *stallGuard) pause() { g.timer.Stop() }

// came tells that n bytes came after a wait. Once enough has come it is waited anew.
func (g *stallGuard) came(n int, after time.Duration) {
	g.timer.Stop()
	g.waited += after
	if float64(g.got.Add(int64(n))) >= slowest*g.limit.Seconds() {
		g.waited = 0
		g.got.Store(0)
	}
}

func (g *stallGuard) close() {
	g.timer.Stop()
	g.cancel(nil)
}

// reader returns r with every single Read guarded.
func (g *stallGuard) reader(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		g.timer.Reset(max(g.limit-g.waited, time.Millisecond))
		begun := time.Now()
		n, err := r.Read(p)
		g.came(n, time.Since(begun))
		return n, err
	})
}

type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A meter counts what is written to it and tells how far that is.
type meter struct {
	h           *Host
	at          Progress
	begun, told time.Time
}

func (h *Host) newMeter(name string, size int64) *meter {
	return &meter{h: h, at: Progress{Path: name, Total: size}, begun: h.Now()}
}

// Write implements io.Writer. It never fails.
func (m *meter) Write(p []byte) (int, error) {
	m.at.Bytes += int64(len(p))
	if m.h.progress != nil && m.h.Now().Sub(m.told) >= 100*time.Millisecond {
		m.tell()
	}
	return len(p), nil
}

// done tells how far it is in the end.
func (m *meter) done() {
	if m.h.progress != nil {
		m.tell()
	}
}

func (m *meter) tell() {
	m.told = m.h.Now()
	if took := m.told.Sub(m.begun).Seconds(); took > 0 {
		m.at.Rate = float64(m.at.Bytes) / took
	}
	m.h.progress(m.at)
}
