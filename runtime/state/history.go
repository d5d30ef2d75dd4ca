package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/jsonreader"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

const historyFile = "history.ndjson"

// History returns all runs on record, oldest first. A run that died has no Summary.
func (s *Store) History() (list []HistoryEntry, damaged int, err error) {
	runs, damaged, err := s.listedRuns()
	if err != nil {
		return nil, damaged, err
	}
	for _, x := range runs {
		e, bad, err := s.entry(x)
		if err == nil {
			list = append(list, e)
		}
		if bad {
			damaged++
		}
	}
	return list, damaged, nil
}

// A listedRun is a run on record, before its line of the history is decoded: to decode 26,000 lines takes 0.35 s, to list
// them 0.05.
type listedRun struct {
	id   string
	line []byte // nil if the history has none
}

// listedRuns returns all runs on record, oldest first, and the number of lines that belong to none.
func (s *Store) listedRuns() (list []listedRun, damaged int, err error) {
	known := make(map[string]bool)
	damaged, err = s.readLines(historyFile, func(line []byte) error {
		id := runOf(line)
		if id == "" || known[id] {
			return diag.Not("", "a line of this file")
		}
		known[id] = true
		list = append(list, listedRun{id, line})
		return nil
	})
	if err != nil {
		return nil, damaged, err
	}
	ids, err := s.recorded()
	if err != nil {
		return nil, damaged, err
	}
	for _, id := range ids {
		if !known[id] {
			list = append(list, listedRun{id: id})
		}
	}
	slices.SortFunc(list, func(a, b listedRun) int { return strings.Compare(a.id, b.id) })
	return list, damaged, nil
}

// runOf returns the ID of the run of a line of the history, "" if it has none.
func runOf(line []byte) string {
	const begin = `{"protocol":"` + endProtocol + `","run_id":"`
	if rest, ok := bytes.CutPrefix(line, []byte(begin)); ok { // as End writes it
		if i := bytes.IndexAny(rest, `"\\`); i > 0 && rest[i] == '"' && bytes.HasSuffix(rest, []byte("}\n")) {
			return string(rest[:i])
		}
	}
	var e HistoryEntry
	if json.Unmarshal(line, &e) != nil {
		return ""
	}
	return e.ID
}

// entry returns what the history has of a run or, if its line is missing or damaged, what its record has. Damaged is set
// if something could not be read.
func (s *Store) entry(x listedRun) (e HistoryEntry, damaged bool, err error) {
	if x.line != nil && json.Unmarshal(x.line, &e) == nil && e.ID == x.id {
		e.Root = s.dir.RootOf(e.Root)
		return e, false, nil
	}
	rec, err := s.Changes(x.id)
	if err != nil {
		return HistoryEntry{}, true, err
	}
	return rec.HistoryEntry, x.line != nil, nil
}

// FindLatest returns the latest run for which chosen is true, nil if there is none.
func (s *Store) FindLatest(chosen func(run HistoryEntry) bool) (*HistoryEntry, error) {
	runs, _, err := s.listedRuns()
	for _, x := range slices.Backward(runs) {
		if e, _, err := s.entry(x); err == nil && chosen(e) {
			return &e, nil
		}
	}
	return nil, err
}

// recorded returns the IDs of runs with a record, oldest first.
func (s *Store) recorded() ([]string, error) {
	files, err := s.dir.List("runs")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".ndjson"); ok && !strings.HasPrefix(f.Name(), ".") && f.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// latestRun returns the greatest ID of a run in the state directory, "" if there is none or it cannot be read. Of the
// history it reads only the end.
func latestRun(s *Store) string {
	const end = 16 << 10
	latest := ""
	if ids, err := s.recorded(); err == nil && len(ids) > 0 {
		latest = slices.Max(ids)
	}
	f, err := s.dir.Open(historyFile, os.O_RDONLY)
	if err != nil {
		return latest
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return latest
	}
	text := make([]byte, min(fi.Size(), end))
	n, _ := f.ReadAt(text, fi.Size()-int64(len(text)))
	for line := range bytes.Lines(text[:n]) {
		var e HistoryEntry
		if json.Unmarshal(line, &e) == nil {
			latest = max(latest, e.ID)
		}
	}
	return latest
}

// A Record is the record of one run.
type Record struct {
	HistoryEntry
	// Changes are in the order in which their paths were first changed.
	Changes []Change `json:"changes,omitempty"`
	// Events are the events of resources that were not stable, as they were written
	// (report.Event).
	Events []json.RawMessage `json:"events,omitempty"`
	// Damaged is the number of lines that could not be read.
	Damaged int `json:"damaged,omitempty"`

	removals []Removal
}

// Record returns the record of a run. If the run did nothing, it has no record: the error is
// os.ErrNotExist.
func (s *Store) Record(id string) (*Record, error) { return s.record(id, true) }

// Changes returns the record of a run without its events, which are its largest part.
func (s *Store) Changes(id string) (*Record, error) { return s.record(id, false) }

func (s *Store) record(id string, events bool) (*Record, error) {
	if id == "" || id != filepath.Base(id) {
		return nil, diag.Expected("the name of a run").Got("%q", id)
	}
	if _, err := s.dir.Stat(runFile(id)); err != nil {
		return nil, err
	}
	rec := &Record{}
	read := recordReader{rec, make(map[Name]int), make(map[Name][]int), events}
	var err error
	rec.Damaged, err = s.readLines(runFile(id), read.line)
	rec.Root = s.dir.RootOf(rec.Root)
	if rec.ID = id; rec.Summary == nil {
		rec.Files, rec.Removals = 0, len(rec.removals)
		for _, c := range rec.Changes {
			if !c.Undone() {
				rec.Files++
			}
		}
	}
	return rec, err
}

