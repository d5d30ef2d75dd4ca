package host

import (
	"context"
	"io"
	"strings"

	"github.com/luaccm/ccm/runtime/host/overlay"
)

// An Edit takes what is written to one file, one after the other, and makes one
// write of it.
type Edit struct {
	host *Host // on the machine itself
	path string

	view       *Host // on which the file holds what was written so far
	content    string
	attr       Attr
	onBehalfOf any // on whose behalf it was written last
	written    bool
}

// Edit begins an edit of the file at the path. Code that looks through its Host
// sees what was written there; the machine is as it was until Commit.
func (h *Host) Edit(ctx context.Context, name string) *Edit {
	e := &Edit{host: h, path: name}
	e.view = &Host{View: View{machine: h.machine, plan: overlay.New(ctx, underlay{&View{machine: h.machine}})}, edit: e}
	return e
}

// Host returns the host through which the file is edited. All effects but those
// of WriteFile on the path of the edit are made at once.
func (e *Edit) Host() *Host { return e.view }

// keep remembers what is to be written.
func (e *Edit) keep(content io.Reader, attr Attr, on any) error {
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	e.content, e.attr, e.onBehalfOf, e.written = string(text), attr, on, true
	e.view.Plan().Assume(nil, false, PathEffect{Path: e.path, Kind: Regular, Content: &e.content, Attr: &attr})
	return nil
}

// Commit writes the file, unless nothing was written to it. It is one write as
// WriteFile makes it.
func (e *Edit) Commit() error {
	if !e.written {
		return nil
	}
	return e.host.OnBehalfOf(e.onBehalfOf).WriteFile(e.path, strings.NewReader(e.content), e.attr)
}

// IsPlaced reports whether the file is what Commit was to make it. If it cannot be looked at, it is not.
func (e *Edit) IsPlaced() bool {
	if !e.written {
		return true
	}
	info, err := e.host.Lstat(e.path)
	if err != nil || info.Kind != Regular || info.Size != int64(len(e.content)) ||
		(Attr{UID: info.UID, GID: info.GID, Mode: info.Mode}) != e.attr {
		return false
	}
	text, err := e.host.ReadText(e.path, info.Size)
	return err == nil && text == e.content
}
