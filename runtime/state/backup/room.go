package backup

import (
	"slices"
	"time"
)

// uses counts, for each content, the runs that stored it.
type uses map[string]int

func usesOf(runs []RunContents) uses {
	u := make(uses)
	for _, run := range runs {
		for _, id := range run.Contents {
			u[id]++
		}
	}
	return u
}

// makeRoom removes contents of the oldest runs until one more of that size fits. It keeps the
// contents of the present run.
func (w *Writer) makeRoom(size int64) error {
	limit := w.s.Bytes
	if size > limit {
		return errNoRoom
	}
	if w.total <= limit-size {
		return nil
	}
	// The recorded total may be wrong, so it is measured before anything is removed.
	if !w.measured {
		if err := w.measure(); err != nil || w.total <= limit-size {
			return err
		}
	}
	runs, err := w.s.Runs()
	if err != nil {
		return err
	}
	left := usesOf(runs)
	for _, run := range runs {
		if run.ID == w.run {
			continue
		}
		for _, id := range run.Contents {
			if left[id]--; left[id] > 0 {
				continue
			}
			name := w.s.file(id)
			fi, err := w.s.Dir.Stat(name)
			if err != nil || w.used[id] {
				continue // it was removed earlier, or the present run needs it
			}
			if err := w.s.Dir.Remove(name); err != nil {
				return err
			}
			w.total -= fi.Size
		}
		if w.total+size <= limit {
			return nil
		}
	}
	return errNoRoom
}

// RemoveUnused removes the contents that no run names. A damaged run may have named any of them:
// if there is one, only contents from before a time are removed.
func (w *Writer) RemoveUnused(runs []RunContents, before time.Time) error {
	if !w.s.Dir.Has(contentsDir) {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	left := usesOf(runs)
	damaged := slices.ContainsFunc(runs, func(r RunContents) bool { return r.Damaged })
	return w.s.each(func(id, name string, size int64) error {
		if id == "" || left[id] > 0 {
			return nil
		}
		if fi, err := w.s.Dir.Stat(name); damaged && (err != nil || !fi.ModTime.Before(before)) {
			return nil
		}
		w.total -= size
		return w.s.Dir.Remove(name)
	})
}
