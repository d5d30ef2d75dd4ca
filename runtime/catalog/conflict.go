package catalog

import (
	"fmt"
	"path"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

// Conflicts reports each resource that edits a file whose whole content another resource sets:
// every run would take the edit away and make it again. Such a catalog can be converged all the
// same.
func (b *Builder) Conflicts() (conflicts diag.List) {
	edits := make(map[string][]*resource.Resource)
	for _, r := range b.list {
		if e, ok := r.Spec.(resource.FileEditor); ok && r.Skip == "" {
			if file := e.EditedFile(); file != "" {
				edits[path.Clean(file)] = append(edits[path.Clean(file)], r)
			}
		}
	}
	if len(edits) == 0 {
		return nil
	}
	for _, r := range b.list {
		written := resource.TraitsOf(r.Spec).WrittenFile
		if written == "" || r.Skip != "" {
			continue
		}
		for _, edit := range edits[path.Clean(written)] {
			e := &diag.Error{Pos: edit.Pos, Subject: edit.ID.String(), Notes: edit.Calls}
			e.Err = fmt.Errorf("edits %s, whose whole content is managed by %s at %s: every run would change it twice", written, r.ID, r.Pos)
			conflicts.Add(e.WithHint("add it to that content, or set content_once = true on %s to use the content only for a new file", r.ID))
		}
	}
	return conflicts
}

// contradictions reports each resource that edits a part of a file of which an earlier resource of its type wants
// something else.
func (b *Builder) contradictions() (mistakes diag.List) {
	type place struct{ typ, file, part string }
	var first map[place]*resource.Resource
	for _, r := range b.list {
		e, ok := r.Spec.(resource.FileEditor)
		if !ok || r.Skip != "" || len(r.LazyProperties) > 0 {
			continue
		}
		part, wanted := e.EditedPart()
		if part == "" {
			continue
		}
		file := e.EditedFile()
		if first == nil {
			first = make(map[place]*resource.Resource)
		}
		at := place{r.ID.Type, path.Clean(file), part}
		other := first[at]
		if other == nil {
			first[at] = r
			continue
		}
		if _, otherWanted := other.Spec.(resource.FileEditor).EditedPart(); otherWanted != wanted {
			e := r.Errorf(nil, "conflicts with %s at %s over the same part of %s: every run would change it twice", other.ID, other.Pos, file)
			e.Pos = r.Pos
			mistakes.Add(e.WithHint("remove one of them"))
		}
	}
	return mistakes
}