// A recordReader reads the lines of a record.
type recordReader struct {
	*Record
	at map[Name]int // index of the change of each path
	// next has the indices of the changes that a resource was about to make, until a line tells
	// the result.
	next   map[Name][]int
	events bool // read events too
}

// line adds one line to the record.
func (rec recordReader) line(line []byte) error {
	var x struct { // a change, or the head of another line
		Protocol string `json:"protocol"`
		Type     string `json:"type"`
		Name     string `json:"name"`
		Changed  bool   `json:"changed"`
		Change
	}
	if err := jsonreader.Unmarshal(line, &x); err != nil {
		return err
	}
	switch x.Protocol {
	case startProtocol:
		return json.Unmarshal(line, &rec.RunInfo)
	case endProtocol:
		return json.Unmarshal(line, &rec.HistoryEntry)
	case changeProtocol:
		c := x.Change
		if c.Path == "" {
			return diag.Not("", "a path")
		}
		i, known := rec.at[c.Path]
		if !known {
			i = len(rec.Changes)
			rec.at[c.Path] = i
			rec.Changes = append(rec.Changes, c)
		}
		c.Also = rec.Changes[i].Also
		rec.Changes[i] = c
		if c.Next != nil {
			rec.next[c.Resource] = append(rec.next[c.Resource], i)
		}
		return nil
	}
	if x.Protocol == alsoProtocol {
		var also alsoLine
		err := json.Unmarshal(line, &also)
		if i, known := rec.at[also.Path]; known {
			rec.Changes[i].Also = append(rec.Changes[i].Also, also.Resource)
		}
		return err
	}
	if x.Protocol == removalProtocol {
		var removal Removal
		err := json.Unmarshal(line, &removal)
		rec.removals = append(rec.removals, removal)
		return err
	}
	if x.Changed {
		for i := range rec.removals {
			r := &rec.removals[i]
			r.done = r.done || r.Resource.InEvent() == resource.ID{Type: x.Type, Name: x.Name}.String()
		}
		id := Name(resource.ID{Type: x.Type, Name: x.Name}.String())
		for _, i := range rec.next[id] {
			if c := &rec.Changes[i]; c.After == nil && c.Resource == id {
				c.Next, c.After = nil, c.Next
			}
		}
		delete(rec.next, id)
	}
	if rec.events {
		rec.Events = append(rec.Events, json.RawMessage(slices.Clone(line)))
	}
	return nil
}

// Find returns the run that name means: an ID, the beginning of exactly one ID, or last for the latest run.
func (s *Store) Find(name string) (HistoryEntry, error) {
	runs, _, err := s.listedRuns()
	if err != nil {
		return HistoryEntry{}, err
	}
	var found []HistoryEntry
	for _, x := range slices.Backward(runs) {
		if name != "last" && (name == "" || !strings.HasPrefix(x.id, name)) {
			continue
		}
		e, _, err := s.entry(x)
		if err != nil {
			continue // a damaged line
		}
		if name == "last" || x.id == name {
			return e, nil
		}
		found = append(found, e)
	}
	switch {
	case len(runs) == 0 || name == "last":
		return HistoryEntry{}, diag.None("run is recorded in %s", s.dir.Root)
	case len(found) == 0:
		return HistoryEntry{}, diag.None("run %q (ccm history lists them)", name)
	case len(found) > 1:
		var ids []string
		for _, e := range slices.Backward(found) {
			ids = append(ids, e.ID)
		}
		return HistoryEntry{}, diag.OfKind(strconv.Quote(name), "a prefix of %d runs: %s", len(found), strings.Join(ids, ", "))
	}
	return found[0], nil
}

// contents returns the IDs of the backups of a run.
func (rec *Record) contents() []string {
	ids := make(map[string]bool)
	for _, c := range rec.Changes {
		if c.Before.Object != "" {
			ids[c.Before.Object] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// A LaterChange is what later runs did to a path.
type LaterChange struct {
	// Replaced is the version whose content the first later run replaced or removed; nil if none did.
	Replaced *Version
	// Left is the version that the last later run left, nil if it is not known.
	Left *Version
}

// LaterChanges has, by path, what later runs did.
type LaterChanges map[Name]LaterChange

// LaterChanges returns the LaterChanges after a run.
func (s *Store) LaterChanges(run string) (LaterChanges, error) {
	runs, err := s.recorded()
	if err != nil {
		return nil, err
	}
	found := make(LaterChanges)
	for _, later := range runs {
		if later <= run {
			continue
		}
		rec, err := s.Changes(later)
		if err != nil {
			return nil, err
		}
		for _, c := range rec.Changes {
			x := found[c.Path]
			if x.Left = c.After; x.Replaced == nil && c.Content {
				x.Replaced = &c.Before
			}
			found[c.Path] = x
		}
	}
	return found, nil
}

// After returns the content that a run left at a path, and whether it is known. It is known only
// if nothing but later runs, whose changes are given, changed the path since. Only files have
// content.
func (s *Store) After(v *host.View, later LaterChanges, c Change) (text []byte, known bool, err error) {
	if c.After == nil || c.After.Kind != safepath.Regular {
		return nil, c.After != nil, nil
	}
	if was := later[c.Path].Replaced; was != nil {
		if !was.sameContent(*c.After) || was.Object == "" {
			return nil, false, nil
		}
		text, err = s.Content(was.Object)
		return text, err == nil, err
	}
	now, err := versionAt(v, string(c.Path))
	if err != nil || !now.sameContent(*c.After) || now.Size > resource.TextLimit {
		return nil, false, err
	}
	text, err = v.ReadFile(string(c.Path))
	return text, err == nil, err
}
