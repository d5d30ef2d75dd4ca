package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/studio/yamledit"
)

// Other returns the language that the file is not in.
func (m *Model) Other() string {
	if m.Language == YAML {
		return Lua
	}
	return YAML
}

// Manifest returns a script as a manifest: the resources that it declares outside of functions,
// loops and conditions, with their literal properties. The marks, with lines of the script, say
// what is left out. Manifests become scripts by manifest.Convert, which evaluates expressions.
func (m *Model) Manifest() (text string, left []Mark, err error) {
	if m.Language != Lua {
		return "", nil, &Refusal{Err: errors.New("it is a manifest already")}
	}
	var groups []any
	last := ""
	for i := range m.Resources {
		r := &m.Resources[i]
		if why := leftOut(r); why != "" {
			left = append(left, Mark{Line: r.Line, Resource: r.Key, Reason: why})
			last = ""
			continue
		}
		props, more := m.pairs(r)
		left = append(left, more...)
		names := r.Names
		if names == nil {
			names = []string{r.Name}
		}
		for _, name := range names {
			item := yamledit.Pairs{{Key: name, Value: props}}
			if last != r.Type {
				groups = append(groups, yamledit.Pairs{{Key: r.Type, Value: []any{item}}})
				last = r.Type
				continue
			}
			group := groups[len(groups)-1].(yamledit.Pairs)
			group[0].Value = append(group[0].Value.([]any), item)
		}
	}
	doc, err := yamledit.Parse("")
	if err != nil {
		return "", nil, err
	}
	section := yamledit.Pairs{}
	if modules := m.modules(); len(modules) > 0 {
		section = append(section, yamledit.Pair{Key: "modules", Value: modules})
	}
	if groups == nil {
		groups = []any{}
	}
	section = append(section, yamledit.Pair{Key: "resources", Value: groups})
	doc, _, err = doc.Set(yamledit.Path{"ccm"}, section)
	if err != nil {
		return "", nil, &Refusal{Err: fromYAML(err)}
	}
	return doc.Text, left, nil
}

// leftOut says why a resource of a script is not in the manifest, "" if it is.
func leftOut(r *Resource) string {
	switch {
	case r.Form == None, strings.Contains(r.Why, "condition"), strings.HasPrefix(r.Why, "its name"):
		return r.ID + " is left out: " + r.Why
	}
	return ""
}

// pairs returns the literal properties of a resource, those from defaults included.
func (m *Model) pairs(r *Resource) (yamledit.Pairs, []Mark) {
	out := yamledit.Pairs{}
	var left []Mark
	for _, p := range slices.Concat(r.Props, r.Defaults) {
		if !p.Literal {
			left = append(left, Mark{Line: p.Line, Resource: r.Key, Property: p.Name, Reason: p.Name + " of " + r.ID + " is left out: " + p.Why})
			continue
		}
		out = append(out, yamledit.Pair{Key: p.Name, Value: p.Value})
	}
	return out, left
}

// modules returns the modules that a script requires, in order of their names.
func (m *Model) modules() []any {
	var out []any
	byName := m.script.Modules()
	var names []string
	for _, name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		out = append(out, name)
	}
	return out
}

// ApplyDerived edits the file as a person edited the text in the other language: base is that
// text as it was made of the file, typed what it is now. What can be said in the file is edited
// there; what cannot is marked with the line of the typed text, and left as it is in the file. The
// error, a *Refusal, is about mistakes in the typed text.
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

// An entry is one resource of a derived text. A call that declares several is several.
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

	gone, added []entry
}

func find(list []entry, id string) *entry {
	for i := range list {
		if list[i].id == id {
			return &list[i]
		}
	}
	return nil
}

// mark says that something of the typed text is not in the file.
func (d *derivation) mark(line int, e *entry, property, format string, args ...any) {
	m := Mark{Line: line, Property: property, Reason: fmt.Sprintf(format, args...)}
	if e != nil {
		m.Resource = e.id
	}
	d.marks = append(d.marks, m)
}

