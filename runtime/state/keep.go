package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
)

// A tracked is a change during its run.
type tracked struct {
	Change
	by resource.ID // for which it is being changed; zero for none
	// touched is set until it is known what became of it, in the order in which
	// paths were changed first.
	touched int
	// foretold is set if Next is recorded and is what it will be.
	foretold bool
	// fresh is set until it is known that anything was changed at all.
	fresh bool
}

// finished returns what was changed for the resources, in order, and is not to be
// changed any more.
func (r *Run) finished(ids ...resource.ID) (list []*tracked) {
	if len(r.touched) == 0 {
		return nil
	}
	for _, id := range ids {
		list = append(list, r.touched[id]...)
		delete(r.touched, id)
	}
	slices.SortFunc(list, func(a, b *tracked) int { return a.touched - b.touched })
	for _, c := range list {
		c.touched, c.fresh = 0, false
	}
	return list
}

// finish finds out what became of a path that was changed, if that can be known, and
// returns what is to be recorded of it, if that is not known already. Event is that of
// the resource for which it was changed, or nil.
func (r *Run) finish(c *tracked, e *converge.Event) (changeLine, bool) {
	if c.foretold && e != nil && e.Outcome == converge.Changed && e.Resource.ID == c.by {
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

// Keep records what is about to be changed, for host.Options. Of what changes
// more than once in a run, what was there first is kept.
func (r *Run) Keep(v *host.View, d host.Doomed) error {
	r.view = v
	by := r.current
	if res, ok := d.For.(*resource.Resource); ok {
		by = res
	}
	c, known := r.changes[d.Path]
	anew := known && d.Anew && c.fresh // then nothing was changed yet
	if known && !anew && (c.Content || !d.Content) {
		c.foretold = false
		r.touch(c, by)
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
	if known && !anew {
		next = c.Change
	}
	next.Content, next.Next, next.After = d.Content, nil, nil
	if d.Next != nil && by != nil && (!known || anew) { // else it is told of somebody else
		next.Next = new(versionOf(*d.Next))
	}
	next.Sensitive = r.holdsSecrets(by) || r.hidden.HeldIn(d.Path)
	if d.Content && d.Kind == host.Regular {
		if err := r.keepContent(v, d, by, &next); err != nil {
			return fmt.Errorf("cannot keep what is there: %w (backup = false goes without)", err)
		}
	}
	if next.Sensitive && d.Kind != host.Directory {
		if err := r.hidden.path(d.Path); err != nil {
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
		c = new(tracked)
		r.changes[d.Path] = c
	}
	c.Change, c.foretold, c.fresh = next, next.Next != nil, !known || anew
	r.touch(c, by)
	return r.endBatch(d)
}

// touch notes that a path is changed for a resource.
func (r *Run) touch(c *tracked, by *resource.Resource) {
	var id resource.ID
	if by != nil {
		id = by.ID
	}
	switch {
	case c.touched == 0:
		r.touches++
		c.touched = r.touches
	case c.by == id:
		return
	default:
		r.touched[c.by] = slices.DeleteFunc(r.touched[c.by], func(x *tracked) bool { return x == c })
	}
	c.by = id
	r.touched[id] = append(r.touched[id], c)
}

// endBatch makes durable what was kept for an effect on many paths.
func (r *Run) endBatch(d host.Doomed) error {
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

// keepContent stores the content of a file that is about to go.
func (r *Run) keepContent(v *host.View, d host.Doomed, by *resource.Resource, c *Change) error {
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
		r.s.warn(fmt.Sprintf("no backup of %s: %s", d.Path, before.Unkept))
	}
	return nil
}
