package state

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// makeRoom removes objects of the oldest runs until one more of that size fits. Objects of
// the run that stores stay.
func (o *objects) makeRoom(size int64) error {
	limit := o.s.limits.Bytes
	if size > limit {
		return errNoRoom
	}
	if o.total <= limit-size {
		return nil
	}
	// The total may be wrong: before anything is removed, it is measured.
	if !o.measured {
		if err := o.measure(); err != nil || o.total <= limit-size {
			return err
		}
	}
	refs, ids, err := o.s.references()
	if err != nil {
		return err
	}
	for _, run := range ids {
		if run == o.run {
			continue
		}
		for _, id := range refs.dropRun(run) {
			name := o.s.objectName(id)
			fi, err := o.s.dir.Stat(name)
			if err != nil || o.used[id] {
				continue // it was removed earlier, or this run will say that it keeps it
			}
			if err := o.s.dir.Remove(name); err != nil {
				return err
			}
			o.total -= fi.Size
		}
		if o.total+size <= limit {
			return nil
		}
	}
	return errNoRoom
}

// references says which runs have backups in which objects.
type references struct {
	runs   map[string][]string // contents of a run
	starts map[string]time.Time
	uses   map[string]int // how many runs have kept a content
	// damaged is set if that may not be all of it.
	damaged bool
}

// references reads all runs, and returns their names too, oldest first.
func (s *Store) references() (*references, []string, error) {
	ids, err := s.recorded()
	if err != nil {
		return nil, nil, err
	}
	refs := &references{runs: make(map[string][]string), starts: make(map[string]time.Time), uses: make(map[string]int)}
	for _, run := range ids {
		rec, err := s.Record(run)
		if err != nil {
			return nil, nil, err
		}
		refs.runs[run], refs.starts[run] = rec.objectsOf(), rec.Start
		// A record that was cut looks like one of a run that died.
		refs.damaged = refs.damaged || rec.Damaged > 0 || rec.Start.IsZero() || rec.Summary == nil
		for _, id := range refs.runs[run] {
			refs.uses[id]++
		}
	}
	return refs, ids, nil
}

// dropRun removes a run and returns the objects that no other run refers to.
func (refs *references) dropRun(run string) (unused []string) {
	for _, id := range refs.runs[run] {
		if refs.uses[id]--; refs.uses[id] == 0 {
			unused = append(unused, id)
		}
	}
	delete(refs.runs, run)
	return unused
}

// The time of tidiedFile is that of the last tidy.
const tidiedFile = "tidied"

// tidy removes, once a day, runs older than the limit, their objects, and temporary files of
// runs that died.
func (r *Run) tidy() error {
	s, now := r.s, r.s.clock.Now()
	fi, err := s.dir.Stat(tidiedFile)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r.tidied(now) // the directory is new
	case err == nil && now.Sub(fi.Modified) < 24*time.Hour && !now.Before(fi.Modified):
		return nil
	}
	if s.dir.Has(objectsDir) {
		if err := r.objects.begin(); err != nil {
			return err
		}
	}
	if err := r.removeOld(now.Add(-s.limits.Age)); err != nil {
		return err
	}
	return r.tidied(now)
}

// tidied sets the time of the last tidy.
func (r *Run) tidied(now time.Time) error {
	s := r.s
	if err := s.dir.Replace(tidiedFile, false, func(io.Writer) error { return nil }); err != nil {
		return err
	}
	return s.dir.Do("utimes", s.dir.Path(tidiedFile), func() error { return s.dir.Touch(tidiedFile, now) })
}

// removeOld removes the runs that began before a time, and all objects without a run. If a
// record is damaged or cut, it may have named an object: only those from before that time
// are removed then.
func (r *Run) removeOld(before time.Time) error {
	s := r.s
	refs, ids, err := s.references()
	if err != nil {
		return err
	}
	for _, run := range ids {
		start := refs.starts[run]
		if run == r.info.ID || start.IsZero() || !start.Before(before) {
			continue
		}
		refs.dropRun(run)
		if err := s.dir.Remove(runFile(run)); err != nil {
			return err
		}
	}
	if err := s.dir.RemoveTemporary("."); err != nil {
		return err
	}
	err = s.eachObject(func(id, name string, size int64) error {
		if id == "" || refs.uses[id] > 0 {
			return nil
		}
		if fi, err := s.dir.Stat(name); refs.damaged && (err != nil || !fi.Modified.Before(before)) {
			return nil
		}
		r.objects.total -= size
		return s.dir.Remove(name)
	})
	if err != nil {
		return err
	}
	return s.shortenHistory(before)
}

// shortenHistory drops the lines of runs that began before a time. Lines that
// cannot be understood stay.
func (s *Store) shortenHistory(before time.Time) error {
	text, err := s.dir.ReadFile(historyFile)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	var left strings.Builder
	for line := range strings.Lines(string(text)) {
		var e Entry
		if json.Unmarshal([]byte(line), &e) == nil && e.ID != "" && e.Start.Before(before) {
			continue
		}
		left.WriteString(line)
	}
	if left.Len() == len(text) {
		return nil
	}
	return s.dir.Replace(filepath.Base(historyFile), true, func(w io.Writer) error {
		_, err := io.WriteString(w, left.String())
		return err
	})
}
