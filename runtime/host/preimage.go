package host

import (
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/host/target"
	"github.com/luaccm/ccm/runtime/safepath"
)

// A PreImage is the entry at a path that is about to be changed, replaced or removed. For a
// missing path its Kind is Missing.
type PreImage struct {
	Path string
	// Dir is the resolved directory of the path, as the machine sees it.
	Dir string
	safepath.Info
	// Content is set if the content changes too, not only the owner and mode.
	Content bool
	// Noted is set if a command may change the entry. A path that the run did not change before is ignored.
	Noted bool
	// Removed is set if nothing will be at the path.
	Removed bool
	// Next is the entry that the path will have, if that is known; nil otherwise. The host does
	// not change it afterwards.
	Next *safepath.Info
	// For is the reason of the effect, see [Host.OnBehalfOf].
	For any
	// More is set if more pre-images follow before the effect begins. Backups have to be durable
	// only at the last one.
	More bool
	// Supersedes is set if the earlier pre-image of the path is void: that effect did not happen,
	// because somebody else made or changed the entry.
	Supersedes bool
}

// WatchesChanges reports whether there is an [Options.BeforeChange].
func (h *Host) WatchesChanges() bool { return h.beforeChange != nil }

// announce passes the entry at the target, whose content changes, to [Options.BeforeChange].
func (h *Host) announce(t target.Target, removed bool) error {
	if err := h.batchEntry.refuseOther(); err != nil || h.beforeChange == nil {
		return err
	}
	info, err := t.Stat()
	if err != nil {
		return safepath.PathError("lstat", t.PathName, err)
	}
	return h.BeforeChange(PreImage{Path: t.PathName, Dir: t.Dir.Path, Info: info, Content: true, Removed: removed})
}

// BeforeChange passes a pre-image to [Options.BeforeChange], and adds the reason (see
// OnBehalfOf).
func (h *Host) BeforeChange(d PreImage) error {
	if h.beforeChange == nil {
		return nil
	}
	d.For, d.Supersedes = h.onBehalfOf, h.conflict
	return h.beforeChange(&h.View, d)
}

// announceTree announces the removal of a directory, open as top, with everything in it. Entries
// come before their directory.
func (h *Host) announceTree(t target.Target, top *safepath.Handle) error {
	if err := h.batchEntry.refuseOther(); err != nil || h.beforeChange == nil {
		return err
	}
	entries, err := safepath.ListTree(top, nil)
	if err != nil {
		return err
	}
	if err := announceEntries(h, t, top, entries, true); err != nil {
		return err
	}
	return h.BeforeChange(PreImage{Path: t.PathName, Dir: t.Dir.Path, Info: safepath.InfoOf(&top.Stat), Content: true, Removed: true})
}

// announceEntries announces the removal of entries below a directory, open as top. They come before
// the directories that contain them. More is set if another announcement follows.
func announceEntries(h *Host, t target.Target, top *safepath.Handle, entries []safepath.TreeEntry, more bool) error {
	if err := h.batchEntry.refuseOther(); err != nil || h.beforeChange == nil {
		return err
	}
	for i, e := range slices.Backward(entries) {
		if err := h.beforeChange(&h.View, PreImage{
			Path: filepath.Join(t.PathName, e.Rel), Dir: filepath.Dir(filepath.Join(top.Path, e.Rel)), Info: e.Info,
			Content: true, Removed: true, For: h.onBehalfOf, More: more || i > 0,
		}); err != nil {
			return err
		}
	}
	return nil
}
