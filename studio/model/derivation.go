package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// ApplyDerived repeats a person's edits of the derived text in the file: base is the text derived
// from the file, typed the text after the edits. Changes without a counterpart in the file are
// marked with their lines in typed, and leave the file alone. The error, a *Refusal, is about
// mistakes in typed.
func (m *Model) ApplyDerived(base, typed string) (*Model, []Splice, []Mark, error) {
	r := reader{file: "the derived text", types: m.reader.types}
	old, err := r.read(m.Other(), base)
	if err != nil {
		return nil, nil, nil, err
	}
	now, err := r.read(m.Other(), typed)
	if err != nil {
		return nil, nil, nil, err
	}
	d := &derivation{m: m, old: entries(old), now: entries(now), source: now, before: old}
	d.rest()
	d.match()
	d.change()
	d.removeGone()
	d.addNew()
	d.order()
	return d.m, splice.Join(m.Text, d.steps), d.marks, nil
}

// An entry is one resource of a derived text. A call that declares several resources has an entry
// for each.
type entry struct {
	*Resource
	id string // with ~2 and so on behind it, as in a key
}

func entries(m *Model) []entry {
	var out []entry
	seen := make(map[string]int)
	for i := range m.Resources {
		r := &m.Resources[i]
		names := r.Names
		if names == nil {
			names = []string{r.Name}
		}
		for _, name := range names {
			id := r.Type + "#" + name
			if seen[id]++; seen[id] > 1 {
				id = fmt.Sprintf("%s~%d", id, seen[id])
			}
			out = append(out, entry{r, id})
		}
	}
	return out
}

// A derivation turns the difference of two derived texts into edits of the file.
type derivation struct {
	m      *Model
	before *Model
	source *Model // the typed text
	old    []entry
	now    []entry
	steps  []Splice
	marks  []Mark

	removals, additions []entry
}

func find(list []entry, id string) *entry {
	for i := range list {
		if list[i].id == id {
			return &list[i]
		}
	}
	return nil
}

// mark records that a part of the typed text is not in the file.
func (d *derivation) mark(line int, e *entry, property, format string, args ...any) {
	m := Mark{Line: line, Property: property, Reason: fmt.Sprintf(format, args...)}
	if e != nil {
		m.Resource = e.id
	}
	d.marks = append(d.marks, m)
}

// apply makes an edit of the file. If the edit is refused it is marked, and the result is false.
func (d *derivation) apply(line int, e *entry, edit Edit) bool {
	next, splices, err := d.m.Apply(edit)
	if err != nil {
		reason := err.Error()
		if r, ok := errors.AsType[*Refusal](err); ok && r.Hint != "" {
			reason += ": " + r.Hint
		}
		d.mark(line, e, edit.Property, "%s", reason)
		return false
	}
	// Offsets are those of the text before the edit, so the splices are applied from the last to
	// the first.
	for _, s := range slices.Backward(splices) {
		d.steps = append(d.steps, s)
	}
	d.m = next
	return true
}

// fileKey returns the key of an entry's resource in the file, "" if there is none.
func (d *derivation) fileKey(id string) string {
	for _, e := range entries(d.m) {
		if e.id == id {
			return e.Key
		}
	}
	return ""
}

// match finds added, removed and renamed resources.
func (d *derivation) match() {
	for _, e := range d.now {
		if find(d.old, e.id) == nil {
			d.additions = append(d.additions, e)
		}
	}
	for _, e := range d.old {
		if find(d.now, e.id) == nil {
			d.removals = append(d.removals, e)
		}
	}
	for i := 0; i < len(d.removals); i++ {
		was := d.removals[i]
		k := slices.IndexFunc(d.additions, func(e entry) bool { return e.Type == was.Type && d.sameNeighbour(was, e) })
		if k < 0 {
			continue
		}
		became := d.additions[k]
		d.removals, d.additions = slices.Delete(d.removals, i, i+1), slices.Delete(d.additions, k, k+1)
		i--
		d.rename(was, became)
	}
}

// sameNeighbour reports whether a removed resource had the place of an added one.
func (d *derivation) sameNeighbour(was, became entry) bool {
	neighbor := func(list []entry, id string) string {
		i := slices.IndexFunc(list, func(e entry) bool { return e.id == id })
		if i == 0 {
			return ""
		}
		return list[i-1].id
	}
	a, b := neighbor(d.old, was.id), neighbor(d.now, became.id)
	return a == b || d.renamed(a) == b
}

// renamed returns the present ID of a resource of the old text.
func (d *derivation) renamed(id string) string {
	if find(d.old, id) != nil && find(d.now, id) == nil {
		return "" // it is gone as well
	}
	return id
}

// rename makes a rename in the file, and compares the properties.
func (d *derivation) rename(was, became entry) {
	line := became.Line
	key := d.fileKey(was.id)
	switch {
	case key == "":
		d.mark(line, &became, "", "%s is not declared by the file itself", was.id)
		return
	case became.Form == None || became.isNameComputed():
		d.mark(line, &became, "", "%s: %s: requires a file in %s", became.id, became.Reason, title(d.source.Language))
		return
	}
	if r := d.m.Resource(key); len(r.Names) > 1 {
		if !d.apply(line, &became, Edit{Op: Split, Resource: key, Name: was.Name0()}) {
			return
		}
		key = d.fileKey(was.id)
	}
	if !d.apply(line, &became, Edit{Op: Rename, Resource: key, Name: became.Name0()}) {
		return
	}
	d.compare(was, became)
}

// Name0 returns the name of an entry.
func (e entry) Name0() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(e.id, e.Type+"#"), "~")
	for _, n := range e.Names {
		if strings.HasPrefix(strings.TrimPrefix(e.id, e.Type+"#"), n) && len(n) > len(name) {
			name = n
		}
	}
	if e.Names == nil {
		return e.Name
	}
	return name
}

func title(language string) string {
	if language == Lua {
		return "Lua"
	}
	return "YAML"
}
