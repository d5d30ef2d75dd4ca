package yamledit

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/luaccm/ccm/runtime/textedit/splice"
	"github.com/luaccm/ccm/runtime/textedit/yamltext"
)

// Item returns the source lines of an item of a list, with the comments directly above it, without indentation. An
// item in flow style becomes one line of a block list.
func (d *Doc) Item(list Path, i int) (string, error) {
	steps, err := d.list(list)
	if err != nil {
		return "", err
	}
	n := steps[len(steps)-1].Node
	if i < 0 || i >= len(n.Content) {
		return "", noPath(append(slices.Clip(list), i))
	}
	if yamltext.InFlow(steps) {
		s := d.Span(n.Content[i])
		text := "- " + d.Text[s.Start:s.End] + "\n"
		if strings.Count(text, "\n") > 1 {
			return "", ErrShape
		}
		return text, nil
	}
	from, to, ok := d.nodes.Lines(n, i, 1)
	if !ok {
		return "", ErrShape
	}
	text := strings.ReplaceAll(d.Text[from:to], "\r\n", "\n")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return outdented(text, d.nodes.Column(d.Span(n).Value)), nil
}

// outdented removes up to by spaces from the start of each line.
func outdented(text string, by int) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = line[min(blanks, by):]
	}
	return strings.Join(lines, "")
}

// InsertText inserts the items of a text in the form of Item before item i of a list. Comments are kept, unless the
// list is in flow style.
func (d *Doc) InsertText(list Path, i int, text string) (*Doc, Splice, error) {
	steps, err := d.list(list)
	if err != nil {
		return nil, Splice{}, err
	}
	root, err := yamltext.Parse(text)
	if err != nil {
		return nil, Splice{}, mistake(err)
	}
	n := steps[len(steps)-1].Node
	if root == nil || root.Content[0].Kind != yaml.SequenceNode || root.Content[0].Style&yaml.FlowStyle != 0 || len(root.Content[0].Content) == 0 {
		return nil, Splice{}, ErrShape
	}
	if i < 0 || i > len(n.Content) {
		return nil, Splice{}, noPath(append(slices.Clip(list), i))
	}
	items := root.Content[0]
	w := d.expectation()
	want := w.at(list)
	becomes(want, yaml.SequenceNode, "!!seq")
	want.Content = slices.Insert(want.Content, i, items.Content...)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	switch {
	case len(n.Content) == 0:
		return d.prove(w, d.nodes.ReplaceByLines(steps, text))
	case yamltext.InFlow(steps):
		if len(items.Content) > 1 {
			return nil, Splice{}, ErrShape
		}
		return d.prove(w, d.nodes.Add(steps, i, deepCopy(items)))
	}
	return d.prove(w, d.nodes.AddLines(n, i, text))
}

// Split splits a group in two. A group is a map with one key whose value is a list; it is an item of a list of
// groups. list is the path to the list in the group. The items from i on become a new group behind it, which begins
// with copies of the items with the indices in copies.
func (d *Doc) Split(list Path, i int, copies []int) (*Doc, Splice, error) {
	steps, err := d.list(list)
	if err != nil {
		return nil, Splice{}, err
	}
	if len(steps) < 3 || yamltext.InFlow(steps) {
		return nil, Splice{}, ErrShape
	}
	items, group, groups := steps[len(steps)-1].Node, steps[len(steps)-2].Node, steps[len(steps)-3].Node
	at, isItem := list[len(list)-2].(int)
	if !isItem || len(group.Content) != 2 || i <= 0 || i >= len(items.Content) || items.Anchor != "" || group.Anchor != "" {
		return nil, Splice{}, ErrShape
	}
	text, begin, err := d.header(list, groups, group, copies)
	if err != nil {
		return nil, Splice{}, err
	}
	w := d.expectation()
	want := w.at(list[:len(list)-2])
	first, second := w.copied(group), deepCopy(group)
	head := w.copied(items)
	tail := &yaml.Node{Kind: yaml.SequenceNode, Tag: items.Tag}
	for _, c := range copies {
		tail.Content = append(tail.Content, deepCopy(items.Content[c]))
	}
	tail.Content = append(tail.Content, items.Content[i:]...)
	head.Content = head.Content[:i]
	first.Content[1], second.Content[1] = head, tail
	want.Content = slices.Replace(want.Content, at, at+1, first, second)
	from, _, ok := d.nodes.Lines(items, i, 1)
	if !ok || from < begin {
		return nil, Splice{}, ErrShape
	}
	return d.prove(w, Splice{From: from, To: from, Text: text})
}

// header returns the first lines of the new group: its dash and key, and the copied items. begin is the earliest
// offset of the old group's first item.
func (d *Doc) header(list Path, groups, group *yaml.Node, copies []int) (text string, begin int, err error) {
	key := d.Span(group.Content[0])
	column := d.nodes.Column(d.Span(groups).Value)
	text = strings.Repeat(" ", column) + "-" + strings.Repeat(" ", max(d.nodes.Column(key.Start)-column-1, 1)) + d.Text[key.Start:key.End] + ":\n"
	items := group.Content[1]
	indent := strings.Repeat(" ", d.nodes.Column(d.Span(items).Value))
	for _, c := range copies {
		item, err := d.Item(list, c)
		if err != nil {
			return "", 0, err
		}
		for line := range strings.Lines(item) {
			if strings.TrimSpace(line) != "" {
				line = indent + line
			}
			text += line
		}
	}
	return text, splice.LineEnd(d.Text, key.End), nil
}
