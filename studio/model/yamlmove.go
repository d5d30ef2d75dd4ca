package model

import "github.com/luaccm/ccm/studio/yamledit"

// mates returns the number of resources in the group of resource i.
func (y *yamlEditor) mates(i int) int {
	n := 0
	for _, r := range y.res {
		if r.Group == y.res[i].Group {
			n++
		}
	}
	return n
}

// listFor returns the list and the index for a new resource of a type before resource at, if an
// existing group fits. defaults are the required defaults of the group, nil for any.
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

// lastGroup returns the group right before that of resource at, or the last group if at is the
// number of resources.
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

// newGroup makes a group before resource at. If that resource is not the first in its group, the
// group is split first.
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

// splitAt makes a new group of a resource and all behind it in its group.
func (y *yamlEditor) splitAt(i int) error {
	list, item, ok := listOf(&y.res[i])
	if !ok {
		return ErrShape
	}
	defaults, _ := defaultsOf(y.doc, list)
	return y.step(y.doc.Split(list, item, defaults))
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

// behind returns the number of resources behind resource i in its group.
func (y *yamlEditor) behind(i int) int {
	n := 0
	for _, r := range y.res[i+1:] {
		if r.Group == y.res[i].Group {
			n++
		}
	}
	return n
}

// moveGroup moves the group of a resource that is the only one in it.
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

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
