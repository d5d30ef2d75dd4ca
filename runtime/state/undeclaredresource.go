package state

import (
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// undeclaredSuffix ends the name of the file with the undeclared resources of a site: earlier
// runs had them in order, and the site does not declare them any more. Runs add resources, a
// prune removes them.
const undeclaredSuffix = ".undeclared.gz"

// maxUndeclared is the number of resources that are kept: the latest.
const maxUndeclared = 10000

// An UndeclaredResource is a resource of an earlier run that is no longer declared.
type UndeclaredResource struct {
	ID, Type string
	Pos      diag.Pos
	// Made is set if a run created the thing.
	Made bool
	// Properties are the properties of its last declaration.
	Properties *schema.Table
}

// noteMade notes that a thing was created, or that it is absent.
func (a *appliedRecord) noteMade(e *event.Event) {
	made := e.Outcome == event.Changed && slices.ContainsFunc(e.Diff, func(d resource.Delta) bool {
		return d.Property == "ensure" && d.Have == "absent" && d.Want != "absent"
	})
	switch {
	case !made && e.Ensure != "absent":
		return
	case made && e.Cause == event.Corrective:
		return // it existed before; an earlier record tells whether a run created it
	}
	if a.created == nil {
		a.created = make(map[resource.ID]bool)
	}
	a.created[e.Resource.ID] = made
}

// undeclared returns the list in the file, the earliest first.
func (a *appliedRecord) undeclared() (list []catalogEntry, err error) {
	err = readEntries(a.s, a.name()+undeclaredSuffix, func(d catalogEntry) { list = append(list, d) })
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil && !a.readOnly {
		a.s.dir.SetAside(a.name()+undeclaredSuffix, "damaged: ccm prune does not know all resources that are no longer declared", a.s.clock.Now())
	}
	return list, nil
}

// addUndeclared adds the resources to the list that the catalog does not declare any more, and
// removes those that it declares.
func (a *appliedRecord) addUndeclared(c *catalog.Catalog) error {
	if a.site == "" {
		return nil // resources of the command line are not declared together
	}
	declared := declaredIn(c)
	before, err := a.undeclared()
	if err != nil {
		return err
	}
	list, err := a.withDropped(before, declared)
	if err != nil || len(before) == len(list) && slices.EqualFunc(before, list, func(x, y catalogEntry) bool { return x.ID == y.ID }) {
		return err
	}
	return a.writeUndeclared(list)
}

// writeUndeclared replaces the list of undeclared resources.
func (a *appliedRecord) writeUndeclared(list []catalogEntry) error {
	if len(list) == 0 {
		a.forgetNotice()
	}
	return a.writeEntries(undeclaredSuffix, list)
}

// forgetNotice makes the next report name undeclared resources, because there are none now.
func (a *appliedRecord) forgetNotice() {
	if notice := a.name() + noticeSuffix; a.s.dir.Has(notice) {
		_ = a.s.dir.Remove(notice) // if that fails, they are named within a day
	}
}

// noticeSuffix ends the name of the file with the time at which a report last named the undeclared resources of a site.
const noticeSuffix = ".noticed"

// noticeInterval is the time after which a report names them again.
const noticeInterval = 24 * time.Hour

// NoticeUndeclared reports whether a report for people is to name the undeclared resources: none has for a day. It records
// that this one does.
func (r *RecordWriter) NoticeUndeclared() bool {
	a := r.appliedRecord
	if a == nil {
		return false
	}
	name, now := a.name()+noticeSuffix, a.s.clock.Now()
	if text, err := a.s.dir.ReadFile(name); err == nil {
		last, err := time.Parse(time.RFC3339Nano, string(text))
		if err == nil && !last.After(now) && now.Sub(last) < noticeInterval {
			return false
		}
	}
	// If that fails, they are named again in the next run.
	_ = a.s.dir.Replace(name, false, func(w io.Writer) error {
		_, err := io.WriteString(w, now.UTC().Format(time.RFC3339Nano))
		return err
	})
	return true
}

// declaredIn returns the IDs of the resources that a catalog declares for this machine.
func declaredIn(c *catalog.Catalog) map[string]bool {
	declared := make(map[string]bool, len(c.Resources)+len(c.Excluded))
	for _, r := range c.Resources {
		if r.Skip == "" {
			declared[r.ID.String()] = true
		}
	}
	for _, x := range c.Excluded {
		declared[x.ID.String()] = true
	}
	return declared
}

// declaredElsewhere returns the IDs of resources that other sites declared on the same root, each
// with the site that declared it last.
func (a *appliedRecord) declaredElsewhere() (map[string]string, error) {
	declared := make(map[string]string)
	applied, err := a.s.Applied()
	for _, other := range slices.Backward(applied) {
		if other.Root != a.root || other.Site == a.site {
			continue
		}
		o := &appliedRecord{s: a.s, site: other.Site, root: a.root, readOnly: true}
		o.load()
		for _, w := range o.last.list {
			declared[w.id] = other.Site
		}
	}
	return declared, err
}

// withDropped returns the resources of list and of the applied catalog that are not in declared.
func (a *appliedRecord) withDropped(list []catalogEntry, declared map[string]bool) ([]catalogEntry, error) {
	out := make([]catalogEntry, 0, len(list))
	for _, d := range list {
		if !declared[string(d.ID)] {
			out = append(out, d)
		}
	}
	a.load()
	dropped := make(map[string]bool)
	made := make(map[string]bool)
	for _, w := range a.last.list {
		if !declared[w.id] {
			dropped[w.id], made[w.id] = true, w.made
		}
	}
	if len(dropped) == 0 {
		return out, nil
	}
	out = slices.DeleteFunc(out, func(d catalogEntry) bool { return dropped[string(d.ID)] })
	err := a.s.readCatalog(a.name(), func(d catalogEntry) {
		if dropped[string(d.ID)] {
			d.Made = made[string(d.ID)]
			out = append(out, d)
		}
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return out[max(0, len(out)-maxUndeclared):], err
}

// writeEntries replaces a file of resources.
func (a *appliedRecord) writeEntries(suffix string, list []catalogEntry) error {
	if len(list) == 0 {
		if !a.s.dir.Has(a.name() + suffix) {
			return nil
		}
		return a.s.dir.Remove(a.name() + suffix)
	}
	return a.s.dir.Replace(a.name()+suffix, true, func(w io.Writer) error {
		return statedir.Compress(w, func(z io.Writer) error {
			var line []byte
			for _, d := range list {
				var err error
				if line, err = d.appendLine(line[:0]); err == nil {
					_, err = z.Write(line)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Undeclared returns the resources that earlier runs of a site had in order and that its catalog
// does not declare, the last declared first. Resources that another site declares on the same
// root are left out; kept counts them by site.
func Undeclared(s *Store, site, root string, c *catalog.Catalog) (out []UndeclaredResource, kept map[string]int, err error) {
	a := &appliedRecord{s: s, site: site, root: root, readOnly: true}
	elsewhere, err := a.declaredElsewhere()
	if err != nil {
		return nil, nil, err
	}
	list, err := a.undeclared()
	if err == nil {
		list, err = a.withDropped(list, declaredIn(c))
	}
	if err != nil {
		return nil, nil, err
	}
	kept = make(map[string]int)
	for _, d := range slices.Backward(list) {
		if other, ok := elsewhere[string(d.ID)]; ok {
			kept[other]++
			continue
		}
		if err := s.unseal(&d); err != nil {
			return nil, nil, err
		}
		x := UndeclaredResource{ID: string(d.ID), Type: d.Type, Pos: diag.Pos{File: d.File, Line: d.Line}, Made: d.Made, Properties: new(schema.Table)}
		if err := x.Properties.UnmarshalJSON(d.Properties); err != nil {
			return nil, nil, err
		}
		out = append(out, x)
	}
	return out, kept, nil
}

// Forget removes undeclared resources from the record of a site. The lock of the directory must
// be held.
func Forget(s *Store, site, root string, ids map[string]bool) error {
	a := &appliedRecord{s: s, site: site, root: root}
	gone := func(d catalogEntry) bool { return ids[string(d.ID)] }
	list, err := a.undeclared()
	if err != nil {
		return err
	}
	if err := a.writeUndeclared(slices.DeleteFunc(list, gone)); err != nil {
		return err
	}
	a.load()
	if !slices.ContainsFunc(a.last.list, func(w lastApplied) bool { return ids[w.id] }) {
		return nil
	}
	var applied []catalogEntry
	if err := s.readCatalog(a.name(), func(d catalogEntry) { applied = append(applied, d) }); err != nil {
		return err
	}
	if err := a.writeEntries(catalogSuffix, slices.DeleteFunc(applied, gone)); err != nil {
		return err
	}
	var rest []snapshotEntry
	for _, w := range a.last.list {
		if !ids[w.id] {
			rest = append(rest, snapshotEntry{lastApplied: w})
		}
	}
	return s.dir.Replace(a.name()+lastAppliedSuffix, true, func(w io.Writer) error { return a.write(w, a.head.Run, sumOf(rest), rest) })
}
