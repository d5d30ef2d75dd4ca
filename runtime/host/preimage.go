package host

import (
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A PreImage is what stands at a path and is about to be changed, replaced or
// removed. Where nothing stands, its Kind is Missing.
type PreImage struct {
	Path string
	// Dir is the directory in which it stands, as the machine sees it: that of Path after
	// all links on the way were followed.
	Dir string
	Info
	// Content says that what it holds goes too, and not its owner and mode only.
	Content bool
	// Next is what will stand there, if that is known; nil otherwise. It is not
	// changed any more.
	Next *Info
	// For is on whose behalf it is done, as [Host.OnBehalfOf] says.
	For any
	// More says that more pre-images follow before the effect begins: backups have to be
	// durable by the last of them only.
	More bool
	// Supersedes says that the pre-image of the path before this one is void: that effect did
	// not happen, because somebody else has made or changed what stands there now.
	Supersedes bool
}

// WatchesChanges reports whether somebody wants to know of pre-images.
func (h *Host) WatchesChanges() bool { return h.beforeChange != nil }

// announce passes what stands at the target to [Options.BeforeChange].
func (h *Host) announce(t target.Target, content bool) error {
	if err := h.batchEntry.refuseOther(); err != nil || h.beforeChange == nil {
		return err
	}
	info, err := t.Stat()
	if err != nil {
		return safepath.PathError("lstat", t.PathName, err)
	}
	return h.BeforeChange(PreImage{Path: t.PathName, Dir: t.Dir.Path, Info: info, Content: content})
}

// BeforeChange passes what stands at a path to [Options.BeforeChange], with whom the host
// acts for.
func (h *Host) BeforeChange(d PreImage) error {
	if h.beforeChange == nil {
		return nil
	}
	d.For, d.Supersedes = h.onBehalfOf, h.conflict
	return h.beforeChange(&h.View, d)
}

// announceTree announces the removal of the directory at the target, which is open as top,
// with everything in it: what is in a directory comes before the directory.
func (h *Host) announceTree(t target.Target, top *safepath.Handle) error {
	if err := h.batchEntry.refuseOther(); err != nil || h.beforeChange == nil {
		return err
	}
	entries, err := safepath.ListTree(top, nil)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(entries) {
		if err := h.beforeChange(&h.View, PreImage{Path: filepath.Join(t.PathName, e.Rel), Dir: filepath.Dir(filepath.Join(top.Path, e.Rel)), Info: e.Info, Content: true, For: h.onBehalfOf, More: true}); err != nil {
			return err
		}
	}
	return h.BeforeChange(PreImage{Path: t.PathName, Dir: t.Dir.Path, Info: safepath.InfoOf(&top.Stat), Content: true})
}
