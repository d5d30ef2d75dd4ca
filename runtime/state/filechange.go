package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A fileChange is the change of one path during its run. It is open until its resource is
// finished, and then it is recorded what became of the path.
type fileChange struct {
	Change
	by resource.ID // for which it is being changed; zero for none
	// order numbers open changes, in the order in which paths were changed first; 0 once it
	// is closed.
	order int
	// hasNext is set if Next is recorded and is what the path will hold.
	hasNext bool
	// maybeVoid is set until something is known to have changed at all.
	maybeVoid bool
}

// closeChanges returns the open changes of resources that are finished, in order.
func (r *Run) closeChanges(ids ...resource.ID) (list []*fileChange) {
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

// closeChange looks at a path that was changed, and returns the line to record, if there
// is one: not if it is recorded already, or nobody can tell. Event is that of
// the resource for which it was changed, or nil.
func (r *Run) closeChange(c *fileChange, e *converge.Event) (changeLine, bool) {
	if c.hasNext && e != nil && e.Outcome == converge.Changed && e.Resource.ID == c.by {
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

// BeforeChange records a pre-image ([host.Options]) and makes a backup of its content. Of a
// path that changes more than once in a run, the first pre-image counts.
func (r *Run) BeforeChange(v *host.View, d host.PreImage) error {
	r.view = v
	by := r.current
	if res, ok := d.For.(*resource.Resource); ok {
		by = res
	}
	c, known := r.changes[d.Path]
	again := known && d.Supersedes && c.maybeVoid // then nothing was changed yet
	if known && !again && (c.Content || !d.Content) {
		c.hasNext = false
		r.openChange(c, by)
		return r.endBatch(d)
	}
	next := Change{Path: Name(d.Path), Dir: Name(d.Dir), Before: versionOf(d.Info)}
	if by != nil {
		next.Resource = by.ID.String()
	}
	if d.Kind == host.Symlink {
		target, err := v.Readlink(d.Path)
		if err != nil {
			return err
		}
		next.Before.Target = Name(target)
	}
	if known && !again {
		next = c.Change
	}
	next.Content, next.Next, next.After = d.Content, nil, nil
	if d.Next != nil && by != nil && (!known || again) { // else it is about another change
		next.Next = new(versionOf(*d.Next))
	}
	next.Sensitive = r.holdsSecrets(by) || r.sensitive.HeldIn(d.Path)
	if d.Content && d.Kind == host.Regular {
		if err := r.backUp(v, d, by, &next); err != nil {
			return fmt.Errorf("cannot keep what is there: %w (backup = false goes without)", err)
		}
	}
	if next.Sensitive && d.Kind != host.Directory {
		if err := r.sensitive.path(d.Path); err != nil {
			return fmt.Errorf("cannot record that it holds secrets: %w", err)
		}
	}
	// That something was made need not survive a loss of power; that something was
	// lost must.
	durable := next.Before.Kind != host.Missing
	record := r.wait
	if !d.More {
		record = func(objects ...any) error { return r.add(durable, objects...) }
	}
	if err := record(changeLine{changeProtocol, &next}); err != nil {
		return fmt.Errorf("cannot record what is there: %w", err)
	}
	if d.More {
		_ = r.file.flushMany() // what cannot be written is tried again by the last
	}
	r.unsynced = r.unsynced || durable && d.More
	if !known {
		c = new(fileChange)
		r.changes[d.Path] = c
	}
	c.Change, c.hasNext, c.maybeVoid = next, next.Next != nil, !known || again
	r.openChange(c, by)
	return r.endBatch(d)
}

// openChange opens a change of a path for a resource.
func (r *Run) openChange(c *fileChange, by *resource.Resource) {
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

// endBatch makes the backups and lines of an effect on many paths durable.
func (r *Run) endBatch(d host.PreImage) error {
	if d.More {
		return nil
	}
	if err := r.file.flush(); err != nil {
		return fmt.Errorf("cannot record what is there: %w", err)
	}
	if !r.unsynced {
		return nil
	}
	if err := errors.Join(r.objects.sync(), r.file.sync()); err != nil {
		return err
	}
	r.unsynced = false
	return nil
}

// backUp stores the content of a file that is about to go.
func (r *Run) backUp(v *host.View, d host.PreImage, by *resource.Resource, c *Change) error {
	before := &c.Before
	if by != nil && by.Common.Backup != nil && !*by.Common.Backup {
		before.Unkept = "backup = false"
		return nil
	}
	id, sealed, err := r.objects.put(v, d.Path, d.More, c.Sensitive)
	c.Sensitive = sealed
	large, tooLarge := errors.AsType[*tooLargeError](err)
	switch {
	case tooLarge:
		before.Unkept = large.Error()
	case errors.Is(err, errNoRoom):
		before.Unkept = errNoRoom.Error()
	case err != nil:
		return err
	}
	before.Object = id
	if before.Unkept != "" {
		before.Object = ""
		r.s.dir.Warn(fmt.Sprintf("no backup of %s: %s", d.Path, before.Unkept))
	}
	return nil
}
