package converge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host"
)

// parents is the name of the property that makes missing parent directories.
const parents = "parents"

// namedResources finds the resources of a catalog by their names.
type namedResources struct {
	catalog *catalog.Catalog
	index   map[string]int // nil until it is needed
}

// explainParent adds a hint to an error about a missing directory: where the directory is
// declared, or that it should be.
func (n *namedResources) explainParent(ev *event.Event) {
	parent, ok := errors.AsType[*host.ParentError](ev.Err)
	if !ok || !parent.Missing {
		return
	}
	if n.index == nil {
		n.index = make(map[string]int, len(n.catalog.Resources))
		for i, r := range n.catalog.Resources {
			n.index[r.ID.Name] = i
		}
	}
	hint := "declare it earlier, as a directory"
	if i, ok := n.index[parent.Dir]; ok && i > ev.Index {
		hint = fmt.Sprintf("it is declared later, at %s", n.catalog.Resources[i].Pos)
	} else if ok {
		hint = fmt.Sprintf("it is declared at %s, which did not create it", n.catalog.Resources[i].Pos)
	} else if i := slices.IndexFunc(n.catalog.Excluded, isNamed(parent.Dir)); i >= 0 {
		hint = fmt.Sprintf("it is declared at %s, which is not selected", n.catalog.Excluded[i].Pos)
	} else if ev.Resource.Type.Schema().Field(parents) != nil {
		hint += "; " + parents + " = true creates it"
	}
	ev.Err = fmt.Errorf("%w (%s)", ev.Err, hint)
}

func isNamed(name string) func(catalog.ExcludedResource) bool {
	return func(r catalog.ExcludedResource) bool { return r.ID.Name == name }
}
