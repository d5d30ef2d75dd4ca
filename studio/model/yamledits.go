package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/template"
	"github.com/luaccm/ccm/studio/yamledit"
)

// A yamlEditor edits a manifest step by step.
type yamlEditor struct {
	reader
	doc   *yamledit.Doc
	res   []Resource
	steps []Splice
}

func (y *yamlEditor) model() *Model     { return y.modelOf(y.doc, y.res) }
func (y *yamlEditor) splices() []Splice { return y.steps }

// step takes the answer of an edit of the document.
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

// fromYAML returns an error of package yamledit as one of this package.
func fromYAML(err error) error {
	return asOurs(err, map[error]error{yamledit.ErrShape: ErrShape, yamledit.ErrShared: ErrShared, yamledit.ErrPath: ErrPath})
}

// asOurs returns an error of another package as one of this package, with the same words behind it.
// Ours has the error of this package for each of the other.
func asOurs(err error, ours map[error]error) error {
	for from, to := range ours {
		if errors.Is(err, from) {
			return fmt.Errorf("%w%s", to, strings.TrimPrefix(err.Error(), from.Error()))
		}
	}
	return err
}

func (y *yamlEditor) apply(e Edit) error {
	switch e.Op {
	case Set, Unset, Insert, Order:
		return y.value(e)
	case Rename:
		return y.rename(e)
	case Add:
		return y.add(e)
	case Remove:
		return y.each(e.Resources, y.remove)
	case Copy:
		return y.each(e.Resources, y.copy)
	case Move:
		return y.move(e)
	case Paste:
		return y.paste(e)
	case Split:
		return y.split(e)
	}
	return fmt.Errorf("there is no edit %q", e.Op)
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

// path returns the place that an edit is about.
func (y *yamlEditor) path(e Edit) (yamledit.Path, error) {
	var path yamledit.Path
	if e.Resource != "" {
		i, err := indexOf(y.res, e.Resource)
		if err != nil {
			return nil, err
		}
		path = yamledit.Path(y.res[i].Path)
		if e.Property == "" && len(e.Path) == 0 {
			return nil, fmt.Errorf("%w: want a property", ErrPath)
		}
	}
	if e.Property != "" {
		path = below(path, e.Property)
	}
	return below(path, e.Path...), nil
}

// notThere says why a property cannot be taken away.
func (y *yamlEditor) notThere(e Edit, err error) error {
	i, found := indexOf(y.res, e.Resource)
	if found == nil && slices.ContainsFunc(y.res[i].Defaults, func(p Prop) bool { return p.Name == e.Property }) {
		return &Refusal{Err: fmt.Errorf("%w: %s comes from the defaults of the group", ErrPath, e.Property), Line: y.res[i].Line,
			Hint: "set it to another value here, or change the defaults"}
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

// each makes an edit of several resources by their keys. They are looked for one after another, in
// the order of the text from behind: an edit does not change the keys of those before it.
func (y *yamlEditor) each(keys []string, do func(i int) error) error {
	var indices []int
	for _, key := range keys {
		i, err := indexOf(y.res, key)
		if err != nil {
			return err
		}
		indices = append(indices, i)
	}
	slices.Sort(indices)
	for _, i := range slices.Backward(slices.Compact(indices)) {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// mates counts the resources in the group of one.
func (y *yamlEditor) mates(i int) int {
	n := 0
	for _, r := range y.res {
		if r.Group == y.res[i].Group {
			n++
		}
	}
	return n
}

// remove takes away a resource, and its group if it was the last in it.
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
		return errors.New("want a type and a name")
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
	at, err := y.index(e.At)
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

// index returns the index of the resource with a key, and that behind the last without one.
func (y *yamlEditor) index(key string) (int, error) {
	if key == "" {
		return len(y.res), nil
	}
	return indexOf(y.res, key)
}

// listFor returns where in the list of an existing group a resource of a type comes before
// resource at. Defaults are those that it needs, nil if any will do.
func (y *yamlEditor) listFor(at int, typ string, defaults *string) (list yamledit.Path, i int, ok bool) {
	fits := func(res *Resource) (yamledit.Path, int, bool) {
		list, item, ok := listOf(res)
		if !ok || res.Type != typ {
			return nil, 0, false
		}
		if defaults != nil {
			if _, text := defaultsOf(y.doc, list); text != *defaults {
				return nil, 0, false
			}
		}
		return list, item, true
	}
	if at < len(y.res) {
		if list, item, ok := fits(&y.res[at]); ok {
			return list, item, true
		}
	}
	if at > 0 && (at == len(y.res) || y.res[at].Group != y.res[at-1].Group) && y.res[at-1].Group == y.lastGroup(at) {
		if list, item, ok := fits(&y.res[at-1]); ok {
			return list, item + 1, true
		}
	}
	return nil, 0, false
}

// lastGroup returns the group right before the one of resource at, or the last one behind the end.
func (y *yamlEditor) lastGroup(at int) int {
	if at < len(y.res) {
		return y.res[at].Group - 1
	}
	n, err := y.doc.At(resourcesPath)
	if err != nil {
		return -1
	}
	return len(n.Children()) - 1
}

// newGroup makes a group before resource at. If that is in the middle of its group, this is
// split first.
func (y *yamlEditor) newGroup(at int, put func(g int) error) error {
	if at == len(y.res) {
		return put(y.lastGroup(at) + 1)
	}
	res := y.res[at]
	if at == 0 || y.res[at-1].Group != res.Group {
		return put(res.Group)
	}
	if err := y.splitAt(at); err != nil {
		return err
	}
	return put(res.Group + 1)
}

// splitAt makes a new group of a resource and those behind it in its group.
func (y *yamlEditor) splitAt(i int) error {
	list, item, ok := listOf(&y.res[i])
	if !ok {
		return ErrShape
	}
	defaults, _ := defaultsOf(y.doc, list)
	return y.step(y.doc.Split(list, item, defaults))
}

// move moves resources before another one.
func (y *yamlEditor) move(e Edit) error {
	at, err := y.index(e.At)
	if err != nil {
		return err
	}
	var moved []int
	for _, key := range e.Resources {
		i, err := indexOf(y.res, key)
		if err != nil {
			return err
		}
		moved = append(moved, i)
	}
	slices.Sort(moved)
	// Those that come from behind are moved in their order, each before at, which goes on by one;
	// those from before are moved the last one first.
	later := slices.DeleteFunc(slices.Clone(moved), func(i int) bool { return i < at })
	earlier := slices.DeleteFunc(slices.Clone(moved), func(i int) bool { return i >= at })
	for n, i := range slices.Backward(earlier) {
		if err := y.moveOne(i, at-(len(earlier)-1-n)); err != nil {
			return err
		}
	}
	for _, i := range later {
		if err := y.moveOne(i, at); err != nil {
			return err
		}
		at++
	}
	return nil
}

// moveOne moves resource i before resource at.
func (y *yamlEditor) moveOne(i, at int) error {
	if at == i || at == i+1 {
		return nil
	}
	res := y.res[i]
	list, item, inList := listOf(&res)
	if inList && at < len(y.res) && y.res[at].Group == res.Group {
		_, to, _ := listOf(&y.res[at])
		return y.step(y.doc.Move(list, item, to-b2i(to > item)))
	}
	if inList && at > 0 && at == i+y.behind(i)+1 { // to the end of its own group
		_, to, _ := listOf(&y.res[at-1])
		return y.step(y.doc.Move(list, item, to))
	}
	if !inList || y.mates(i) == 1 {
		return y.moveGroup(i, at)
	}
	return y.moveOut(i, at)
}

// behind counts the resources behind one in its group.
func (y *yamlEditor) behind(i int) int {
	n := 0
	for _, r := range y.res[i+1:] {
		if r.Group == y.res[i].Group {
			n++
		}
	}
	return n
}

// moveGroup moves the group of a resource that is alone in it.
func (y *yamlEditor) moveGroup(i, at int) error {
	return y.newGroup(at, func(to int) error {
		from := y.res[i].Group // a group before it may have been split
		return y.step(y.doc.Move(resourcesPath, from, to-b2i(to > from)))
	})
}

// moveOut moves a resource out of its group: into another one of the same type and defaults, or
// into a new one.
func (y *yamlEditor) moveOut(i, at int) error {
	res := y.res[i]
	list, item, _ := listOf(&res)
	indices, defaults := defaultsOf(y.doc, list)
	text, err := y.doc.Item(list, item)
	if err != nil {
		return fromYAML(err)
	}
	head := ""
	for _, d := range indices {
		more, err := y.doc.Item(list, d)
		if err != nil {
			return fromYAML(err)
		}
		head += more
	}
	if err := y.step(y.doc.Remove(below(list, item))); err != nil {
		return err
	}
	at -= b2i(at > i)
	if to, n, ok := y.listFor(at, res.Type, &defaults); ok {
		return y.step(y.doc.InsertText(to, n, text))
	}
	group := "- " + keyText(res.Type) + ":\n" + indent(head+text, 4)
	return y.newGroup(at, func(g int) error { return y.step(y.doc.InsertText(resourcesPath, g, group)) })
}

// paste puts groups of a text before a resource.
func (y *yamlEditor) paste(e Edit) error {
	at, err := y.index(e.At)
	if err != nil {
		return err
	}
	text, err := y.groups(e.Text)
	if err != nil {
		return err
	}
	return y.newGroup(at, func(g int) error {
		if _, err := y.doc.At(resourcesPath); err != nil {
			if err := y.step(y.doc.Set(resourcesPath, nil)); err != nil {
				return err
			}
		}
		return y.step(y.doc.InsertText(resourcesPath, g, text))
	})
}

// groups returns a text that declares resources as a list of groups: it is one, a group, or a
// whole manifest.
func (y *yamlEditor) groups(text string) (string, error) {
	doc, err := yamledit.Parse(text)
	if err != nil {
		return "", fmt.Errorf("the text to paste: %w", err)
	}
	root, err := doc.At(nil)
	switch {
	case err != nil:
		return "", fromYAML(err)
	case root.Kind() == yamledit.List:
		return text, nil
	case root.Kind() != yamledit.Map:
		return "", errors.New("want resources to paste, such as - file: [...]")
	}
	if _, ok := root.Child("ccm"); !ok {
		return "- " + strings.TrimLeft(indent(text, 2), " "), nil
	}
	list, err := doc.At(resourcesPath)
	if err != nil {
		return "", errors.New("the text to paste declares no resources")
	}
	var out strings.Builder
	for i := range list.Children() {
		item, err := doc.Item(resourcesPath, i)
		if err != nil {
			return "", fromYAML(err)
		}
		out.WriteString(item)
	}
	return out.String(), nil
}

// split takes a resource out of its group, or puts a copy of what an alias stands for in its place.
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
		return fmt.Errorf("%w: %s is no alias", ErrPath, e.Property)
	}
	if y.mates(i) == 1 {
		return fmt.Errorf("%w: it is alone in its group", ErrPath)
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

// Source returns resources as a text to paste, in the language of the file.
func (m *Model) Source(keys ...string) (string, error) {
	if m.Language == Lua {
		return m.luaSource(keys)
	}
	var out strings.Builder
	for _, key := range keys {
		i, err := indexOf(m.Resources, key)
		if err != nil {
			return "", &Refusal{Err: err}
		}
		text, err := groupText(m.doc, &m.Resources[i])
		if err != nil {
			return "", &Refusal{Err: fromYAML(err), Line: m.Resources[i].Line}
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// groupText returns a resource as a group of its own, with the defaults of its group.
func groupText(doc *yamledit.Doc, res *Resource) (string, error) {
	list, item, ok := listOf(res)
	if !ok {
		return doc.Item(resourcesPath, res.Group)
	}
	indices, _ := defaultsOf(doc, list)
	text := "- " + keyText(res.Type) + ":\n"
	for _, i := range append(indices, item) {
		part, err := doc.Item(list, i)
		if err != nil {
			return "", err
		}
		text += indent(part, 4)
	}
	return text, nil
}

// keyText returns a type as the key of a group.
func keyText(typ string) string {
	if typ == "" || strings.ContainsAny(typ, " :#{}[],&*!|>'\"%@`-") || template.HasExpression(typ) {
		return "'" + strings.ReplaceAll(typ, "'", "''") + "'"
	}
	return typ
}

// indent puts blanks before all lines that are not empty.
func indent(text string, by int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			out.WriteString(strings.Repeat(" ", by))
		}
		out.WriteString(line)
	}
	return out.String()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
