package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/words"
)

const pendingFile = "pending.ndjson"

// A PendingRecord is a refresh that a run recorded before a change, and that was not performed
// since.
type PendingRecord struct {
	To    Name      `json:"to"` // the resource to refresh
	By    Name      `json:"by"` // the resource that was changed
	Cause string    `json:"cause,omitempty"`
	Run   string    `json:"run"`
	Site  string    `json:"site,omitempty"`
	Root  string    `json:"root"`
	Since time.Time `json:"since"`
}

// String names both resources and the run.
func (p PendingRecord) String() string {
	return fmt.Sprintf("pending refresh of %s from run %s: %s changed", p.To, p.Run, p.By)
}

// A pendingLine is a line of the file. One of the three fields is set.
type pendingLine struct {
	Add *PendingRecord `json:"owe,omitempty"`
	// Done removes all refreshes of a resource.
	Done *pendingMatch `json:"settled,omitempty"`
	// Cancel removes one refresh, or all refreshes caused by one change of a run.
	Cancel *pendingMatch `json:"forgiven,omitempty"`
}

// A pendingMatch selects refreshes to remove: those with the same Root that agree in all fields
// that are set.
type pendingMatch struct {
	To   Name   `json:"to,omitempty"`
	By   Name   `json:"by,omitempty"`
	Run  string `json:"run,omitempty"`
	Root string `json:"root"`
}

func (x pendingMatch) matches(p PendingRecord) bool {
	return p.Root == x.Root && (x.To == "" || x.To == p.To) && (x.By == "" || x.By == p.By) && (x.Run == "" || x.Run == p.Run)
}

// withRoot returns a copy of the line with another name of its root.
func (l pendingLine) withRoot(name func(root string) string) pendingLine {
	if l.Add != nil {
		l.Add = new(*l.Add)
		l.Add.Root = name(l.Add.Root)
	}
	for _, x := range []**pendingMatch{&l.Done, &l.Cancel} {
		if *x != nil {
			*x = new(**x)
			(*x).Root = name((*x).Root)
		}
	}
	return l
}

// apply applies the line to list.
func (l pendingLine) apply(list []PendingRecord) ([]PendingRecord, error) {
	switch {
	case l.Add != nil && l.Add.To != "":
		return append(list, *l.Add), nil
	case l.Done != nil && l.Done.To != "":
		return slices.DeleteFunc(list, l.Done.matches), nil
	case l.Cancel != nil && l.Cancel.Run != "":
		return slices.DeleteFunc(list, l.Cancel.matches), nil
	}
	return list, diag.Not("", "a line of this file")
}

// Pending returns the pending refreshes, oldest first.
func (s *Store) Pending() (list []PendingRecord, damaged int, err error) {
	damaged, err = s.readLines(pendingFile, func(line []byte) error {
		var l pendingLine
		err := json.Unmarshal(line, &l)
		if err == nil {
			l = l.withRoot(s.dir.RootOf)
			list, err = l.apply(list)
		}
		return err
	})
	return list, damaged, err
}

// PendingRefreshes selects from list for a run of a site on a root: the refreshes that earlier
// runs of the site recorded, and those of other sites for resources that the site declares too.
// Site "" means no site.
func PendingRefreshes(list []PendingRecord, site, root string, c *catalog.Catalog) []event.PendingRefresh {
	if len(list) == 0 {
		return nil
	}
	declared := make(map[Name]bool)
	for _, r := range c.Resources {
		declared[Name(r.ID.String())] = true
	}
	var out []event.PendingRefresh
	for _, p := range list {
		if p.Root != root || !declared[p.To] && (site == "" || p.Site != site) {
			continue
		}
		to, errTo := resource.ParseID(string(p.To))
		by, errBy := resource.ParseID(string(p.By))
		if errors.Join(errTo, errBy) == nil {
			out = append(out, event.PendingRefresh{To: to, By: by, Run: p.Run, Cause: event.ParseCause(p.Cause)})
		}
	}
	return out
}

// A journal has the pending refreshes during a run.
type journal struct {
	s    *Store
	info RunInfo
	file lines
	list []PendingRecord
	// durable has the resources with a line that is synced and still counts.
	durable map[Name]bool
}

