package model

import (
	"fmt"
	"slices"
	"strings"
)

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
		d.mark(p.Line, &now, p.Name, "%s: %s", now.id, now.Reason)
	case !p.Literal:
		d.mark(p.Line, &now, p.Name, "%s is an expression: requires a file in %s", p.Name, title(d.source.Language))
	case d.mine(now, was, key, p.Name, p.Line) && d.own(key, &now, p.Line):
		d.apply(p.Line, &now, Edit{Op: Set, Resource: d.fileKey(now.id), Property: p.Name, Value: p.Value})
	}
}

// mine reports whether the derived text shows all of a property in the file, so that a change loses
// nothing. Otherwise it marks the reason.
func (d *derivation) mine(now entry, was *Prop, key, property string, line int) bool {
	r := d.m.Resource(key)
	if r == nil {
		d.mark(line, &now, property, "%s is not declared by the file itself", now.id)
		return false
	}
	p := r.Prop(property)
	switch {
	case p == nil:
		return true // it is new, or comes from defaults
	case was == nil:
		d.mark(line, &now, property, "the file already has %s, which the derived text does not show: %s", property, p.Text)
		return false
	case !p.Literal && was.Literal:
		d.mark(line, &now, property, "the file computes %s: %s", property, oneLine(p.Text))
		return false
	case p.Literal && was.Literal && !equal(p.Value, was.Value):
		d.mark(line, &now, property, "the file has more properties of %s than shown here: %s", property, oneLine(p.Text))
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

// own splits a resource from a call that declares several.
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

// equal reports whether values mean the same to a property: a number is its text, and a single
// value a list of one.
func equal(a, b any) bool {
	if list, ok := a.([]any); ok && len(list) == 1 {
		a = list[0]
	}
	if list, ok := b.([]any); ok && len(list) == 1 {
		b = list[0]
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

// removeGone removes resources from the file that the typed text lacks.
func (d *derivation) removeGone() {
	for _, e := range d.removals {
		key := d.fileKey(e.id)
		if key == "" {
			d.mark(0, &e, "", "%s is not declared by the file itself and is kept", e.id)
			continue
		}
		if d.own(key, &e, 0) {
			d.apply(0, &e, Edit{Op: Remove, Resources: []string{d.fileKey(e.id)}})
		}
	}
}

// addNew adds new resources to the file.
func (d *derivation) addNew() {
	for _, e := range slices.Backward(d.additions) {
		if e.Form == None || e.isNameComputed() || strings.Contains(e.Reason, "condition") {
			d.mark(e.Line, &e, "", "%s: %s: requires a file in %s", e.id, e.Reason, title(d.source.Language))
			continue
		}
		edit := Edit{Op: Add, Type: e.Type, Name: e.Name0()}
		for _, p := range slices.Concat(e.Props, e.Defaults) {
			if !p.Literal {
				d.mark(p.Line, &e, p.Name, "%s is an expression: requires a file in %s", p.Name, title(d.source.Language))
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
