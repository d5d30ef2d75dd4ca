package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// BeforeAction implements event.ActionReporter: it writes the buffered lines.
func (r *RecordWriter) BeforeAction(*resource.Resource, int, int) { r.warnOf(r.file.flush()) }

// SetResource sets the resource for later changes without [host.PreImage.For]; nil for none.
func (r *RecordWriter) SetResource(res *resource.Resource) {
	r.recordOutcome(r.closeChanges(slices.Collect(maps.Keys(r.open))...), nil)
	r.current = res
	r.noteSecrets(res)
}

// Event implements event.Reporter.
func (r *RecordWriter) Event(e *event.Event) {
	r.setResult(e)
	// The zero ID has the changes for which the host named no resource.
	changes := r.closeChanges(resource.ID{}, e.Resource.ID)
	r.recordOutcome(changes, e)
	r.recordAlso(changes, e)
	if r.appliedRecord != nil {
		r.appliedRecord.noteParents(changes, e)
	}
	if editedFile(e) == "" { // of several edits of a file, each event needs its change
		r.forget(changes)
	}
	r.warnOf(r.file.flushMany())
}

// isNotable reports whether an event is recorded. An event that says only that nothing changed is
// not.
func (r *RecordWriter) isNotable(e *event.Event) bool {
	if r.info.ChecksOnly {
		return e.Outcome == event.Failed
	}
	return (e.Outcome != event.Stable || len(e.Health) > 0) && (e.Outcome != event.Skipped || len(e.Unmet) > 0)
}

// appendOutcome appends lines to b: the versions after changes, and the event, if it is notable.
// The event may be nil.
func (r *RecordWriter) appendOutcome(b []byte, changes []*fileChange, e *event.Event) ([]byte, error) {
	var errs []error
	for _, c := range changes {
		if line, ok := r.closeChange(c, e); ok {
			var err error
			b, err = appendLine(b, line)
			errs = append(errs, err)
		}
	}
	if e != nil && r.isNotable(e) {
		b = append(report.EventWithoutText(e, r.info.ID).AppendJSON(b), '\n') // the text is in the backup
	}
	return b, errors.Join(errs...)
}

// recordOutcome enqueues lines about things that have happened. They are written with the next
// lines, or before the next action. An error is only a warning: it undoes nothing.
func (r *RecordWriter) recordOutcome(changes []*fileChange, e *event.Event) {
	if len(changes) == 0 && (e == nil || !r.isNotable(e)) {
		return
	}
	err := r.beginFile()
	if err == nil {
		r.file.buffer, err = r.appendOutcome(r.file.buffer, changes, e)
	}
	r.warnOf(err)
}

// recordAlso records that paths of other resources were also changed for the event's resource:
// the paths of changes and, if several edits were one write, the edited file.
func (r *RecordWriter) recordAlso(changes []*fileChange, e *event.Event) {
	if e.Outcome != event.Changed {
		return
	}
	c, err := r.changeOf(editedFile(e))
	if r.warnOf(err); c != nil {
		changes = append(changes, c)
	}
	id := Name(e.Resource.ID.String())
	for _, c := range changes {
		if c.Resource != "" && c.Resource != id && !slices.Contains(c.Also, id) {
			c.Also = append(c.Also, id)
			r.warnOf(r.enqueue(alsoLine{alsoProtocol, c.Path, id}))
		}
	}
}

// editedFile returns the file that the event's resource edits, "" for none.
func editedFile(e *event.Event) string {
	if x, ok := e.Resource.Spec.(resource.FileEditor); ok {
		return x.EditedFile()
	}
	return ""
}

func (r *RecordWriter) warnOf(err error) {
	if err != nil {
		r.s.dir.Warn(fmt.Sprintf("%s: %v", r.s.dir.Path(r.file.name), err))
	}
}