// openJournal reads the pending refreshes. A copy of a damaged file is set aside, and its readable lines
// are rewritten.
func (s *Store) openJournal(info RunInfo) (*journal, error) {
	j := &journal{s: s, info: info, file: lines{s: s, name: pendingFile}, durable: make(map[Name]bool)}
	var damaged int
	var err error
	if j.list, damaged, err = s.Pending(); err != nil {
		return nil, err
	}
	if damaged > 0 {
		s.dir.SetAside(pendingFile, fmt.Sprintf("%s cannot be parsed and may contain pending refreshes", words.Count(damaged, "line")), s.clock.Now())
		if err := j.rewrite(); err != nil {
			return nil, err
		}
	}
	for _, p := range j.list {
		j.durable[p.To] = p.Root == info.Root
	}
	return j, nil
}

// rewrite rewrites the file with only the pending refreshes.
func (j *journal) rewrite() error {
	if err := j.file.close(); err != nil {
		return err
	}
	return j.s.dir.Replace(pendingFile, true, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		for i := range j.list {
			if err := enc.Encode(pendingLine{Add: &j.list[i]}.withRoot(j.s.dir.RecordedRoot)); err != nil {
				return err
			}
		}
		return nil
	})
}

// add implements AddRefreshes of converge.Journal. If a refresh of the resource is durable
// already, a further reason for it need not survive a loss of power.
func (j *journal) add(by resource.ID, cause event.Cause, to []resource.ID) error {
	var objects []any
	durable := true
	at := len(j.list)
	for _, id := range to {
		p := PendingRecord{
			To: Name(id.String()), By: Name(by.String()), Cause: cause.String(),
			Run: j.info.ID, Site: j.info.Site, Root: j.info.Root, Since: j.s.clock.Now().UTC().Round(0),
		}
		objects = append(objects, pendingLine{Add: &p}.withRoot(j.s.dir.RecordedRoot))
		j.list = append(j.list, p)
		durable = durable && j.durable[p.To]
	}
	if err := j.file.add(!durable, objects...); err != nil {
		j.list = j.list[:at]
		return err
	}
	for _, id := range to {
		j.durable[Name(id.String())] = true
	}
	return nil
}

// remove removes the refreshes that match. The removal need not survive a loss of power: without
// it there is one refresh too many.
func (j *journal) remove(l pendingLine, x pendingMatch) {
	n := len(j.list)
	j.list = slices.DeleteFunc(j.list, x.matches)
	if len(j.list) == n {
		return
	}
	clear(j.durable)
	for _, p := range j.list {
		// The remaining refresh may never have been synced itself.
		j.durable[p.To] = p.Run != j.info.ID && p.Root == j.info.Root
	}
	if err := j.file.add(false, l.withRoot(j.s.dir.RecordedRoot)); err != nil {
		j.s.dir.Warn(fmt.Sprintf("%s: cannot mark a refresh as done, it will be repeated: %v", j.s.dir.Path(pendingFile), err))
	}
}

func (j *journal) finish(to resource.ID) {
	x := pendingMatch{To: Name(to.String()), Root: j.info.Root}
	j.remove(pendingLine{Done: &x}, x)
}

func (j *journal) cancel(by resource.ID) {
	x := pendingMatch{By: Name(by.String()), Run: j.info.ID, Root: j.info.Root}
	j.remove(pendingLine{Cancel: &x}, x)
}

func (j *journal) drop(d event.PendingRefresh) {
	x := pendingMatch{To: Name(d.To.String()), By: Name(d.By.String()), Run: d.Run, Root: j.info.Root}
	j.remove(pendingLine{Cancel: &x}, x)
}

// end tidies the file.
func (j *journal) end() error {
	if j.file.f == nil {
		return nil
	}
	var err error
	switch {
	case len(j.list) == 0:
		err = j.file.empty()
	case j.file.size > 64<<10 && j.file.size > 1024*int64(len(j.list)):
		err = j.rewrite()
	}
	return errors.Join(err, j.file.close())
}
