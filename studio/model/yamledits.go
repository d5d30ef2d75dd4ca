package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/studio/yamledit"
)

// A yamlEditor edits a manifest step by step.
type yamlEditor struct {
	reader
	doc   *yamledit.Doc
	res   []Resource
	steps []Splice
}

func (y *yamlEditor) list() []Resource  { return y.res }
func (y *yamlEditor) model() *Model     { return y.modelOf(y.doc, y.res) }
func (y *yamlEditor) splices() []Splice { return y.steps }

// step takes over the result of an edit of the document.
func (y *yamlEditor) step(doc *yamledit.Doc, s Splice, err error) error {
	if err != nil {
		return fromYAML(err)
	}
	y.doc = doc
	y.steps = append(y.steps, s)
	l := yamlLister{reader: y.reader, doc: doc}
	y.res = l.list()
	return nil
}

// fromYAML converts an error of package yamledit to one of this package.
func fromYAML(err error) error {
	return asOurs(err, map[error]error{yamledit.ErrShape: ErrShape, yamledit.ErrShared: ErrShared, yamledit.ErrPath: ErrPath})
}

// asOurs converts an error of another package to one of this package, followed by the same words.
// ours maps the other package's errors to this one's.
func asOurs(err error, ours map[error]error) error {
	for from, to := range ours {
		if errors.Is(err, from) {
			return fmt.Errorf("%w%s", to, strings.TrimPrefix(err.Error(), from.Error()))
		}
	}
	return err
}

// value makes an edit of a value by its path.
func (y *yamlEditor) value(e Edit) error {
	path, err := y.path(e)
	if err != nil {
		return err
	}
	switch e.Op {
	case Unset:
		if _, err := y.doc.At(path); err != nil && e.Resource != "" {
			return y.notThere(e, err)
		}
		return y.step(y.doc.Remove(path))
	case Insert:
		return y.step(y.doc.Insert(path, e.Index, e.Value))
	case Order:
		return y.step(y.doc.Move(path, e.Index, e.To))
	}
	if e.Expression != "" {
		return y.step(y.doc.Set(path, e.Expression))
	}
	return y.step(y.doc.Set(path, e.Value))
}

// path returns the path of an edit.
func (y *yamlEditor) path(e Edit) (yamledit.Path, error) {
	var path yamledit.Path
	if e.Resource != "" {
		i, err := indexOf(y.res, e.Resource)
		if err != nil {
			return nil, err
		}
		path = yamledit.Path(y.res[i].Path)
		if e.Property == "" && len(e.Path) == 0 {
			return nil, fmt.Errorf("%w: %w", ErrPath, diag.Expected("a property"))
		}
	}
	if e.Property != "" {
		path = below(path, e.Property)
	}
	return below(path, e.Path...), nil
}

// notThere returns the error that a property cannot be removed.
func (y *yamlEditor) notThere(e Edit, err error) error {
	i, found := indexOf(y.res, e.Resource)
	if found == nil && slices.ContainsFunc(y.res[i].Defaults, func(p Prop) bool { return p.Name == e.Property }) {
		return &Refusal{Err: fmt.Errorf("%w: %s comes from the defaults of the group", ErrPath, e.Property), Line: y.res[i].Line,
			Hint: "set another value here, or change the defaults"}
	}
	return fromYAML(err)
}

// rename changes the name of a resource, or a key.
func (y *yamlEditor) rename(e Edit) error {
	if e.Resource == "" {
		return y.step(y.doc.Rename(e.Path, e.Name))
	}
	i, err := indexOf(y.res, e.Resource)
	if err != nil {
		return err
	}
	if res := y.res[i]; len(e.Path) == 0 {
		return y.renameTo(res, e.Name)
	}
	path, err := y.path(e)
	if err != nil {
		return err
	}
	return y.step(y.doc.Rename(path, e.Name))
}

func (y *yamlEditor) renameTo(res Resource, name string) error {
	switch {
	case len(res.Path) == 6:
		return y.step(y.doc.Rename(res.Path, name))
	case res.nameProperty != "":
		return y.step(y.doc.Set(below(res.Path, res.nameProperty), name))
	}
	return ErrShape
}

// remove removes a resource, and its group if the resource was the last in it.
func (y *yamlEditor) remove(i int) error {
	res := &y.res[i]
	if list, item, ok := listOf(res); ok && y.mates(i) > 1 {
		return y.step(y.doc.Remove(below(list, item)))
	}
	return y.step(y.doc.Remove(below(resourcesPath, res.Group)))
}

// copy puts a copy of a resource behind it, with a new name.
func (y *yamlEditor) copy(i int) error {
	res := y.res[i]
	list, item, ok := listOf(&res)
	if !ok {
		list, item = resourcesPath, res.Group
	}
	text, err := y.doc.Item(list, item)
	if err != nil {
		return fromYAML(err)
	}
	name := newName(y.res, res.Type, res.Name)
	if err := y.step(y.doc.InsertText(list, item+1, text)); err != nil {
		return err
	}
	return y.renameTo(y.res[i+1], name)
}

// add makes a new resource.
func (y *yamlEditor) add(e Edit) error {
	if e.Type == "" || e.Name == "" {
		return diag.Expected("a type and a name")
	}
	var own yamledit.Pairs
	for _, p := range e.Props {
		if p.Literal || p.Text == "" {
			own = append(own, yamledit.Pair{Key: p.Name, Value: p.Value})
		} else {
			own = append(own, yamledit.Pair{Key: p.Name, Value: p.Text})
		}
	}
	if own == nil {
		own = yamledit.Pairs{}
	}
	item := yamledit.Pairs{{Key: e.Name, Value: own}}
	at, err := before(y.res, e.At)
	if err != nil {
		return err
	}
	if list, i, ok := y.listFor(at, e.Type, nil); ok {
		return y.step(y.doc.Insert(list, i, item))
	}
	group := yamledit.Pairs{{Key: e.Type, Value: []any{item}}}
	return y.newGroup(at, func(g int) error {
		if _, err := y.doc.At(resourcesPath); err != nil {
			return y.step(y.doc.Set(resourcesPath, []any{group}))
		}
		return y.step(y.doc.Insert(resourcesPath, g, group))
	})
}

// split takes a resource out of its group, or replaces an alias by a copy of its target.
func (y *yamlEditor) split(e Edit) error {
	i, err := indexOf(y.res, e.Resource)
	if err != nil {
		return err
	}
	res := y.res[i]
	path := yamledit.Path(res.Path)
	if e.Property != "" {
		path = below(path, e.Property)
	}
	if n, err := y.doc.At(path); err == nil && n.Kind() == yamledit.Alias {
		return y.step(y.doc.Unalias(path))
	}
	if e.Property != "" {
		return fmt.Errorf("%w: %w", ErrPath, diag.Not(e.Property, "an alias"))
	}
	if y.mates(i) == 1 {
		return fmt.Errorf("%w: the only resource in its group", ErrPath)
	}
	if y.behind(i) > 0 {
		if err := y.splitAt(i + 1); err != nil {
			return err
		}
	}
	if y.mates(i) == 1 {
		return nil
	}
	return y.splitAt(i)
}
