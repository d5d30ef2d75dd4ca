package model

import (
	"slices"

	"github.com/luaccm/ccm/runtime/diag"
)

// An editor is a text of one language under edit. Each step changes it and keeps the splice.
// Resources are given by their index in the list.
type editor interface {
	// list returns what the text declares now.
	list() []Resource
	// value makes an edit of a property, or of what is in it: Set, Unset, Insert, Order.
	value(e Edit) error
	rename(e Edit) error
	add(e Edit) error
	paste(e Edit) error
	split(e Edit) error
	remove(i int) error
	// copy puts a copy of a resource behind it, with a new name.
	copy(i int) error
	// moveOne moves resource i before resource at.
	moveOne(i, at int) error
	// model returns the text with what it declares.
	model() *Model
	// splices returns the splices of the steps, each with offsets of the text before it.
	splices() []Splice
}

// apply makes an edit.
func apply(ed editor, e Edit) error {
	switch e.Op {
	case Set, Unset, Insert, Order:
		return ed.value(e)
	case Rename:
		return ed.rename(e)
	case Add:
		return ed.add(e)
	case Remove:
		return each(ed, e.Resources, ed.remove)
	case Copy:
		return each(ed, e.Resources, ed.copy)
	case Move:
		return move(ed, e)
	case Paste:
		return ed.paste(e)
	case Split:
		return ed.split(e)
	}
	return diag.Unknown("edit", string(e.Op), nil)
}

// indices returns the indices of resources by their keys, in the order of the text.
func indices(list []Resource, keys []string) ([]int, error) {
	var out []int
	for _, key := range keys {
		i, err := indexOf(list, key)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out, nil
}

// before returns the index of the resource with a key; for "" the index after the last one.
func before(list []Resource, key string) (int, error) {
	if key == "" {
		return len(list), nil
	}
	return indexOf(list, key)
}

// each makes an edit of several resources by their keys, from the last to the first, so that an
// edit does not change the indices of the next ones.
func each(ed editor, keys []string, do func(i int) error) error {
	found, err := indices(ed.list(), keys)
	if err != nil {
		return err
	}
	for _, i := range slices.Backward(slices.Compact(found)) {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// move moves resources before another one, in the order of the text.
func move(ed editor, e Edit) error {
	at, err := before(ed.list(), e.At)
	if err != nil {
		return err
	}
	moved, err := indices(ed.list(), e.Resources)
	if err != nil {
		return err
	}
	// Resources from behind at are moved in their order, each before at, which then increases;
	// resources from before at are moved last one first.
	earlier := slices.DeleteFunc(slices.Clone(moved), func(i int) bool { return i >= at })
	for n, i := range slices.Backward(earlier) {
		if err := ed.moveOne(i, at-(len(earlier)-1-n)); err != nil {
			return err
		}
	}
	for _, i := range moved[len(earlier):] {
		if err := ed.moveOne(i, at); err != nil {
			return err
		}
		at++
	}
	return nil
}
