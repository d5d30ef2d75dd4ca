package state

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/state/backup"
)

// The protocols of the lines of a run.
const (
	startProtocol  = "io.choria.ccm.v1.session.start"
	endProtocol    = "io.choria.ccm.v1.session.end"
	changeProtocol = "io.choria.ccm.v1.session.change"
	alsoProtocol   = "io.choria.ccm.v1.session.change_also"
)

// A RunInfo describes a run when it starts.
type RunInfo struct {
	// ID names the run. IDs of later runs are greater, compared as bytes.
	ID string `json:"run_id"`
	// Kind is run, restore or undo.
	Kind string `json:"kind"`
	// Site is the absolute path of the script or manifest, followed by the arguments and options
	// that select what it declares; "" if there is none.
	Site string `json:"site,omitempty"`
	// File is the absolute path of the script or manifest alone.
	File string `json:"-"`
	// Host is the name of the machine; "" if unknown.
	Host string `json:"host,omitempty"`
	// Root is the directory used as /.
	Root    string    `json:"root"`
	Command string    `json:"command,omitempty"`
	Version string    `json:"version,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Start   time.Time `json:"start_time"`
	// Inputs are what the script read besides its own text and the facts.
	Inputs []Input `json:"inputs,omitempty"`
	// ChecksOnly is set if the run only asks health checks. Such a run is recorded only if a check
	// fails: there are many, and they would hide the runs that changed something.
	ChecksOnly bool `json:"-"`
}

// An Input is something outside of a script on which its result depends.
type Input struct {
	// Kind is file, stat, list, glob, command, http or data.
	Kind string `json:"kind"`
	// Name is the path, the pattern, the command or the URL.
	Name string `json:"name"`
	// Value is the SHA-256 of the content, or the result of the look.
	Value string `json:"value,omitempty"`
}

// A RecordWriter writes the [Record] of one run, for one goroutine. It is the journal and a
// reporter of the engine, and gets the pre-image of every change from the host. It writes nothing
// before the first change.
type RecordWriter struct {
	s             *Store
	info          RunInfo
	journal       *journal // of pending refreshes
	backups       *backup.Writer
	sensitive     *secretNamesFile
	file          lines
	catalog       *catalog.Catalog // the applied catalog; nil for none
	appliedRecord *appliedRecord

	// current is the resource of changes for which the host names no resource.
	current *resource.Resource
	// changes has the changed paths. A change is nil if only the record has it, see [RecordWriter.forget].
	changes map[string]*fileChange
	// open has the open changes by resource; changeCount counts all changes ever opened.
	open        map[resource.ID][]*fileChange
	changeCount int
	forgotten   int  // the number of forgotten changes that are not undone
	keepsAll    bool // no change is forgotten any more
	// unsynced is set if lines were written that have to be durable and are not yet.
	unsynced bool
	view     *host.View
	// results are those of the resources of catalog, at their positions; nil if all are zero.
	results   []resourceResult
	positions map[resource.ID]int // see position; nil until needed
	// lazy has the resources with lazy values, resolved the same with their values.
	lazy map[resource.ID]bool
	// removals has the resources with a recorded [Removal]: whether it was done.
	removals map[resource.ID]bool
	resolved map[resource.ID]*resource.Resource
	// catalogEnded is set once the applied catalog is recorded.
	catalogEnded bool
}

var (
	_ converge.Journal     = (*RecordWriter)(nil)
	_ event.ActionReporter = (*RecordWriter)(nil)
)

// BeginRecord starts the record of a run. The lock of the directory must be held.
func (s *Store) BeginRecord(info RunInfo) (*RecordWriter, error) {
	r := &RecordWriter{s: s, info: info, changes: make(map[string]*fileChange), open: make(map[resource.ID][]*fileChange)}
	r.backups = s.backups.Writer(info.ID)
	r.file = lines{s: s, name: runFile(info.ID)}
	var err error
	if r.journal, err = s.openJournal(info); err != nil {
		return nil, err
	}
	r.sensitive, err = s.openSensitive()
	return r, err
}

func runFile(id string) string { return filepath.Join("runs", id+".ndjson") }

// AddCatalog adds a catalog that the run is going to apply. If a run applies several in a row,
// the record has all their resources. For a resource in more than one catalog, the last
// declaration counts.
func (r *RecordWriter) AddCatalog(c *catalog.Catalog) {
	for _, res := range c.Resources {
		r.noteLazy(res)
		r.noteSecrets(res)
	}
	if r.info.ChecksOnly {
		return // such a run applies no catalog
	}
	if r.appliedRecord == nil {
		r.catalog, r.appliedRecord = c, &appliedRecord{s: r.s, site: r.info.Site, file: r.info.File, root: r.info.Root}
		return
	}
	r.catalog, r.positions = merged(r.catalog, c), nil
}

// ID returns the name of the run.
func (r *RecordWriter) ID() string { return r.info.ID }

// PendingRefreshes returns the pending refreshes of resources of a catalog and, for a run of a
// site, of resources that the site no longer declares.
func (r *RecordWriter) PendingRefreshes(site string, c *catalog.Catalog) []event.PendingRefresh {
	return PendingRefreshes(r.journal.list, site, r.info.Root, c)
}

// AddRefreshes implements converge.Journal.
func (r *RecordWriter) AddRefreshes(by resource.ID, cause event.Cause, to []resource.ID) error {
	return r.journal.add(by, cause, to)
}

// CancelRefreshes implements converge.Journal.
func (r *RecordWriter) CancelRefreshes(by resource.ID) { r.journal.cancel(by) }

// FinishRefreshes implements converge.Journal.
func (r *RecordWriter) FinishRefreshes(to resource.ID) { r.journal.finish(to) }

// DropRefresh implements converge.Journal.
func (r *RecordWriter) DropRefresh(d event.PendingRefresh) { r.journal.drop(d) }

// Cause compares a resource with the last applied catalog (converge.Engine.Cause). Without an
// applied catalog there is no cause.
func (r *RecordWriter) Cause(res *resource.Resource, desired resource.DesiredDigest, text func() string) event.Cause {
	if r.appliedRecord == nil {
		return event.NoCause
	}
	return r.appliedRecord.cause(res, desired, text)
}

type changeLine struct {
	Protocol string `json:"protocol"`
	*Change
}

// An alsoLine records one more resource for which a path was changed.
type alsoLine struct {
	Protocol string `json:"protocol"`
	Path     Name   `json:"path"`
	Resource Name   `json:"resource"`
}

type startLine struct {
	Protocol string `json:"protocol"`
	RunInfo
}

// add writes lines to the file of the run, which begins with its RunInfo.
func (r *RecordWriter) add(durable bool, objects ...any) error {
	if err := r.beginFile(); err != nil {
		return err
	}
	return r.file.add(durable, objects...)
}

// enqueue adds lines to the buffer of the run's file.
func (r *RecordWriter) enqueue(objects ...any) error {
	if err := r.beginFile(); err != nil {
		return err
	}
	return r.file.enqueue(objects...)
}

// beginFile begins the file of the run once.
func (r *RecordWriter) beginFile() error {
	if r.file.f != nil || len(r.file.buffer) > 0 {
		return nil
	}
	if err := r.s.dir.MakeDir("runs"); err != nil {
		return err
	}
	if r.appliedRecord != nil {
		r.appliedRecord.prepare(r.catalog)
	}
	return r.file.enqueue(startLine{startProtocol, r.recordedInfo()})
}

// recordedInfo returns the info as the record has it.
func (r *RecordWriter) recordedInfo() RunInfo {
	info := r.info
	info.Root = r.s.dir.RecordedRoot(info.Root)
	return info
}

// A HistoryEntry is one line of the history: a run and how it ended.
type HistoryEntry struct {
	Protocol string `json:"protocol"`
	RunInfo
	// Summary is nil if the run did not end.
	Summary *report.Summary `json:"summary,omitempty"`
	// Files is the number of paths that the run changed.
	Files int `json:"files"`
	// Removals is the number of removed things, such as packages, that undo makes again.
	Removals int `json:"removals,omitempty"`
}

// longHistory is the size of the history, in bytes, from which runs without changes also look for
// old runs to remove.
const longHistory = 1 << 20

// End ends the record of a run.
func (r *RecordWriter) End(sum event.Summary) error {
	r.SetResource(nil)
	var errs []error
	errs = append(errs, r.endCatalog(), r.endMade(r.appliedRecord != nil), r.forgetRestored())
	errs = append(errs, r.sensitive.file.close())
	e := HistoryEntry{Protocol: endProtocol, RunInfo: r.recordedInfo(), Files: r.changed(), Removals: r.removed()}
	e.Summary = new(report.SummaryOf(sum, r.info.ID))
	wrote := r.file.f != nil || len(r.file.buffer) > 0
	if wrote {
		errs = append(errs, r.file.add(true, e), r.file.close())
	}
	history := lines{s: r.s, name: historyFile}
	if wrote || !r.info.ChecksOnly {
		errs = append(errs, history.add(false, e), history.close())
	}
	errs = append(errs, r.journal.end())
	if wrote || history.size > longHistory {
		errs = append(errs, r.tidy(), r.backups.End())
	}
	return errors.Join(errs...)
}

// endCatalog records the applied catalog, once.
func (r *RecordWriter) endCatalog() error {
	if r.appliedRecord == nil || r.catalogEnded {
		return nil
	}
	r.catalogEnded = true
	return r.appliedRecord.end(r.catalog, r.info.ID, r.results, r.resolved)
}

// CountUndeclared records the applied catalog, and returns the number of resources that earlier
// runs created and that are no longer declared.
func (r *RecordWriter) CountUndeclared() (n int, err error) {
	if err := r.endCatalog(); err != nil || r.appliedRecord == nil {
		return 0, err
	}
	list, err := r.appliedRecord.undeclared()
	if len(list) == 0 || err != nil {
		return 0, err
	}
	elsewhere, err := r.appliedRecord.declaredElsewhere()
	for _, d := range list {
		if _, ok := elsewhere[string(d.ID)]; d.Made && !ok {
			n++
		}
	}
	if n == 0 {
		r.appliedRecord.forgetNotice()
	}
	return n, err
}

// changed counts the paths that differ from before the run.
func (r *RecordWriter) changed() int {
	n := r.forgotten
	for _, c := range r.changes {
		if c != nil && !c.Undone() {
			n++
		}
	}
	return n
}
