package state

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
	"github.com/luaccm/ccm/runtime/state/backup"
)

// A fileChange is the change of one path during its run. It is open until its resource is
// finished. Then the version after the change is recorded.
type fileChange struct {
	Change
	by resource.ID // the resource that changes the path; zero for none
	// order numbers open changes in the order in which their paths were first changed; 0 once it
	// is closed.
	order int
	// hasNext is set if Next is recorded and is the version that the path will have.
	hasNext bool
	// maybeVoid is set until it is known that the path was changed at all.
	maybeVoid bool
}

// closeChanges returns the open changes of resources that are finished, in order.
func (r *RecordWriter) closeChanges(ids ...resource.ID) (list []*fileChange) {
	if len(r.open) == 0 {
		return nil
	}
	for _, id := range ids {
		list = append(list, r.open[id]...)
		delete(r.open, id)
	}
	slices.SortFunc(list, func(a, b *fileChange) int { return a.order - b.order })
	for _, c := range list {
		c.order, c.maybeVoid = 0, false
	}
	return list
}

// closeChange looks at a changed path, and returns the line to record. There is no line if the
// version is recorded already, or if the look fails. Event is that of the changing resource, or
// nil.
func (r *RecordWriter) closeChange(c *fileChange, e *event.Event) (changeLine, bool) {
	// The event confirms it, unless its JSON cannot have the name of the resource.
	if c.hasNext && e != nil && e.Outcome == event.Changed && e.Resource.ID == c.by && utf8.ValidString(c.by.Name) {
		c.After = c.Next
		return changeLine{}, false
	}
	after, err := versionAt(r.view, placeOf(string(c.Path), string(c.Dir)))
	if err != nil {
		return changeLine{}, false
	}
	c.Next, c.After = nil, &after
	return changeLine{changeProtocol, &c.Change}, true
}

// forget keeps only the paths of closed changes, which are in the record: a change has 400 bytes. endMade needs those
// inside of trees.
func (r *RecordWriter) forget(closed []*fileChange) {
	for _, c := range closed {
		if r.keepsAll || c.isMadeInside() {
			continue
		}
		if r.changes[string(c.Path)] = nil; !c.Undone() {
			r.forgotten++
		}
	}
}

// changeOf returns the change of a path, nil if there is none. If it was forgotten, all changes are read from the record,
// and none is forgotten any more: if one path changes twice, many may.
func (r *RecordWriter) changeOf(path string) (*fileChange, error) {
	c, changed := r.changes[path]
	if !changed || c != nil {
		return c, nil
	}
	if err := r.file.flush(); err != nil {
		return nil, err
	}
	rec, err := r.s.Changes(r.info.ID)
	if err != nil {
		return nil, err
	}
	r.keepsAll, r.forgotten = true, 0
	for _, x := range rec.Changes {
		if known, changed := r.changes[string(x.Path)]; changed && known == nil {
			r.changes[string(x.Path)] = &fileChange{Change: x}
		}
	}
	if c = r.changes[path]; c == nil {
		err = diag.Damaged(r.s.dir.Path(r.file.name), nil)
	}
	return c, err
}

// Before returns the version of a path before the run changed it, and whether the run changed it.
func (r *RecordWriter) Before(path string) (before Version, changed bool) {
	c, err := r.changeOf(path)
	if r.warnOf(err); c == nil {
		return before, false
	}
	return c.Change.Before, true
}

