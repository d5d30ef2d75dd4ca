package host

import (
	"path/filepath"
	"slices"

	"github.com/luaccm/ccm/runtime/safepath"
)

// A Doomed is what stands at a path and is about to be changed, replaced or
// removed. Where nothing stands, its Kind is Missing.
type Doomed struct {
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
	// More says that the effect has not begun and others are told of before it
	// does: what is kept has to be durable by the last of them only.
	More bool
	// Anew says that what was told of the path last has not happened: meanwhile
	// somebody has made or changed what stands there now.
	Anew bool
}

// doomed says that what stands at the place of a path is about to be changed.
func (h *Host) doomed(name string, p safepath.Location, content bool) error {
	if err := h.refusedInBatch(); err != nil || h.keep == nil {
		return err
	}
	info, err := p.Stat()
	if err != nil {
		return safepath.PathError("lstat", name, err)
	}
	return h.tell(Doomed{Path: name, Dir: p.Dir.Path, Info: info, Content: content})
}

// tell is doomed for who knows what stands at the path.
func (h *Host) tell(d Doomed) error {
	if h.keep == nil {
		return nil
	}
	d.For, d.Anew = h.on, h.retry
	return h.keep(&h.View, d)
}

// doomedTree says that the directory at a path is about to be removed with
// everything in it: what is in a directory is told before the directory.
func (h *Host) doomedTree(name string, p safepath.Location, top *safepath.Handle) error {
	if err := h.refusedInBatch(); err != nil || h.keep == nil {
		return err
	}
	entries, err := safepath.ListTree(top)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(entries) {
		if err := h.keep(&h.View, Doomed{Path: filepath.Join(name, e.Rel), Dir: filepath.Dir(filepath.Join(top.Path, e.Rel)), Info: e.Info, Content: true, For: h.on, More: true}); err != nil {
			return err
		}
	}
	return h.tell(Doomed{Path: name, Dir: p.Dir.Path, Info: safepath.InfoOf(&top.Stat), Content: true})
}
