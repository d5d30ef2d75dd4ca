package state

import (
	"encoding/json"
	"io"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
)

// A snapshotEntry is one resource of the snapshot to write. Now is its present declaration; nil
// keeps the recorded one.
type snapshotEntry struct {
	lastApplied
	now *resource.Resource
}

// next returns the entries of the next snapshot. Sums are the fingerprints of the catalog. A
// resource that is not in order keeps its recorded entry.
func (a *appliedRecord) next(c *catalog.Catalog, sums []fingerprints, results []resourceResult) []snapshotEntry {
	list := make([]snapshotEntry, 0, len(c.Resources))
	a.last.next = 0
	keep := func(id string) {
		if old, ok := a.last.find(id); ok {
			list = append(list, snapshotEntry{lastApplied: old})
		}
	}
	for i, r := range c.Resources {
		id := r.ID.String()
		var res resourceResult
		if i < len(results) {
			res = results[i]
		}
		switch {
		case r.Skip != "":
		case !managed(r) || res.outcome != event.Changed && res.outcome != event.Stable:
			keep(id)
		default:
			old, _ := a.last.find(id)
			w := snapshotEntry{lastApplied{id: id, digest: res.digest, spec: sums[i].spec, whole: sums[i].whole, made: old.made}, r}
			if made, ok := a.created[r.ID]; ok {
				w.made = made
			}
			x := a.lazy[r.ID]
			w.digest = w.mergedDigest(old, x != nil)
			if x != nil {
				if res.digest == (resource.DesiredDigest{}) {
					w.digest = withFingerprint(w.digest, x.Type.Schema().Fingerprint(x.Spec))
				}
				w.now = x
			}
			list = append(list, w)
		}
	}
	for _, l := range c.Excluded {
		keep(l.ID.String())
	}
	if a.site == "" {
		list = a.withOthers(list)
	}
	return list
}

// withOthers merges list into the recorded entries. For the command line, resources stay recorded
// although they are not declared together.
func (a *appliedRecord) withOthers(list []snapshotEntry) []snapshotEntry {
	now := make(map[string]snapshotEntry, len(list))
	for _, w := range list {
		now[w.id] = w
	}
	var all []snapshotEntry
	for _, old := range a.last.list {
		w, ok := now[old.id]
		if delete(now, old.id); !ok {
			w = snapshotEntry{lastApplied: old}
		}
		all = append(all, w)
	}
	for _, w := range list {
		if _, ok := now[w.id]; ok {
			delete(now, w.id)
			all = append(all, w)
		}
	}
	return all
}

func (a *appliedRecord) write(w io.Writer, run, sum string, list []snapshotEntry) error {
	file := a.file
	switch file {
	case "": // the record stays as it was
		file = a.head.File
	case a.site:
		file = ""
	}
	head, err := json.Marshal(AppliedHeader{
		Protocol: appliedProtocol, Site: a.site, Root: a.s.dir.RecordedRoot(a.root), Run: run, Time: a.s.clock.Now().UTC(), Fingerprint: sum, File: file,
	})
	if err != nil {
		return err
	}
	text := append(make([]byte, 0, len(head)+160*len(list)), head...)
	text = append(text, '\n')
	for _, x := range list {
		text = append(x.lastApplied.append(text), '\n')
	}
	_, err = w.Write(text)
	return err
}