// BeforeChange records a pre-image ([host.Options]) and makes a backup of its content. If a path
// changes more than once in a run, the first pre-image counts.
func (r *RecordWriter) BeforeChange(v *host.View, pre host.PreImage) error {
	r.view = v
	by := r.current
	if res, ok := pre.For.(*resource.Resource); ok {
		by = res
	}
	c, err := r.changeOf(pre.Path)
	if err != nil {
		return diag.Cannot("record", "the present state", err)
	}
	known := c != nil
	if pre.Noted && !known {
		return nil
	}
	// The batch announced the path, met a conflict, and announces it again. Nothing was changed in
	// between, so the new pre-image counts.
	again := known && pre.Supersedes && c.maybeVoid
	if known && !again && (c.Content || !pre.Content) { // the first pre-image suffices
		c.hasNext = false
		r.openChange(c, by)
		return r.endBatch(pre)
	}
	line := Change{Path: Name(pre.Path), Dir: Name(pre.Dir), Before: versionOf(pre.Info)}
	if by != nil {
		line.Resource = Name(by.ID.String())
	}
	if pre.Kind == safepath.Symlink {
		target, err := v.Readlink(pre.Path)
		if err != nil {
			return err
		}
		line.Before.Target = Name(target)
	}
	if pre.Kind == safepath.Regular || pre.Kind == safepath.Directory {
		x, err := host.ReadXattrs(v, pre.Path)
		if err != nil {
			return diag.Cannot("back up", "the present state", err)
		}
		line.Before.Xattrs = x
	}
	if known && !again {
		line = c.Change
	}
	line.Content, line.Next, line.After = pre.Content, nil, nil
	if pre.Next != nil && by != nil && (!known || again) { // otherwise Next belongs to a later change
		line.Next = new(versionOf(*pre.Next))
	}
	line.Sensitive = r.noteSecrets(by) || r.sensitive.HeldIn(pre.Path)
	if pre.Content && pre.Kind == safepath.Regular {
		if err := r.backUp(v, pre, by, &line); err != nil {
			return diag.SubjectCannot("", "back up the present state: %w (skip it with backup = false)", err)
		}
	}
	if line.Sensitive && pre.Kind != safepath.Directory {
		if err := r.sensitive.notePath(pre.Path); err != nil {
			return diag.Cannot("record", "that it contains secrets", err)
		}
	}
	// The record of a creation need not survive a loss of power; that of a replaced or removed
	// file must.
	durable := line.Before.Kind != safepath.Missing
	record := r.enqueue
	if !pre.More {
		record = func(objects ...any) error { return r.add(durable, objects...) }
	}
	if err := record(changeLine{changeProtocol, &line}); err != nil {
		return diag.Cannot("record", "the present state", err)
	}
	if pre.More {
		_ = r.file.flushMany() // lines that cannot be written are tried again with the last one
	}
	r.unsynced = r.unsynced || durable && pre.More
	if !known {
		c = new(fileChange)
		r.changes[pre.Path] = c
	}
	c.Change, c.hasNext, c.maybeVoid = line, line.Next != nil, !known || again
	r.openChange(c, by)
	return r.endBatch(pre)
}

// openChange opens the change of a path for a resource.
func (r *RecordWriter) openChange(c *fileChange, by *resource.Resource) {
	var id resource.ID
	if by != nil {
		id = by.ID
	}
	switch {
	case c.order == 0:
		r.changeCount++
		c.order = r.changeCount
	case c.by == id:
		return
	default:
		r.open[c.by] = slices.DeleteFunc(r.open[c.by], func(x *fileChange) bool { return x == c })
	}
	c.by = id
	r.open[id] = append(r.open[id], c)
}

// endBatch makes the backups and lines durable after the last pre-image of an effect.
func (r *RecordWriter) endBatch(pre host.PreImage) error {
	if pre.More {
		return nil
	}
	if err := r.file.flush(); err != nil {
		return diag.Cannot("record", "the present state", err)
	}
	if !r.unsynced {
		return nil
	}
	if err := errors.Join(r.backups.Sync(), r.file.sync()); err != nil {
		return err
	}
	r.unsynced = false
	return nil
}

// backUp stores the content of a file that is about to be replaced or removed.
func (r *RecordWriter) backUp(v *host.View, pre host.PreImage, by *resource.Resource, c *Change) error {
	before := &c.Before
	if by != nil && by.Common.Backup != nil && !*by.Common.Backup {
		before.Unkept = "backup = false"
		return nil
	}
	id, sealed, err := r.backups.Put(v, pre.Path, pre.More, c.Sensitive)
	c.Sensitive = sealed
	if limit, ok := errors.AsType[*backup.LimitError](err); ok && !needsBackup(pre, by) {
		before.Unkept = limit.Error()
		r.s.dir.Warn(fmt.Sprintf("no backup of %s: %s", pre.Path, before.Unkept))
		return nil
	}
	before.Object = id
	return err
}

// KeepContents makes sure that the run does not remove the contents of the list to make room for its own
// backups.
func (r *RecordWriter) KeepContents(list []Restoration) {
	ids := make([]string, len(list))
	for i, x := range list {
		ids[i] = x.Want.Object
	}
	r.backups.Keep(ids)
}

// needsBackup reports whether an effect must not happen without a backup: the removal of anything
// but the own file of a resource that is to be present, such as an archive that was extracted. A
// restore has resources without a spec.
func needsBackup(pre host.PreImage, by *resource.Resource) bool {
	if !pre.Removed || by == nil || by.Spec == nil {
		return false
	}
	want, ok := by.Spec.(resource.EnsureReporter)
	return pre.Path != by.ID.Name || ok && resource.IsAbsent(want.WantedEnsure())
}