// apply makes an edit of the file. It is false if it was refused, which is marked.
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
	// They are of the text before the edit, so that they are put on one after another from behind.
	for _, s := range slices.Backward(splices) {
		d.steps = append(d.steps, s)
	}
	d.m = next
	return true
}

// fileKey returns the key of the resource in the file that an entry stands for, "" if there is none.
func (d *derivation) fileKey(id string) string {
	for _, e := range entries(d.m) {
		if e.id == id {
			return e.Key
		}
	}
	return ""
}

// match finds what was added, what is gone, and what was renamed.
func (d *derivation) match() {
	for _, e := range d.now {
		if find(d.old, e.id) == nil {
			d.added = append(d.added, e)
		}
	}
	for _, e := range d.old {
		if find(d.now, e.id) == nil {
			d.gone = append(d.gone, e)
		}
	}
	for i := 0; i < len(d.gone); i++ {
		was := d.gone[i]
		k := slices.IndexFunc(d.added, func(e entry) bool { return e.Type == was.Type && d.sameNeighbour(was, e) })
		if k < 0 {
			continue
		}
		became := d.added[k]
		d.gone, d.added = slices.Delete(d.gone, i, i+1), slices.Delete(d.added, k, k+1)
		i--
		d.rename(was, became)
	}
}

// sameNeighbour reports whether a resource that is gone stood where one that was added stands.
func (d *derivation) sameNeighbour(was, became entry) bool {
	neighbour := func(list []entry, id string) string {
		i := slices.IndexFunc(list, func(e entry) bool { return e.id == id })
		if i == 0 {
			return ""
		}
		return list[i-1].id
	}
	a, b := neighbour(d.old, was.id), neighbour(d.now, became.id)
	return a == b || d.renamed(a) == b
}

// renamed returns the ID that a resource of the old text has now.
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
		d.mark(line, &became, "", "the file does not declare %s itself", was.id)
		return
	case became.Form == None || strings.HasPrefix(became.Why, "its name"):
		d.mark(line, &became, "", "%s: %s: this needs a file in %s", became.id, became.Why, title(d.source.Language))
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

// change compares the properties of the resources that are in both texts.
func (d *derivation) change() {
	for _, now := range d.now {
		if old := find(d.old, now.id); old != nil {
			d.compare(*old, now)
		}
	}
}

// compare makes the changes of one resource in the file.
func (d *derivation) compare(old, now entry) {
	for _, p := range now.Props {
		was := old.Prop(p.Name)
		if was != nil && was.Literal == p.Literal && (p.Literal && same(was.Value, p.Value) || !p.Literal && was.Text == p.Text) {
			continue
		}
		d.set(now, was, p)
	}
	for _, p := range old.Props {
		if now.Prop(p.Name) == nil {
			if key := d.fileKey(now.id); d.mine(now, &p, key, p.Name, now.Line) && d.own(key, &now, now.Line) {
				d.apply(now.Line, &now, Edit{Op: Unset, Resource: d.fileKey(now.id), Property: p.Name})
			}
		}
	}
}

// set makes the change of one property.
func (d *derivation) set(now entry, was *Prop, p Prop) {
	key := d.fileKey(now.id)
	switch {
	case now.Form == None:
		d.mark(p.Line, &now, p.Name, "%s: %s", now.id, now.Why)
	case !p.Literal:
		d.mark(p.Line, &now, p.Name, "%s is an expression: this needs a file in %s", p.Name, title(d.source.Language))
	case d.mine(now, was, key, p.Name, p.Line) && d.own(key, &now, p.Line):
		d.apply(p.Line, &now, Edit{Op: Set, Resource: d.fileKey(now.id), Property: p.Name, Value: p.Value})
	}
}

