package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/runtime/resource"
)

// Begin implements converge.Reporter: what was told so far is written. Hosts say
// on whose behalf they change something.
func (r *Run) Begin(*resource.Resource, int, int) { r.warnOf(r.file.flush()) }

// Concerns says that what hosts do from now on, which do not say on whose behalf,
// is done for a resource.
func (r *Run) Concerns(res *resource.Resource) {
	r.tell(r.finished(slices.Collect(maps.Keys(r.touched))...), nil)
	r.current = res
	r.holdsSecrets(res)
}

// Event implements converge.Reporter.
func (r *Run) Event(e *converge.Event) {
	r.note(e)
	r.tell(r.finished(resource.ID{}, e.Resource.ID), e)
	r.warnOf(r.file.flushMany())
}

// tellsMore reports whether an event tells more than that all is as it was.
func tellsMore(e *converge.Event) bool {
	return (e.Outcome != converge.Stable || len(e.Health) > 0) && (e.Outcome != converge.Skipped || len(e.Unmet) > 0)
}

// appendTold appends the lines about what has happened to b: what became of paths, and
// an event that is not nil, if it tells more than that all is as it was.
func (r *Run) appendTold(b []byte, finished []*tracked, e *converge.Event) ([]byte, error) {
	var errs []error
	for _, c := range finished {
		if line, ok := r.finish(c, e); ok {
			var err error
			b, err = appendLine(b, line)
			errs = append(errs, err)
		}
	}
	if e != nil && tellsMore(e) {
		b = append(report.EventWithoutText(e, r.info.ID).AppendJSON(b), '\n') // what the file was is in the store
	}
	return b, errors.Join(errs...)
}

// tell adds lines about what has happened already, which are written with the
// next ones, or before anything else happens. That they cannot be written undoes
// nothing.
func (r *Run) tell(finished []*tracked, e *converge.Event) {
	if len(finished) == 0 && (e == nil || !tellsMore(e)) {
		return
	}
	err := r.begin()
	if err == nil {
		r.file.waiting, err = r.appendTold(r.file.waiting, finished, e)
	}
	r.warnOf(err)
}

func (r *Run) warnOf(err error) {
	if err != nil {
		r.s.warn(fmt.Sprintf("%s: %v", r.s.path(r.file.name), err))
	}
}
