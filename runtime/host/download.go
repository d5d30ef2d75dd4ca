package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"
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
	// Stall ends the download if nothing at all comes for that long; 0 means
	// DefaultStall. There is no limit on how long a download takes.
	Stall time.Duration
}

// DefaultStall is how long a server may be silent.
const DefaultStall = time.Minute

// A Progress is how far a download is.
type Progress struct {
	Path         string // of the file that is being written
	Bytes, Total int64  // Total is -1 if the server did not say
	Rate         float64
}

// String formats p as 12.3 MiB of 40.0 MiB, 3.2 MiB/s.
func (p Progress) String() string {
	s := FormatBytes(p.Bytes)
	if p.Total >= 0 {
		s += " of " + FormatBytes(p.Total)
	}
	if p.Rate > 0 {
		s += ", " + FormatBytes(int64(p.Rate)) + "/s"
	}
	return s
}

// FormatBytes formats a number of bytes for people, in units of 1024.
func FormatBytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/1024, 0
	for x >= 1024 && unit < 4 {
		x, unit = x/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", x, "KMGTP"[unit])
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
	err = h.do("download", name, func() (err error) {
		body, size, err = d.open(ctx, h.transport(), guard.reset)
		return err
	})
	if err != nil {
		return failed(err)
	}
	defer body.Close()
	guard.pause()

	tmp, err := h.Create(name, attr)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Discard())
		}
	}()
	sum := sha256.New()
	meter := h.newMeter(name, size)
	n, err := io.Copy(io.MultiWriter(tmp, sum, meter), guard.reader(body))
	if err != nil {
		return failed(truncated(err, n, size))
	}
	meter.done()
	if got := hex.EncodeToString(sum.Sum(nil)); d.Checksum != "" && got != d.Checksum {
		return failed(fmt.Errorf("checksum mismatch, expected %q got %q", d.Checksum, got))
	}
	return tmp.Commit()
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

// A stallGuard cancels a context when nothing has come for too long. It pauses
// while nothing is waited for, so that a slow disk is no stall.
type stallGuard struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelCauseFunc
}

func newStallGuard(ctx context.Context, limit time.Duration) (*stallGuard, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &stallGuard{limit: limit, cancel: cancel, timer: time.AfterFunc(limit, func() {
		cancel(fmt.Errorf("%w: nothing came for %s", ErrTimeout, limit))
	})}, ctx
}

func (g *stallGuard) reset() { g.timer.Reset(g.limit) }
func (g *stallGuard) pause() { g.timer.Stop() }

func (g *stallGuard) close() {
	g.timer.Stop()
	g.cancel(nil)
}

// reader returns r with every single Read guarded.
func (g *stallGuard) reader(r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		g.reset()
		defer g.pause()
		return r.Read(p)
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
