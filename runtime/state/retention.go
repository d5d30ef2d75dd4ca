package state

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/state/backup"
)

// runs returns the backups of each run on record, oldest first.
func (s *Store) runs() (list []backup.RunContents, err error) {
	ids, err := s.recorded()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		rec, err := s.Changes(id)
		if err != nil {
			return nil, err
		}
		// A truncated record looks like the record of a run that died.
		damaged := rec.Damaged > 0 || rec.Start.IsZero() || rec.Summary == nil
		list = append(list, backup.RunContents{ID: id, Start: rec.Start, Contents: rec.contents(), Damaged: damaged})
	}
	return list, nil
}

// tidiedFile has the time of the last tidy as its modification time.
const tidiedFile = "tidied"

// tidy removes, once a day, runs older than the limit, their backups, and temporary files of dead
// runs.
func (r *RecordWriter) tidy() error {
	s, now := r.s, r.s.clock.Now()
	fi, err := s.dir.Stat(tidiedFile)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r.tidied(now) // the directory is new
	case err == nil && now.Sub(fi.ModTime) < 24*time.Hour && !now.Before(fi.ModTime):
		return nil
	case err == nil && now.Sub(fi.ModTime) > max(s.age, DefaultLimits.Age):
		return r.tidied(now) // rather the clock jumped than that nothing ran for so long: wait another day
	}
	if err := r.removeOld(now.Add(-s.age)); err != nil {
		return err
	}
	return r.tidied(now)
}

// tidied sets the time of the last tidy.
func (r *RecordWriter) tidied(now time.Time) error {
	s := r.s
	if err := s.dir.Replace(tidiedFile, false, func(io.Writer) error { return nil }); err != nil {
		return err
	}
	return s.dir.Do("utimes", s.dir.Path(tidiedFile), func() error { return s.dir.Touch(tidiedFile, now) })
}

// removeOld removes the runs that began before a time, and all backups that no run needs.
func (r *RecordWriter) removeOld(before time.Time) error {
	s := r.s
	runs, err := s.runs()
	if err != nil {
		return err
	}
	for i, run := range runs {
		if run.ID == r.info.ID || run.Start.IsZero() || !run.Start.Before(before) {
			continue
		}
		runs[i].Contents = nil
		if err := s.dir.Remove(runFile(run.ID)); err != nil {
			return err
		}
	}
	if err := errors.Join(s.dir.RemoveTemporary("."), r.backups.RemoveUnused(runs, before)); err != nil {
		return err
	}
	return s.shortenHistory(before)
}

// shortenHistory removes the lines of runs that began before a time. Unreadable lines stay.
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
		var e HistoryEntry
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
