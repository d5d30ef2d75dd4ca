package converge

import (
	"errors"
	"fmt"

	"github.com/luaccm/ccm/runtime/host"
)

// explainParent adds to the error of a missing directory where it is declared, or that it
// should be.
func (w *walk) explainParent(ev *Event) {
	parent, ok := errors.AsType[*host.ParentError](ev.Err)
	if !ok || !parent.Missing {
		return
	}
	if w.byName == nil {
		w.byName = make(map[string]int, len(w.catalog.Resources))
		for i, r := range w.catalog.Resources {
			w.byName[r.ID.Name] = i
		}
	}
	hint := "declare it before this, as a directory"
	if i, ok := w.byName[parent.Dir]; ok && i > ev.Index {
		hint = fmt.Sprintf("it is declared further down at %s", w.catalog.Resources[i].Pos)
	} else if ok {
		hint = fmt.Sprintf("it is declared at %s, which did not bring it", w.catalog.Resources[i].Pos)
	}
	ev.Err = fmt.Errorf("%w (%s)", ev.Err, hint)
}
