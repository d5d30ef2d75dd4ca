package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/luaccm/ccm/runtime/bytesize"
	"github.com/luaccm/ccm/runtime/host/diskspace"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/sha256sum"
)

// A Progress reports how far a download has come.
type Progress struct {
	Path         string // of the written file
	Bytes, Total int64  // Total is -1 if unknown
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

// Download replaces the file at the path by what d fetches, in one step like [Host.WriteFile].
// The content goes to a temporary file with the final owner and mode. That file is moved to the
// path only if its checksum is right.
func (h *Host) Download(ctx context.Context, name string, attr safepath.Attr, d fetch.Request) (err error) {
	x := fetch.New(ctx, d, d.Limit())
	defer x.Close()
	h.log.Debug("download", "path", name, "url", fetch.RedactURL(d.URL))
	if err := h.Effect("download", name, func() error { return x.Open(h.transport()) }); err != nil {
		return x.Failed(err)
	}
	if err := x.CheckSize(); err != nil {
		return x.Failed(err)
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
	if err := diskspace.Check(tmp.fd, x.Size); err != nil {
		return x.Failed(err)
	}
	sum := sha256.New()
	meter := &meter{h: h, at: Progress{Path: name, Total: x.Size}, startTime: h.Now()}
	if _, err := io.Copy(io.MultiWriter(tmp, sum, meter, &diskspace.Guard{FD: tmp.fd}), x); err != nil {
		return x.Failed(err)
	}
	meter.done()
	if err := x.CheckSum(hex.EncodeToString(sum.Sum(nil))); err != nil {
		return x.Failed(err)
	}
	err = tmp.Commit()
	if _, ok := errors.AsType[*linkError](err); ok {
		err = errors.Join(tmp.copyTo(attr), tmp.Discard())
	}
	return err
}

// Fetch returns what d fetches, at most limit bytes.
func (v *View) Fetch(ctx context.Context, d fetch.Request, limit int64) ([]byte, error) {
	x := fetch.New(ctx, d, limit)
	defer x.Close()
	text, err := receive(v, x)
	if err != nil {
		return nil, x.Failed(err)
	}
	return text, nil
}

// receive returns the whole content of a transfer.
func receive(v *View, x *fetch.Transfer) ([]byte, error) {
	if err := x.Open(v.transport()); err != nil {
		return nil, err
	}
	if err := x.CheckSize(); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(x)
	if err != nil {
		return nil, err
	}
	return text, x.CheckSum(sha256sum.Bytes(text))
}

// A meter counts the written bytes and reports the progress.
type meter struct {
	h                     *Host
	at                    Progress
	startTime, reportTime time.Time
}

// Write implements io.Writer. It never fails.
func (m *meter) Write(p []byte) (int, error) {
	m.at.Bytes += int64(len(p))
	if m.h.progress != nil && m.h.Now().Sub(m.reportTime) >= 100*time.Millisecond {
		m.tell()
	}
	return len(p), nil
}

// done reports the final progress.
func (m *meter) done() {
	if m.h.progress != nil {
		m.tell()
	}
}

func (m *meter) tell() {
	m.reportTime = m.h.Now()
	if took := m.reportTime.Sub(m.startTime).Seconds(); took > 0 {
		m.at.Rate = float64(m.at.Bytes) / took
	}
	m.h.progress(m.at)
}
