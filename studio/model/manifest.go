package model

import (
	"errors"
	"slices"
	"strings"

	"github.com/luaccm/ccm/studio/yamledit"
)

// Other returns the other language, in which the file is not.
func (m *Model) Other() string {
	if m.Language == YAML {
		return Lua
	}
	return YAML
}

// Manifest returns a script as a manifest: the resources that it declares outside of functions,
// loops and conditions, with their literal properties. The marks, with lines of the script, name
// what was left out. The other direction is manifest.Convert, which evaluates expressions.
func (m *Model) Manifest() (text string, left []Mark, err error) {
	if m.Language != Lua {
		return "", nil, &Refusal{Err: errors.New("already a manifest")}
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

// leftOut returns why a resource of a script is not in the manifest, "" if it is.
func leftOut(r *Resource) string {
	switch {
	case r.Form == None, strings.Contains(r.Reason, "condition"), r.isNameComputed():
		return r.ID + " is omitted: " + r.Reason
	}
	return ""
}

// pairs returns the literal properties of a resource, including those from defaults.
func (m *Model) pairs(r *Resource) (yamledit.Pairs, []Mark) {
	out := yamledit.Pairs{}
	var left []Mark
	for _, p := range slices.Concat(r.Props, r.Defaults) {
		if !p.Literal {
			left = append(left, Mark{Line: p.Line, Resource: r.Key, Property: p.Name, Reason: p.Name + " of " + r.ID + " is omitted: " + p.Reason})
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