// mine reports whether the derived text showed all that the file says of a property, so that a change of it loses
// nothing. Otherwise it marks why not.
func (d *derivation) mine(now entry, was *Prop, key, property string, line int) bool {
	r := d.m.Resource(key)
	if r == nil {
		d.mark(line, &now, property, "the file does not declare %s itself", now.id)
		return false
	}
	p := r.Prop(property)
	switch {
	case p == nil:
		return true // it is new, or comes from defaults
	case was == nil:
		d.mark(line, &now, property, "the file has %s already, which the derived text does not show: %s", property, p.Text)
		return false
	case !p.Literal && was.Literal:
		d.mark(line, &now, property, "the file computes %s: %s", property, oneLine(p.Text))
		return false
	case p.Literal && was.Literal && !alike(p.Value, was.Value):
		d.mark(line, &now, property, "the file says more of %s than is shown here: %s", property, oneLine(p.Text))
		return false
	}
	return true
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "..."
	}
	return text
}

// own makes a resource of a call that declares several one of its own.
func (d *derivation) own(key string, e *entry, line int) bool {
	r := d.m.Resource(key)
	if r == nil || len(r.Names) < 2 {
		return true
	}
	// All names of the call that changed in the same way are changed one after another.
	return d.apply(line, e, Edit{Op: Split, Resource: key, Name: e.Name0()})
}

// same reports whether two values are equal.
func same(a, b any) bool { return fmt.Sprintf("%T%v", a, a) == fmt.Sprintf("%T%v", b, b) }

// alike reports whether values mean the same to a property: a number is its text, and a single
// value a list of one.
func alike(a, b any) bool {
	if list, ok := a.([]any); ok && len(list) == 1 {
		a = list[0]
	}
	if list, ok := b.([]any); ok && len(list) == 1 {
		b = list[0]
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

// removeGone removes what is gone from the file.
func (d *derivation) removeGone() {
	for _, e := range d.gone {
		key := d.fileKey(e.id)
		if key == "" {
			d.mark(0, &e, "", "%s is not declared by the file itself, and stays", e.id)
			continue
		}
		if d.own(key, &e, 0) {
			d.apply(0, &e, Edit{Op: Remove, Resources: []string{d.fileKey(e.id)}})
		}
	}
}

// addNew adds to the file what is new.
func (d *derivation) addNew() {
	for _, e := range slices.Backward(d.added) {
		if e.Form == None || strings.HasPrefix(e.Why, "its name") || strings.Contains(e.Why, "condition") {
			d.mark(e.Line, &e, "", "%s: %s: this needs a file in %s", e.id, e.Why, title(d.source.Language))
			continue
		}
		edit := Edit{Op: Add, Type: e.Type, Name: e.Name0()}
		for _, p := range slices.Concat(e.Props, e.Defaults) {
			if !p.Literal {
				d.mark(p.Line, &e, p.Name, "%s is an expression: this needs a file in %s", p.Name, title(d.source.Language))
				continue
			}
			edit.Props = append(edit.Props, p)
		}
		i := slices.IndexFunc(d.now, func(x entry) bool { return x.id == e.id })
		for _, next := range d.now[i+1:] {
			if key := d.fileKey(next.id); key != "" {
				edit.At = key
				break
			}
		}
		d.apply(e.Line, &e, edit)
	}
}

// order moves the resources in the file as they were moved in the text: those are moved that are not in
// the longest part whose order is the same.
func (d *derivation) order() {
	position := make(map[string]int)
	for i, e := range d.old {
		position[e.id] = i
	}
	var kept []entry
	for _, e := range d.now {
		if _, ok := position[e.id]; ok {
			kept = append(kept, e)
		}
	}
	stays := longestRun(kept, position)
	for i := len(kept) - 1; i >= 0; i-- {
		e := kept[i]
		if stays[e.id] {
			continue
		}
		at := ""
		if i+1 < len(kept) {
			at = d.fileKey(kept[i+1].id)
		}
		key := d.fileKey(e.id)
		if key == "" || d.m.Resource(key) != nil && len(d.m.Resource(key).Names) > 1 {
			d.mark(e.Line, &e, "", "%s cannot be moved by itself", e.id)
			continue
		}
		d.apply(e.Line, &e, Edit{Op: Move, Resources: []string{key}, At: at})
	}
}

// longestRun returns the IDs of the longest part of a list whose positions rise.
func longestRun(list []entry, position map[string]int) map[string]bool {
	out := make(map[string]bool)
	for _, e := range list {
		out[e.id] = true
	}
	if slices.IsSortedFunc(list, func(a, b entry) int { return position[a.id] - position[b.id] }) {
		return out
	}
	clear(out)
	length, before := make([]int, len(list)), make([]int, len(list))
	best := -1
	for i := range list {
		length[i], before[i] = 1, -1
		for k := range i {
			if position[list[k].id] < position[list[i].id] && length[k] >= length[i] {
				length[i], before[i] = length[k]+1, k
			}
		}
		if best < 0 || length[i] > length[best] {
			best = i
		}
	}
	for ; best >= 0; best = before[best] {
		out[list[best].id] = true
	}
	return out
}

// rest marks what else was changed: statements that declare nothing, sections, comments.
func (d *derivation) rest() {
	if d.source.Language == Lua {
		d.luaRest()
	} else {
		d.yamlRest()
	}
}

// luaRest marks statements and comments that the file cannot say.
func (d *derivation) luaRest() {
	rests := func(m *Model) (words []string, at func(i int) (line int, ids []string)) {
		calls := make(map[int]*Resource)
		for i := range m.Resources {
			calls[m.Resources[i].Call] = &m.Resources[i]
		}
		list := m.script.Rests(func(call int) bool { return calls[call] != nil })
		for _, r := range list {
			words = append(words, r.Words)
		}
		return words, func(i int) (int, []string) {
			var ids []string
			for _, c := range list[i].Calls {
				ids = append(ids, calls[c].ID)
			}
			return list[i].Line, ids
		}
	}
	old, oldAt := rests(d.before)
	now, nowAt := rests(d.source)
	for _, i := range missing(now, old) {
		line, _ := nowAt(i)
		d.mark(line, nil, "", "a manifest cannot say %q: this needs a file in Lua", oneLine(now[i]))
	}
	for _, i := range missing(old, now) {
		_, ids := oldAt(i)
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return find(d.now, id) != nil }) {
			continue // it goes with what stood in it
		}
		d.mark(0, nil, "", "%q stands for what is in the manifest, and stays", oneLine(old[i]))
	}
	var oldComments, nowComments []string
	for _, c := range d.before.script.Comments() {
		oldComments = append(oldComments, c.Text)
	}
	comments := d.source.script.Comments()
	for _, c := range comments {
		nowComments = append(nowComments, c.Text)
	}
	for _, i := range missing(nowComments, oldComments) {
		d.mark(comments[i].Line, nil, "", "comments are not taken over: write them in the manifest")
	}
}

