package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/luaccm/ccm/studio/yamledit"
)

// rest marks other changes: statements without declarations, sections, comments.
func (d *derivation) rest() {
	if d.source.Language == Lua {
		d.luaRest()
	} else {
		d.yamlRest()
	}
}

// luaRest marks changed statements and comments of the script, for which the manifest has no place.
func (d *derivation) luaRest() {
	rests := func(m *Model) (words []string, at func(i int) (line int, ids []string)) {
		calls := make(map[int]*Resource)
		for i := range m.Resources {
			calls[m.Resources[i].Call] = &m.Resources[i]
		}
		list := m.script.Remainders(func(call int) bool { return calls[call] != nil })
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
		d.mark(line, nil, "", "a manifest cannot express %q: requires a file in Lua", oneLine(now[i]))
	}
	for _, i := range missing(old, now) {
		_, ids := oldAt(i)
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return find(d.now, id) != nil }) {
			continue // removed with the resources in it
		}
		d.mark(0, nil, "", "%q represents parts of the manifest and is kept", oneLine(old[i]))
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
		d.mark(comments[i].Line, nil, "", "comments are not copied: write them in the manifest")
	}
}

// yamlRest marks changed sections and comments of the manifest, for which the script has no place.
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
		d.mark(lines[i], nil, "", "%q is not copied: write it in the script", oneLine(now[i]))
	}
	for _, i := range missing(old, now) {
		d.mark(0, nil, "", "%q comes from the script and is kept", oneLine(old[i]))
	}
}

// missing returns the indices of the texts that occur less often in others.
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
