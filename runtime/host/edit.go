package host

import (
	"context"
	"io"
	"strings"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/safepath"
)

// An Edit collects several writes of one file and makes one write of them.
type Edit struct {
	host *Host // of the machine
	path string

	view       *Host // shows the file as written so far
	content    string
	attr       safepath.Attr
	onBehalfOf any // see Host.OnBehalfOf; of the last write
	written    bool
}

// NewEdit begins an edit of the file at the path. Code that uses the Edit's Host sees the file as
// written so far; on the machine nothing changes until Commit.
func (h *Host) NewEdit(ctx context.Context, name string) *Edit {
	e := &Edit{host: h, path: name}
	e.view = &Host{View: View{machine: h.machine, overlay: overlay.New(ctx, underlay{&View{machine: h.machine}})}, edit: e}
	return e
}

// Host returns the host through which the file is edited. Effects other than WriteFile on the
// path happen at once.
func (e *Edit) Host() *Host { return e.view }

// keep stores a write until Commit.
func (e *Edit) keep(content io.Reader, attr safepath.Attr, on any) error {
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	e.content, e.attr, e.onBehalfOf, e.written = string(text), attr, on, true
	e.view.Overlay().Assume(nil, false, overlay.PathEffect{Path: e.path, Kind: safepath.Regular, Content: &e.content, Attr: &attr})
	return nil
}

// Commit writes the file like WriteFile, unless nothing was written to it.
func (e *Edit) Commit() error {
	if !e.written {
		return nil
	}
	return e.host.OnBehalfOf(e.onBehalfOf).WriteFile(e.path, strings.NewReader(e.content), e.attr)
}

// IsPlaced reports whether the file is as Commit left it. If the look fails, it is false.
func (e *Edit) IsPlaced() bool {
	if !e.written {
		return true
	}
	info, err := e.host.Lstat(e.path)
	if err != nil || info.Kind != safepath.Regular || info.Size != int64(len(e.content)) ||
		(safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}) != e.attr {
		return false
	}
	text, err := e.host.ReadText(e.path, info.Size)
	return err == nil && text == e.content
}
