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
	view *Host // shows the file as written so far
	file *editedFile
}

// An editedFile is a file whose writes an Edit collects.
type editedFile struct {
	path       string
	overlay    *overlay.View // shows the last write
	content    string
	attr       safepath.Attr
	onBehalfOf any // see Host.OnBehalfOf; of the last write
	written    bool
}

// NewEdit begins an edit of the file at the path. Code that uses the Edit's Host sees the file as
// written so far; on the machine nothing changes until Commit.
func (h *Host) NewEdit(ctx context.Context, name string) *Edit {
	f := &editedFile{path: name, overlay: overlay.New(ctx, underlay{&View{machine: h.machine}})}
	return &Edit{host: h, view: &Host{View: View{machine: h.machine, overlay: f.overlay}, edited: f}, file: f}
}

// Host returns the host through which the file is edited. Effects other than WriteFile on the
// path happen at once.
func (e *Edit) Host() *Host { return e.view }

// keep stores a write until Commit.
func (f *editedFile) keep(content io.Reader, attr safepath.Attr, on any) error {
	var text strings.Builder
	if _, err := io.Copy(&text, content); err != nil {
		return err
	}
	f.content, f.attr, f.onBehalfOf, f.written = text.String(), attr, on, true
	f.overlay.Assume(nil, false, overlay.PathEffect{Path: f.path, Kind: safepath.Regular, Content: &f.content, Attr: &attr})
	return nil
}

// Commit writes the file like WriteFile, unless nothing was written to it.
func (e *Edit) Commit() error {
	if !e.file.written {
		return nil
	}
	return e.host.OnBehalfOf(e.file.onBehalfOf).WriteFile(e.file.path, strings.NewReader(e.file.content), e.file.attr)
}

// IsPlaced reports whether the file is as Commit left it. If the look fails, it is false.
func (e *Edit) IsPlaced() bool {
	if !e.file.written {
		return true
	}
	info, err := e.host.Lstat(e.file.path)
	if err != nil || info.Kind != safepath.Regular || info.Size != int64(len(e.file.content)) ||
		(safepath.Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}) != e.file.attr {
		return false
	}
	text, err := e.host.ReadText(e.file.path, info.Size)
	return err == nil && text == e.file.content
}