// yamlRest marks sections and comments that the file cannot say.
func (d *derivation) yamlRest() {
	sections := func(m *Model) (words []string, lines []int) {
		root, err := m.doc.At(nil)
		if err != nil {
			return nil, nil
		}
		for _, n := range root.Children() {
			for _, c := range append([]yamledit.Node{n}, n.Children()...) {
				if n.Key() == "ccm" && (c.Key() == "ccm" || c.Key() == "resources") || n.Key() != "ccm" && c != n {
					continue
				}
				line, _ := c.Place(true)
				words, lines = append(words, c.Key()+": "+fmt.Sprint(c.Value())), append(lines, line)
			}
		}
		for i, line := range strings.Split(m.Text, "\n") {
			if text := strings.TrimSpace(line); strings.HasPrefix(text, "#") {
				words, lines = append(words, text), append(lines, i+1)
			}
		}
		return words, lines
	}
	old, _ := sections(d.before)
	now, lines := sections(d.source)
	for _, i := range missing(now, old) {
		d.mark(lines[i], nil, "", "%q is not taken over: write it in the script", oneLine(now[i]))
	}
	for _, i := range missing(old, now) {
		d.mark(0, nil, "", "%q comes from the script, and stays", oneLine(old[i]))
	}
}

// missing returns the indices of the texts that are not in others as often.
func missing(list, others []string) []int {
	count := make(map[string]int)
	for _, text := range others {
		count[text]++
	}
	var out []int
	for i, text := range list {
		if count[text]--; count[text] < 0 {
			out = append(out, i)
		}
	}
	return out
}
